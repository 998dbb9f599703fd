"""Telling a process from a later one that got the same number."""

import contextlib
import os
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class ProcessId:
    """A process by its number and the moment when it began."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> "ProcessId":
        """The process that has this number now."""
        return cls(pid, _started(pid) or "")

    def alive(self) -> bool:
        """Whether this very process still runs; a zombie does not."""
        return bool(self.started) and _started(self.pid) == self.started

    def send(self, number: signal.Signals, *, group: bool = False) -> None:
        """Signal the process, or all of the group that it leads, if it is still the same.

        Raises:
            PermissionError: it belongs to somebody else.
        """
        if self.alive():
            with contextlib.suppress(ProcessLookupError):
                (os.killpg if group else os.kill)(self.pid, number)


def _started(pid: int) -> str | None:
    """When a process began, in ticks since this boot; None when there is no such process."""
    if not _BOOT_ID.exists():
        return _started_by_ps(pid)
    try:
        # The name stands in parentheses and may hold spaces and parentheses itself.
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else f"{_BOOT_ID.read_text().strip()}:{fields[19]}"


def _started_by_ps(pid: int) -> str | None:
    found = subprocess.run(  # noqa: S603
        ["ps", "-o", "lstart=", "-p", str(pid)],  # noqa: S607
        capture_output=True,
        text=True,
        check=False,
    )
    return found.stdout.strip() or None
