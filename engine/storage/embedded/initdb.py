"""Making the database cluster: whole or not at all."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

from engine.storage.embedded.account import ServerAccount
from engine.storage.embedded.binaries import ENVIRONMENT
from engine.storage.embedded.errors import EmbeddedPostgresError
from engine.storage.embedded.record import ADMIN, sync_directory

_OPTIONS = ("--encoding=UTF8", "--locale=C.UTF-8", "--data-checksums", "--auth=scram-sha-256")


def initialise(bin_dir: Path, pgdata: Path, account: ServerAccount, password: str, lock: int) -> None:
    """Make the cluster in a temporary directory and rename it; only under the lock of the state directory,
    and after `remove_leftover`.

    initdb inherits that lock: should this process be killed, the next start waits for the orphan instead of
    cleaning up under it.
    Raises: EmbeddedPostgresError with initdb's last word.
    """
    temporary = _temporary(pgdata)
    temporary.mkdir(mode=0o700)
    try:
        password_file = temporary / "password"
        with os.fdopen(os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(password)
        if account.differs:
            for path in (password_file, temporary):
                os.chown(path, account.uid, account.gid)
        data = temporary / "data"
        arguments = ("-D", str(data), "-U", ADMIN, f"--pwfile={password_file}")
        _run([str(bin_dir / "initdb"), *arguments, *_OPTIONS], account, lock)
        data.rename(pgdata)
        sync_directory(pgdata.parent)
    finally:
        remove_leftover(pgdata)


def remove_leftover(pgdata: Path) -> None:
    """Sweep away what a killed start left; only under the lock of the state directory."""
    shutil.rmtree(_temporary(pgdata), ignore_errors=True)


def _temporary(pgdata: Path) -> Path:
    return pgdata.with_suffix(".new")


def _run(command: list[str], account: ServerAccount, lock: int) -> None:
    process = subprocess.Popen(  # noqa: S603
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env=ENVIRONMENT,
        cwd="/",
        pass_fds=(lock,),
        start_new_session=True,
        umask=0o077,
        **account.identity,
    )
    try:
        _, said = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)  # initdb and the server that it runs
        process.wait()
        raise
    if process.returncode != 0:
        lines = said.splitlines()
        reasons = [line for line in lines if "error:" in line or "FATAL:" in line] or lines
        raise EmbeddedPostgresError(
            f"no database could be made: {reasons[-1] if reasons else f'exit status {process.returncode}'}"
        )
