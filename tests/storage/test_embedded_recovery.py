"""The embedded PostgreSQL after kills, crashes and stale files: nothing is lost, nothing is half made."""

import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError
from engine.storage.embedded.account import server_account
from engine.storage.embedded.binaries import ENVIRONMENT, programs
from engine.storage.embedded.processes import ServerProcesses
from tests.storage.embedded_support import (
    AS_ROOT,
    Python,
    connect,
    fails_with_one_line,
    postmaster,
    scratch,
    until,
    value,
)

WRITER = """
import sys, psycopg
with psycopg.connect(sys.argv[1], autocommit=True) as connection:
    for n in range(1_000_000):
        connection.execute("INSERT INTO acknowledged VALUES (%s)", [n])
        print(n, flush=True)
"""
ENDLESS = b"DO $$ BEGIN LOOP END LOOP; END $$"


@pytest.fixture
def server() -> Iterator[EmbeddedPostgres]:
    """A server that runs and holds a row."""
    with scratch() as base:
        server = EmbeddedPostgres(base / "state")
        server.start()
        with connect(server) as connection:
            connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
        yield server


@pytest.fixture
def bystander(server: EmbeddedPostgres) -> Iterator[subprocess.Popen[bytes]]:
    """An unrelated live process of the server's user: PostgreSQL takes its id in a lock file for a server."""
    account = server_account(server.state_dir, server.state_dir / "pgdata")
    with subprocess.Popen(["/bin/sleep", "600"], **account.identity) as process:
        yield process
        process.kill()


def kill_postmaster(server: EmbeddedPostgres) -> None:
    os.kill(postmaster(server), signal.SIGKILL)
    until(lambda: not server.running())


def keeps_its_data(server: EmbeddedPostgres) -> bool:
    return server.running() and value(server, "SELECT n FROM kept") == 42


def test_start_after_kill_9_of_the_postmaster(server: EmbeddedPostgres) -> None:
    kill_postmaster(server)
    server.start()
    assert keeps_its_data(server)


def test_start_ends_an_orphaned_backend_that_would_compute_forever(server: EmbeddedPostgres) -> None:
    with contextlib.closing(connect(server)) as connection:
        backend = connection.info.backend_pid
        connection.pgconn.send_query(ENDLESS)
        until(lambda: value(server, f"SELECT state = 'active' FROM pg_stat_activity WHERE pid = {backend}"))
        kill_postmaster(server)
        server.start()
        assert backend not in ServerProcesses(server.state_dir / "pgdata").find()[1]
    assert keeps_its_data(server)


def test_stop_ends_the_orphans_of_a_killed_postmaster(server: EmbeddedPostgres) -> None:
    with contextlib.closing(connect(server)) as connection:
        connection.pgconn.send_query(ENDLESS)
        until(lambda: value(server, "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %'"))
        kill_postmaster(server)
        assert server.stop() is False
    assert ServerProcesses(server.state_dir / "pgdata").find() == (None, [])


def test_a_crash_during_writes_loses_nothing_that_was_acknowledged(server: EmbeddedPostgres) -> None:
    with connect(server) as connection:
        connection.execute("CREATE TABLE acknowledged (n int PRIMARY KEY)")
    address = server.urls().admin.replace("+psycopg", "")
    with Python().run(address, code=WRITER, stderr=subprocess.DEVNULL) as writer:
        assert writer.stdout is not None
        acknowledged = [int(writer.stdout.readline()) for _ in range(300)]
        _, pids = ServerProcesses(server.state_dir / "pgdata").find()
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        acknowledged += [int(line) for line in writer.stdout]
    server.start()
    assert value(server, f"SELECT count(*) FROM acknowledged WHERE n <= {acknowledged[-1]}") == len(acknowledged)
    assert keeps_its_data(server)


@pytest.mark.parametrize("content", ["", "not a number\n", "{bystander}\n", "{bystander}\n{rest}"])
def test_a_stale_pid_file_is_neither_believed_nor_obeyed(
    server: EmbeddedPostgres, bystander: subprocess.Popen[bytes], content: str
) -> None:
    pid_file = server.state_dir / "pgdata" / "postmaster.pid"
    rest = pid_file.read_text().partition("\n")[2]
    kill_postmaster(server)
    until(lambda: not ServerProcesses(server.state_dir / "pgdata").find()[1])
    pid_file.write_text(content.format(bystander=bystander.pid, rest=rest))
    assert server.running() is False
    assert server.stop() is False
    server.start()
    assert keeps_its_data(server)
    assert server.stop() is True
    assert bystander.poll() is None


def test_an_orphaned_socket_and_its_lock_file_are_swept_away(
    server: EmbeddedPostgres, bystander: subprocess.Popen[bytes]
) -> None:
    kill_postmaster(server)
    socket = server.state_dir / "run" / ".s.PGSQL.5432"
    lock = socket.with_name(f"{socket.name}.lock")
    lock.write_text(lock.read_text().replace(lock.read_text().split("\n")[0], str(bystander.pid), 1))
    assert socket.exists()
    server.start()
    assert keeps_its_data(server)


def test_an_empty_pid_file_beside_a_live_server_does_no_harm(server: EmbeddedPostgres) -> None:
    (server.state_dir / "pgdata" / "postmaster.pid").write_text("")
    server.start()
    assert keeps_its_data(server)
    assert server.stop() is True


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.storage.embedded.server._PATIENCE_SECONDS", 0.2)


@pytest.mark.usefixtures("impatient")
def test_start_replaces_a_server_whose_socket_was_removed(server: EmbeddedPostgres) -> None:
    (server.state_dir / "run" / ".s.PGSQL.5432").unlink()
    assert server.running() is False
    server.start()
    assert keeps_its_data(server)


@pytest.mark.usefixtures("impatient")
def test_start_does_not_wait_for_the_sessions_of_a_server_told_to_end(server: EmbeddedPostgres) -> None:
    with connect(server):
        os.kill(postmaster(server), signal.SIGTERM)
        until(lambda: not server.running())
        server.start()
    assert keeps_its_data(server)


def test_a_server_whose_state_directory_was_moved_is_restarted_in_the_new_place(server: EmbeddedPostgres) -> None:
    before = postmaster(server)
    moved = EmbeddedPostgres(server.state_dir.rename(server.state_dir.with_name("moved")))
    moved.start()
    assert keeps_its_data(moved)
    with connect(moved) as connection:
        connection.execute("CREATE EXTENSION vector")
    assert before not in ServerProcesses(moved.state_dir / "pgdata").find()[1]


def test_a_copied_state_directory_gets_a_server_of_its_own(server: EmbeddedPostgres) -> None:
    original = server.urls()
    server.stop()
    copied = server.state_dir.with_name("copied")
    subprocess.run(["/bin/cp", "-a", str(server.state_dir), str(copied)], check=True)
    server.start()
    copy = EmbeddedPostgres(copied)
    with pytest.raises(EmbeddedPostgresError, match="never started"):
        copy.urls()
    assert copy.start() != original
    with connect(copy) as connection:
        connection.execute("UPDATE kept SET n = 7")
    assert keeps_its_data(server)


def test_a_server_started_by_hand_over_the_same_data_is_refused_and_named(server: EmbeddedPostgres) -> None:
    server.stop()
    pgdata = server.state_dir / "pgdata"
    account = server_account(server.state_dir, pgdata)
    command: list[str | Path] = [
        programs(server.state_dir, account) / "postgres",
        "-D",
        pgdata,
        "-k",
        server.state_dir / "run",
    ]
    log = server.state_dir / "by-hand.log"
    with log.open("w") as output:
        by_hand = subprocess.Popen(command, stderr=output, env=ENVIRONMENT, cwd="/", **account.identity)
    with by_hand:
        until(lambda: "ready to accept connections" in log.read_text())
        with pytest.raises(EmbeddedPostgresError) as caught:
            server.start()
        assert by_hand.poll() is None
        by_hand.send_signal(signal.SIGINT)
    fails_with_one_line(caught.value, f"process {by_hand.pid}")
    server.start()
    assert keeps_its_data(server)


MILESTONES = [
    *(["postgresql-0.6.0.tmp"] if AS_ROOT else []),
    "postgres.json",
    "pgdata.new",
    "pgdata.new/data/PG_VERSION",
    "pgdata.new/data/global/pg_control",
    "pgdata",
    "pgdata/postmaster.pid",
    "run/.s.PGSQL.5432",
]


@pytest.mark.parametrize(
    ("end", "milestone"),
    [
        *[(signal.SIGKILL, milestone) for milestone in MILESTONES],
        *[(signal.SIGINT, milestone) for milestone in ("pgdata.new/data/PG_VERSION", "run/.s.PGSQL.5432")],
    ],
)
def test_a_first_start_ended_at_any_point_leaves_nothing_half_made(end: signal.Signals, milestone: str) -> None:
    for _ in range(5):  # the moments are short, and a busy machine may look away
        with scratch() as base:
            if ended_at(base / "state" / milestone, base / "state", end):
                server = EmbeddedPostgres(base / "state")
                server.start()
                assert value(server, "SELECT current_database()") == "anamnesis"
                left = {"pgdata", "postgres.json", "postgres.log", "run"}
                left |= {"postgresql-0.6.0"} if AS_ROOT else set()
                assert {path.name for path in server.state_dir.iterdir()} == left
                return
    raise AssertionError(f"{milestone} was never seen")


def ended_at(milestone: Path, state_dir: Path, end: signal.Signals) -> bool:
    """Whether a process that starts the server was ended in the moment when a file appeared."""
    with Python().run(state_dir, stderr=subprocess.DEVNULL) as child:
        while not milestone.exists():
            if child.poll() is not None:
                return False
        child.send_signal(end)
        child.wait(timeout=30)
    return True


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda record: record.unlink(), "is missing; restore it"),
        (lambda record: record.write_text('{"passwords": {"postgres"'), "is damaged; restore it"),
        (
            lambda record: record.write_text('{"passwords": {}, "state_directory": "", "socket_directory": ""}'),
            "is damaged",
        ),
    ],
)
def test_a_lost_or_damaged_record_is_explained_and_never_replaced(
    server: EmbeddedPostgres, damage: Callable[[Path], object], said: str
) -> None:
    server.stop()
    damage(server.state_dir / "postgres.json")
    before = list(server.state_dir.glob("postgres.json"))
    with pytest.raises(EmbeddedPostgresError) as caught:
        server.start()
    fails_with_one_line(caught.value, str(server.state_dir / "postgres.json"), said)
    assert list(server.state_dir.glob("postgres.json")) == before


def test_stop_needs_no_passwords(server: EmbeddedPostgres) -> None:
    (server.state_dir / "postgres.json").write_text('{"passwords": {"postgres"')
    assert server.stop() is True
    assert ServerProcesses(server.state_dir / "pgdata").find() == (None, [])


def test_passwords_of_another_cluster_are_explained(server: EmbeddedPostgres) -> None:
    record = server.state_dir / "postgres.json"
    password = server.urls().admin.split(":")[2].split("@")[0]
    record.write_text(record.read_text().replace(password, "x" * len(password)))
    for action in (server.start, server.running):
        with pytest.raises(EmbeddedPostgresError) as caught:
            action()
        fails_with_one_line(caught.value, "restore both from the same backup")


def test_what_postgres_says_when_it_cannot_start_is_passed_on(server: EmbeddedPostgres) -> None:
    server.stop()
    shutil.move(server.state_dir / "pgdata" / "global" / "pg_control", server.state_dir / "pg_control")
    with pytest.raises(EmbeddedPostgresError) as caught:
        server.start()
    fails_with_one_line(caught.value, "pg_control", str(server.state_dir / "postgres.log"))
    shutil.move(server.state_dir / "pg_control", server.state_dir / "pgdata" / "global" / "pg_control")
    server.start()
    assert keeps_its_data(server)
