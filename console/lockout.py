"""Counts failed sign-ins by name, known or not, inside a time window."""

import threading
import time
from collections.abc import Callable

TRIES = 5
WINDOW = 300.0
"""Seconds."""


class Lockout:
    """A name is locked while it has used up its tries inside the window."""

    def __init__(self, tries: int = TRIES, window: float = WINDOW, clock: Callable[[], float] = time.monotonic) -> None:
        self._tries = tries
        self._window = window
        self._clock = clock
        self._used: dict[str, list[float]] = {}
        self._guard = threading.Lock()

    def take(self, name: str) -> float:
        """Use up one try; gives 0, or the seconds to wait when there is none left.

        The try is counted before the password is looked at, so that many guesses at once do not slip through.
        """
        with self._guard:
            now = self._clock()
            self._forget(now)
            used = self._used.setdefault(name, [])
            if len(used) >= self._tries:
                return self._window - (now - used[0])
            used.append(now)
            return 0.0

    def clear(self, name: str) -> None:
        """Forget a name's failures: its owner has signed in."""
        with self._guard:
            self._used.pop(name, None)

    def _forget(self, now: float) -> None:
        """Drop what lies outside the window; names that keep nothing go too."""
        fresh = {name: [at for at in used if now - at < self._window] for name, used in self._used.items()}
        self._used = {name: used for name, used in fresh.items() if used}
