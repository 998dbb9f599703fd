"""Running the server: its settings, its log, a process that outlives ours."""

import os
import subprocess
from pathlib import Path

from engine.storage.embedded.account import ServerAccount
from engine.storage.embedded.binaries import ENVIRONMENT
from engine.storage.embedded.record import PORT, give_to_owner

# Given on the command line, where no configuration file can override them.
_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "100",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "jit": "off",
    # What users wrote must not reach the log. Statements and parameters carry it, but so do error messages
    # (invalid input syntax for type integer: "…"), their details (Key (name)=(…) already exists) and the
    # report of a crashed backend (Failed process was running: …). So errors go to the client alone.
    "log_min_messages": "log",
    "log_error_verbosity": "terse",
    "log_statement": "none",
    "log_min_error_statement": "panic",
    "log_min_duration_statement": "-1",
    "log_min_duration_sample": "-1",
    "log_transaction_sample_rate": "0",
    "log_parameter_max_length": "0",
    "log_parameter_max_length_on_error": "0",
    "log_checkpoints": "off",  # nobody rotates this log
}


class ServerLog:
    """``postgres.log``, and what the server has written there since this object was made."""

    def __init__(self, state_dir: Path) -> None:
        self.path = state_dir / "postgres.log"
        self.descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        give_to_owner(self.descriptor, state_dir)
        self._start = os.fstat(self.descriptor).st_size

    def reason(self) -> str:
        """The line that says why the server ended."""
        with self.path.open("rb") as file:
            file.seek(self._start)
            lines = file.read().decode("utf-8", "replace").splitlines()
        fatal = [line for line in lines if "FATAL:" in line or "PANIC:" in line]
        return (fatal or lines or ["it wrote nothing"])[-1]

    def close(self) -> None:
        os.close(self.descriptor)


def launch(
    postgres: Path,
    pgdata: Path,
    *,
    socket_dir: Path,
    cluster_name: str,
    account: ServerAccount,
    lock: int,
    log: ServerLog,
) -> None:
    """Start the server detached from this process; it inherits `lock`, the lock of its data directory.

    The shell in between ends at once, so the server is nobody's child here: no zombie of it can stay in a
    long-lived caller. Its own session keeps the terminal's Ctrl-C away.
    """
    settings = _SETTINGS | {"unix_socket_directories": str(socket_dir), "cluster_name": cluster_name}
    options = [word for name, value in settings.items() for word in ("-c", f"{name}={value}")]
    subprocess.run(  # noqa: S603
        ["/bin/sh", "-c", '"$@" &', "sh", str(postgres), "-D", str(pgdata), *options],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=log.descriptor,
        stderr=log.descriptor,
        env=ENVIRONMENT,
        cwd="/",
        pass_fds=(lock,),
        start_new_session=True,
        umask=0o077,
        **account.identity,
    )
