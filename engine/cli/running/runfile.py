"""`up.json`: which supervisor runs, with which parts. Its lock says whether one runs at all."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from engine.cli.errors import CommandError
from engine.cli.running.identity import ProcessId
from engine.storage.embedded.directories import create_state_dir

_TRIES, _PAUSE = 5, 0.05
"""Asking whether the lock is held takes a shared lock for an instant; that must not look like a supervisor."""

State = Literal["starting", "running", "stopped"]


@dataclass(frozen=True)
class PartRecord:
    """A child of the supervisor."""

    name: str
    process: ProcessId
    address: str


@dataclass(frozen=True)
class RunRecord:
    """What the supervisor says of itself; `reason` tells why it ended when nobody asked it to."""

    process: ProcessId
    state: State = "starting"
    parts: list[PartRecord] = field(default_factory=list)
    reason: str = ""


class RunFile:
    """The file, locked for as long as its descriptor is open here or in a process that inherited it."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    @classmethod
    def acquire(cls, path: Path) -> "RunFile | None":
        """Lock the file; None when a supervisor holds it.

        Raises:
            CommandError: the state directory cannot be used.
        """
        try:
            create_state_dir(path.parent)
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise CommandError(
                f"{path} cannot be used: {error.strerror}. Mend its rights, or choose another ANAMNESIS_STATE_DIR."
            ) from None
        for _ in range(_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_PAUSE)
            else:
                return cls(descriptor)
        os.close(descriptor)
        return None

    def write(self, record: RunRecord) -> None:
        """Say what is the case; the lock stays."""
        content = json.dumps(asdict(record)).encode()
        os.ftruncate(self.descriptor, 0)
        os.pwrite(self.descriptor, content, 0)
        os.fsync(self.descriptor)

    def release(self) -> None:
        """Close the descriptor; the lock stays where another process inherited it."""
        os.close(self.descriptor)


def read_record(path: Path) -> RunRecord | None:
    """The last word of the last supervisor; None before the first, or in the instant of a write."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        parts = [PartRecord(part["name"], ProcessId(**part["process"]), part["address"]) for part in content["parts"]]
        return RunRecord(ProcessId(**content["process"]), content["state"], parts, content["reason"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def held(path: Path) -> bool:
    """Whether a supervisor runs."""
    with _shared(path) as descriptor:
        if descriptor is None:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def runs_here(path: Path, address: str) -> bool:
    """Whether a part that a supervisor of this state directory started is alive and was given that address."""
    record = read_record(path)
    return record is not None and any(part.address == address and part.process.alive() for part in record.parts)


@contextlib.contextmanager
def _shared(path: Path) -> Iterator[int | None]:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)
