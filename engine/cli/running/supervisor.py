"""One parent for API and console: starts both, waits until both answer, ends both."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from types import FrameType

from engine.cli.errors import CommandError
from engine.cli.running.identity import ProcessId
from engine.cli.running.parts import Part
from engine.cli.running.runfile import PartRecord, RunFile, RunRecord, State

START_SECONDS = 180.0
END_SECONDS = 25.0
POLL = 0.1
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """Holds the run file's lock for as long as it lives; signals are flags, so that no child slips away."""

    def __init__(self, parts: list[Part], run_file: RunFile) -> None:
        self._parts = parts
        self._run_file = run_file
        self._records: list[PartRecord] = []
        self._asked = 0

    def run(self, announce: Callable[[], None]) -> None:
        """Start the parts, announce them, and watch until a signal or the first end of a part.

        Raises:
            CommandError: a part ended by itself, or did not answer in time.
        """
        for number in SIGNALS:
            signal.signal(number, self._on_signal)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)
        reason = ""
        try:
            self._start()
            if not self._asked:
                self._write("running")
                announce()
            self._watch()
        except CommandError as error:
            reason = str(error)
            raise
        finally:
            self._end()
            self._write("stopped", reason)

    def _on_signal(self, _: int, __: FrameType | None) -> None:
        self._asked += 1

    def _start(self) -> None:
        self._write("starting")
        for part in self._parts:
            if self._asked:
                return
            self._records.append(PartRecord(part.name, part.start(), part.address))
            self._write("starting")
        deadline = time.monotonic() + START_SECONDS
        waiting = list(self._parts)
        while waiting and not self._asked:
            self._fail_if_one_ended()
            waiting = [part for part in waiting if not part.answers()]
            if waiting and time.monotonic() > deadline:
                raise CommandError(
                    f"The {waiting[0].name} did not answer within {START_SECONDS:.0f} s. Its log: {waiting[0].log}"
                )
            time.sleep(POLL)

    def _watch(self) -> None:
        while not self._asked:
            self._fail_if_one_ended()
            time.sleep(POLL)

    def _fail_if_one_ended(self) -> None:
        for part in self._parts:
            if line := part.ended():
                raise CommandError(line)

    def _end(self) -> None:
        """Politely, then by force: after a while, or at once when asked a second time."""
        asked = self._asked
        for part in self._parts:
            part.end(signal.SIGTERM)
        deadline = time.monotonic() + END_SECONDS
        while any(part.process and part.process.poll() is None for part in self._parts):
            if time.monotonic() > deadline or self._asked > asked:
                for part in self._parts:
                    part.end(signal.SIGKILL)
            time.sleep(POLL)

    def _write(self, state: State, reason: str = "") -> None:
        with suppress(OSError):  # a full disk must not keep the parts from being ended
            self._run_file.write(RunRecord(ProcessId.of(os.getpid()), state, self._records, reason))


def end_leftovers(record: RunRecord | None) -> list[str]:
    """End parts whose supervisor was killed; the names of those that there were.

    Raises:
        CommandError: one does not end, or belongs to somebody else.
    """
    left = [part for part in (record.parts if record else []) if part.process.alive()]
    for number in (signal.SIGTERM, signal.SIGKILL):
        for part in left:
            try:
                part.process.send(number, group=True)
            except PermissionError:
                raise CommandError(
                    f"The {part.name} (process {part.process.pid}) belongs to another user. End it as that user."
                ) from None
        deadline = time.monotonic() + END_SECONDS
        while any(part.process.alive() for part in left) and time.monotonic() < deadline:
            time.sleep(POLL)
    if stubborn := [part for part in left if part.process.alive()]:
        raise CommandError(f"The {stubborn[0].name} (process {stubborn[0].process.pid}) does not end.")
    return [part.name for part in left]
