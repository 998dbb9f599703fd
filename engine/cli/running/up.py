"""`up`, `down` and what stands behind them."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from rich.console import Console

from engine.cli.errors import CommandError
from engine.cli.running.deployment import Deployment
from engine.cli.running.identity import ProcessId
from engine.cli.running.logins import check_logins, first_login
from engine.cli.running.parts import parts_of
from engine.cli.running.ports import require_free_ports
from engine.cli.running.prepare import prepare
from engine.cli.running.runfile import RunFile, RunRecord, held, read_record
from engine.cli.running.supervisor import END_SECONDS, SIGNALS, START_SECONDS, Supervisor, end_leftovers

LOCK_VARIABLE = "ANAMNESIS_UP_LOCK"
"""How `up` hands the descriptor of its lock to the process that goes on as the supervisor."""


def up(deployment: Deployment, out: Console, *, detach: bool) -> None:
    """Prepare everything, then become the supervisor, or leave one in the background.

    The supervisor is a fresh process image: the models that seeding loaded do not stay in its memory.

    Raises:
        CommandError: a port is taken, the users' file is damaged, or a part does not start.
        KeysError: the keys cannot be used.
    """
    lock = RunFile.acquire(deployment.run_file)
    if lock is None:
        _revive_database(deployment)
        out.print(_already(deployment), highlight=False, soft_wrap=True)
        return
    signal.signal(signal.SIGTERM, _interrupt)
    signal.signal(signal.SIGHUP, _interrupt)
    try:
        end_leftovers(read_record(deployment.run_file))
        require_free_ports(deployment.settings)
        deployment.keys()
        check_logins(deployment)
        lock.write(RunRecord(ProcessId.of(os.getpid())))
        prepare(deployment, out)
        first_login(deployment, out)
        if not detach:
            _become_supervisor(lock)
        _leave_supervisor(deployment, lock, out)
    except BaseException as error:
        lock.write(RunRecord(ProcessId.of(os.getpid()), "stopped", [], f"up was not finished: {type(error).__name__}"))
        raise
    finally:
        lock.release()


def supervise(deployment: Deployment, out: Console) -> None:
    """Go on where `up` left off, with its lock."""
    descriptor = os.environ.pop(LOCK_VARIABLE, None)
    if descriptor is None:
        raise CommandError("This is a part of `anamnesis up`. Run that.")
    os.set_inheritable(int(descriptor), False)
    parts = parts_of(deployment, deployment.urls(), deployment.keys())
    Supervisor(parts, RunFile(int(descriptor))).run(
        lambda: announce(deployment, out, "Ctrl-C here, or `anamnesis down`")
    )
    out.print("Stopped.")
    if deployment.embedded:
        out.print(
            "The embedded database still serves other commands; `anamnesis down` stops it.",
            highlight=False,
            soft_wrap=True,
        )


def down(deployment: Deployment, out: Console) -> None:
    """Stop the supervisor with its parts, then the embedded server.

    Raises:
        CommandError: something belongs to another user, or does not end.
    """
    record = read_record(deployment.run_file)
    stopped = []
    if held(deployment.run_file):
        _end_supervisor(deployment.run_file, record)
        stopped.append("API and console")
    elif left := end_leftovers(record):
        stopped.append(" and ".join(left))
    if (embedded := deployment.embedded) and embedded.stop():
        stopped.append("embedded database")
    out.print(f"Stopped: {', '.join(stopped)}." if stopped else "Nothing was running.", highlight=False, soft_wrap=True)


def announce(deployment: Deployment, out: Console, stop: str) -> None:
    """Where everything is, and how it is stopped."""
    out.print(f"[green]✓[/] Console:  {deployment.console_address}", highlight=False, soft_wrap=True)
    out.print(f"[green]✓[/] API:      {deployment.api_address}/v1/chat", highlight=False, soft_wrap=True)
    out.print(f"  Logs:     {deployment.logs}", highlight=False, soft_wrap=True)
    out.print(f"  Stop:     {stop}", highlight=False, soft_wrap=True)


def _revive_database(deployment: Deployment) -> None:
    """Nobody watches the embedded server: it may have been killed under API and console, which then wait for it."""
    record = read_record(deployment.run_file)
    if record and record.state == "running" and (embedded := deployment.embedded):
        embedded.start()


def _already(deployment: Deployment) -> str:
    record = read_record(deployment.run_file)
    if record is None or record.state != "running":
        return "Anamnesis is being started by another `anamnesis up`."
    where = ", ".join(f"{part.name} {part.address}" for part in record.parts)
    return f"Anamnesis is running already (process {record.process.pid}): {where}"


def _interrupt(_: int, __: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _supervisor_command() -> list[str]:
    return [sys.executable, "-m", "engine.cli", "supervise"]


def _become_supervisor(lock: RunFile) -> NoReturn:
    # Signals wait until the supervisor can take them; a blocked one survives the change of image.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    os.set_inheritable(lock.descriptor, True)
    os.execve(sys.executable, _supervisor_command(), os.environ | {LOCK_VARIABLE: str(lock.descriptor)})  # noqa: S606


def _leave_supervisor(deployment: Deployment, lock: RunFile, out: Console) -> None:
    deployment.logs.mkdir(parents=True, exist_ok=True)
    log = deployment.logs / "up.log"
    with os.fdopen(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as output:
        process = subprocess.Popen(  # noqa: S603
            _supervisor_command(),
            env=os.environ | {LOCK_VARIABLE: str(lock.descriptor)},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=(lock.descriptor,),
            start_new_session=True,
        )
    try:
        _wait_until_running(deployment, process, log)
    except BaseException:
        process.terminate()
        process.wait()
        raise
    announce(deployment, out, "`anamnesis down`")


def _wait_until_running(deployment: Deployment, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        record = read_record(deployment.run_file)
        if record and record.process.pid == process.pid and record.state == "running":
            return
        if process.poll() is not None:
            reason = record.reason if record and record.process.pid == process.pid else ""
            raise CommandError(reason or f"The supervisor ended while starting. Its log: {log}")
        if time.monotonic() > deadline:
            raise CommandError(f"API and console did not answer within {START_SECONDS:.0f} s. Log: {log}")
        time.sleep(0.1)


def _end_supervisor(run_file: Path, record: RunRecord | None) -> None:
    if record is None or not record.process.alive():
        raise CommandError(f"Another `anamnesis up` is just starting or ending ({run_file}). Try again.")
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            record.process.send(number)
        except PermissionError:
            raise CommandError(
                f"Process {record.process.pid} belongs to another user. Run this as that user."
            ) from None
        deadline = time.monotonic() + END_SECONDS + 5
        while held(run_file) and time.monotonic() < deadline:
            time.sleep(0.1)
    end_leftovers(read_record(run_file))
