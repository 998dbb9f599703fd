"""The life cycle of the embedded server: start, stop, probe."""

import contextlib
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

from engine.storage.embedded.account import ServerAccount, server_account
from engine.storage.embedded.binaries import programs
from engine.storage.embedded.directories import (
    SOCKET_FILE,
    closed_to,
    create_state_dir,
    ensure_private,
    socket_dir_for,
)
from engine.storage.embedded.errors import EmbeddedPostgresError, explained
from engine.storage.embedded.initdb import initialise, remove_leftover
from engine.storage.embedded.launch import ServerLog, launch
from engine.storage.embedded.probe import Status, create_database, probe
from engine.storage.embedded.processes import ServerProcesses, exclusive, poll, try_lock
from engine.storage.embedded.record import (
    ADMIN,
    ConnectionUrls,
    Record,
    generate_passwords,
    read_record,
    record_path,
    write_record,
)

_START_SECONDS = 180.0  # crash recovery may have much to replay
_STOP_SECONDS = 60.0
_PROBE_SECONDS = 2.0
_PATIENCE_SECONDS = 5.0


class EmbeddedPostgres:
    """A private PostgreSQL server over one state directory, shared by every process of this machine.

    The server outlives the process that started it; it ends by `stop`. Every method may be called from any
    number of processes and threads at once, and raises EmbeddedPostgresError with one clear line.
    """

    def __init__(self, state_dir: Path) -> None:
        self.state_dir = state_dir.resolve()
        self._pgdata = self.state_dir / "pgdata"
        self._processes = ServerProcesses(self._pgdata)

    def start(self) -> ConnectionUrls:
        """Bring the server up, if it is not, with an empty database `anamnesis` at the first time.

        Interrupted or killed at any point, it leaves nothing half made: the next start goes on.
        """
        with explained(self.state_dir):
            if self._status() is not Status.READY:
                create_state_dir(self.state_dir)
                with exclusive(self.state_dir, _START_SECONDS + _STOP_SECONDS) as lock:
                    self._start(lock)
            return self.urls()

    def stop(self) -> bool:
        """Shut the server down, open connections included; False when it was not running."""
        with explained(self.state_dir):
            if not self._pgdata.exists():
                return False
            with exclusive(self.state_dir, _START_SECONDS + _STOP_SECONDS):
                return self._stop()

    def running(self) -> bool:
        """Whether the server answers a query right now."""
        status = Status.DOWN
        with explained(self.state_dir):
            for _ in poll(_PROBE_SECONDS):
                if (status := self._status()) is not Status.BUSY:
                    break
        return status in (Status.UP, Status.READY)

    def urls(self) -> ConnectionUrls:
        """The three URLs, whether the server runs or not; there are none before the first start."""
        with explained(self.state_dir):
            record = self._record()
        if record is None:
            raise EmbeddedPostgresError(f"never started in {self.state_dir}; start it first: anamnesis up")
        return record.urls

    def _record(self) -> Record | None:
        """The record as far as it is about this place: not in a state directory that was moved or copied."""
        record = read_record(self.state_dir)
        return record if record and record.state_directory == str(self.state_dir) else None

    def _status(self) -> Status:
        record = self._record()
        if record is None or not self._pgdata.exists():
            return Status.DOWN
        return probe(record, self._processes.cluster_name)

    def _start(self, lock: int) -> None:
        account = server_account(self.state_dir, self._pgdata)
        if closed := closed_to(self.state_dir, account.uid, account.gid):
            raise EmbeddedPostgresError(
                f"the server runs as {account.name}, who cannot enter {closed}; chmod o+x it, or choose "
                "another state directory with ANAMNESIS_STATE_DIR (for root: /var/lib/anamnesis)"
            )
        record = self._ensure_record(account)
        remove_leftover(self._pgdata)
        if not self._pgdata.exists():
            bin_dir = programs(self.state_dir, account)
            initialise(bin_dir, self._pgdata, account, record.passwords[ADMIN], lock)
        if self._bring_up(record, account) is Status.UP:
            create_database(record)

    def _ensure_record(self, account: ServerAccount) -> Record:
        """The record with a valid socket directory, which exists then."""
        found = read_record(self.state_dir)
        if found is None and self._pgdata.exists():
            raise EmbeddedPostgresError(
                f"{record_path(self.state_dir)}, which holds the passwords of the data in {self._pgdata}, "
                "is missing; restore it, or move the data away to begin with an empty database"
            )
        record = found or Record(generate_passwords(), "", "")
        if record.state_directory != str(self.state_dir):
            if self._pgdata.exists():
                self._stop()  # moved under a live server, which would look for its libraries in the old place
            socket_dir = socket_dir_for(self.state_dir, account.uid)
            record = replace(record, state_directory=str(self.state_dir), socket_directory=str(socket_dir))
            write_record(self.state_dir, record)
        ensure_private(Path(record.socket_directory), account.uid, account.gid)
        return record

    def _bring_up(self, record: Record, account: ServerAccount) -> Status:
        began = time.monotonic()
        spawned = False
        with contextlib.closing(ServerLog(self.state_dir)) as log:
            for _ in poll(_START_SECONDS):
                status = self._status()
                if status in (Status.UP, Status.READY):
                    return status
                lock = try_lock(self._pgdata)
                if lock is None:
                    if not spawned:
                        self._end_unreachable(record, status, time.monotonic() - began)
                    continue
                # Nobody holds the lock: no process of the server lives.
                try:
                    if spawned:
                        raise EmbeddedPostgresError(f"the server did not start: {log.reason()} ({log.path})")
                    self._launch(record, account, lock, log)
                    spawned = True
                finally:
                    os.close(lock)
        raise EmbeddedPostgresError(
            f"the server in {self.state_dir} did not answer within {_START_SECONDS:.0f} s; it may still be "
            f"recovering, or run in another container: read {log.path} and try again"
        )

    def _launch(self, record: Record, account: ServerAccount, lock: int, log: ServerLog) -> None:
        if (pid := self._processes.foreign()) is not None:
            raise EmbeddedPostgresError(
                f"process {pid} uses {self._pgdata} and was not started by Anamnesis; end it and start again"
            )
        postgres = programs(self.state_dir, account) / "postgres"
        # Stale all of them, whatever they say: empty after a full disk, or naming the process id of somebody
        # else. PostgreSQL would believe that id and refuse to start.
        socket = self._socket(record)
        for leftover in (self._pgdata / "postmaster.pid", socket, socket.with_name(f"{socket.name}.lock")):
            leftover.unlink(missing_ok=True)
        launch(
            postgres,
            self._pgdata,
            socket_dir=socket.parent,
            cluster_name=self._processes.cluster_name,
            account=account,
            lock=lock,
            log=log,
        )

    def _end_unreachable(self, record: Record, status: Status, waited: float) -> None:
        """Make way where a server holds the data and nobody can connect to it."""
        postmaster, pids = self._processes.find()
        # Cleaners of /tmp remove sockets.
        lost = status is Status.DOWN and not self._socket(record).exists()
        if postmaster is None:
            # Backends that outlived a killed postmaster end by themselves, except for one that computes.
            self._processes.send(signal.SIGQUIT, pids)
        elif waited > _PATIENCE_SECONDS and (lost or self._processes.stopping()):
            self._processes.send(signal.SIGINT, [postmaster])

    def _stop(self) -> bool:
        if self._processes.wait_until_gone(0):
            return False
        # Fast shutdown: sessions are ended, everything is written. Orphans of a killed postmaster get the
        # immediate kind, as does a server that does not come to an end; the next start recovers from the WAL.
        postmaster, _ = self._processes.find()
        if postmaster is not None:
            self._processes.send(signal.SIGINT, [postmaster])
        if postmaster is None or not self._processes.wait_until_gone(_STOP_SECONDS):
            _, pids = self._processes.find()
            self._processes.send(signal.SIGQUIT, pids)
            if not self._processes.wait_until_gone(_STOP_SECONDS):
                raise EmbeddedPostgresError(
                    f"the server in {self.state_dir} does not end; it may run in another container: stop it "
                    f"there, or end its processes here: {pids}"
                )
        self._remove_short_socket_dir()
        return postmaster is not None

    def _remove_short_socket_dir(self) -> None:
        # Not empty, or gone already; and a damaged record must not turn a stop into a failure.
        with contextlib.suppress(OSError, EmbeddedPostgresError):
            record = self._record()
            if record and self._socket(record).parent.parent != self.state_dir:
                self._socket(record).parent.rmdir()

    @staticmethod
    def _socket(record: Record) -> Path:
        return Path(record.socket_directory) / SOCKET_FILE
