"""Which processes of a server live, and who may touch its directory.

A process id proves nothing: after a crash it may belong to anybody. The truth is a lock (flock) on the data
directory that the server inherits at its start and its backends inherit from it: the kernel drops it with
the last of them, even after kill -9, and it holds across containers that share the directory. Process ids
are looked up only to send a signal, and only of processes that carry this cluster's name.
"""

import contextlib
import fcntl
import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.storage.embedded.errors import EmbeddedPostgresError

_PROC = Path("/proc")


def poll(seconds: float) -> Iterator[None]:
    """Rounds of waiting for something outside this process, until the time is up."""
    end = time.monotonic() + seconds
    while True:
        yield
        if time.monotonic() > end:
            return
        time.sleep(0.03)


def try_lock(directory: Path) -> int | None:
    """Lock a directory and return the descriptor that holds the lock; None when somebody else holds it."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def exclusive(directory: Path, seconds: float) -> Iterator[int]:
    """Hold the lock of a directory; waits for others. Yields the descriptor.

    Raises: EmbeddedPostgresError when the lock stays taken.
    """
    descriptor = None
    for _ in poll(seconds):
        if (descriptor := try_lock(directory)) is not None:
            break
    if descriptor is None:
        raise EmbeddedPostgresError(
            f"another process has been starting or stopping the server in {directory} "
            f"for {seconds:.0f} s; end that process and try again"
        )
    try:
        yield descriptor
        # Said aloud, for a thread may have forked meanwhile, and the copy in that child would hold the lock.
        # After an error closing has to do: an initdb that is still ending shares the lock on purpose.
        fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


@dataclass(frozen=True)
class ServerProcesses:
    """The processes of the server over one data directory."""

    pgdata: Path

    @property
    def cluster_name(self) -> str:
        """A name of the directory itself: it stays when the directory is moved and differs in a copy.

        The server gets it as cluster_name; PostgreSQL shows it in the titles of all its processes.
        """
        found = self.pgdata.stat()
        return f"anamnesis-{found.st_dev:x}-{found.st_ino:x}"

    def find(self) -> tuple[int | None, list[int]]:
        """The postmaster, if it lives, and all processes of the server, orphans of a killed one included."""
        name = self.cluster_name.encode()
        found = {pid: line for pid, line in _postgres_processes() if name in line}
        # A child shows the postmaster's own command line for a moment after the fork.
        candidates = {pid for pid, line in found.items() if b"cluster_name=" + name in line}
        roots = [pid for pid in candidates if _parent(pid) not in candidates]
        return (roots[0] if roots else None), list(found)

    def send(self, number: signal.Signals, pids: list[int]) -> None:
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def wait_until_gone(self, seconds: float) -> bool:
        """Whether the last process of the server ended in time."""
        for _ in poll(seconds):
            if (descriptor := try_lock(self.pgdata)) is not None:
                os.close(descriptor)
                return True
        return False

    def stopping(self) -> bool:
        """Whether a shutdown is under way; one by SIGTERM waits for every session to end."""
        with contextlib.suppress(OSError):
            return "stopping" in (self.pgdata / "postmaster.pid").read_text()
        return False

    def foreign(self) -> int | None:
        """A server that somebody started by hand over this directory (it does not hold our lock)."""
        with contextlib.suppress(OSError, ValueError, IndexError):
            pid = int((self.pgdata / "postmaster.pid").read_text().splitlines()[0])
            if (_PROC / str(pid) / "cwd").samefile(self.pgdata):
                return pid
        return None


def _postgres_processes() -> Iterator[tuple[int, bytes]]:
    for entry in _PROC.iterdir():
        # A process may end at any moment between the two reads.
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and (entry / "comm").read_bytes() == b"postgres\n":
                yield int(entry.name), (entry / "cmdline").read_bytes()


def _parent(pid: int) -> int | None:
    with contextlib.suppress(OSError):
        # The name in parentheses may contain anything; the fields after the last one are plain.
        return int((_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    return None
