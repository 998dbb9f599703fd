"""Wait for something to become true, with a deadline and no fixed sleeps in tests."""

import signal
import threading
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
_never = threading.Event()


def eventually(probe: Callable[[], T], *, seconds: float = 30.0, what: str = "the condition") -> T:
    """Ask again and again until the probe gives something true, and hand that on."""
    deadline = time.monotonic() + seconds
    while not (found := probe()):
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come true within {seconds:.0f} s")
        _never.wait(0.05)
    return found


def hear_ctrl_c() -> None:
    """For a child before it starts: tests in the background of a shell ignore Ctrl-C, and would hand that on."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
