"""The embedded PostgreSQL: what it promises in ordinary life."""

import contextlib
import json
import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from sqlalchemy import create_engine, text

from engine.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError
from tests.storage.embedded_support import (
    START,
    Python,
    connect,
    fails_with_one_line,
    postmaster,
    scratch,
    until,
    value,
)

CANARY = "ПациентИванов-канарейка-7531"


@pytest.fixture(scope="module")
def shared() -> Iterator[EmbeddedPostgres]:
    """One running server for tests that only ask it something."""
    with scratch() as base:
        server = EmbeddedPostgres(base / "state")
        server.start()
        yield server


@pytest.fixture
def state_dir() -> Iterator[Path]:
    with scratch() as base:
        yield base / "state"


def test_the_urls_work_in_sqlalchemy_whatever_libpq_variables_the_caller_has(
    shared: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, setting in {"PGPORT": "1", "PGHOST": "nowhere.invalid", "PGDATABASE": "no", "PGUSER": "no"}.items():
        monkeypatch.setenv(name, setting)
    engine = create_engine(shared.urls().admin)
    with engine.connect() as connection:
        row = connection.execute(text("SELECT current_user, current_database(), inet_server_addr()")).one()
    engine.dispose()
    assert tuple(row) == ("postgres", "anamnesis", None)
    assert shared.running()


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("server_encoding", "UTF8"),
        ("lc_messages", "C.UTF-8"),
        ("data_checksums", "on"),
        ("TimeZone", "UTC"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("jit", "off"),
        ("max_connections", "100"),
        ("listen_addresses", ""),
        ("unix_socket_permissions", "0700"),
        ("password_encryption", "scram-sha-256"),
        ("log_statement", "none"),
        ("log_min_error_statement", "panic"),
        ("log_parameter_max_length_on_error", "0"),
    ],
)
def test_the_server_is_set_up_as_promised(shared: EmbeddedPostgres, setting: str, expected: str) -> None:
    assert value(shared, f"SELECT current_setting('{setting}')") == expected


def test_the_database_is_utf8_with_the_locale_c_utf8(shared: EmbeddedPostgres) -> None:
    query = "SELECT (pg_encoding_to_char(encoding), datcollate, datctype)::text FROM pg_database WHERE datname = '{}'"
    for name in ("anamnesis", "template1"):
        assert value(shared, query.format(name)) == "(UTF8,C.UTF-8,C.UTF-8)"


def test_pgvector_and_the_snowball_stemmers_are_on_board(shared: EmbeddedPostgres) -> None:
    with connect(shared) as connection:
        connection.execute("CREATE EXTENSION vector")
    assert value(shared, "SELECT '[1,0]'::vector <=> '[0,1]'::vector") == 1.0
    assert value(shared, "SELECT to_tsvector('russian', 'анализы крови')::text") == "'анализ':1 'кров':2"


def test_every_way_in_asks_for_a_scram_password(shared: EmbeddedPostgres) -> None:
    assert value(shared, "SELECT array_agg(DISTINCT auth_method) FROM pg_hba_file_rules") == ["scram-sha-256"]
    assert value(shared, "SELECT rolpassword FROM pg_authid WHERE rolname='postgres'").startswith("SCRAM-SHA-256$")
    address = shared.urls().admin.replace("+psycopg", "")
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        psycopg.connect(address, password="wrong")


def test_the_passwords_of_the_login_roles_are_in_the_urls_and_the_roles_are_left_to_the_migrations(
    shared: EmbeddedPostgres,
) -> None:
    assert value(shared, "SELECT count(*) FROM pg_roles WHERE rolname LIKE 'anamnesis%'") == 0
    passwords = json.loads((shared.state_dir / "postgres.json").read_text())["passwords"]
    assert len(set(passwords.values())) == 3
    urls = shared.urls()
    for role, url in (("anamnesis_engine", urls.engine), ("anamnesis_console", urls.console)):
        with connect(shared) as connection:
            connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD '{passwords[role]}'")
        engine = create_engine(url)
        with engine.connect() as session:
            assert session.execute(text("SELECT current_user")).scalar_one() == role
        engine.dispose()


def test_passwords_and_socket_are_closed_to_other_users(shared: EmbeddedPostgres) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in shared.state_dir.iterdir()}
    assert modes["postgres.json"] == modes["postgres.log"] == 0o600
    assert modes["run"] == modes["pgdata"] == 0o700
    assert not modes.keys() & {"postgres.tmp", "pgdata.new", "postgresql-0.6.0.tmp"}


def test_passwords_show_in_no_repr_no_log_and_no_process_list(shared: EmbeddedPostgres) -> None:
    passwords = json.loads((shared.state_dir / "postgres.json").read_text())["passwords"].values()
    seen = repr(shared.urls()) + (shared.state_dir / "postgres.log").read_text()
    seen += Path(f"/proc/{postmaster(shared)}/cmdline").read_text()
    assert not [password for password in passwords if password in seen]


def test_a_second_start_returns_the_same_urls_and_runs_nothing(
    shared: EmbeddedPostgres, monkeypatch: pytest.MonkeyPatch
) -> None:
    def forbidden(*_: object, **__: object) -> None:
        raise AssertionError("a program was run")

    monkeypatch.setattr(subprocess, "Popen", forbidden)
    before = postmaster(shared)
    assert EmbeddedPostgres(shared.state_dir).start() == shared.urls()
    assert postmaster(shared) == before


def test_four_processes_that_start_at_once_from_nothing_share_one_server(state_dir: Path) -> None:
    children = [Python().run(state_dir) for _ in range(4)]
    said = {child.communicate(timeout=60)[0].strip() for child in children}
    assert [child.returncode for child in children] == [0, 0, 0, 0]
    urls = EmbeddedPostgres(state_dir).urls()
    assert said == {f"{urls.admin} {urls.engine} {urls.console}"}
    assert (state_dir / "postgres.log").read_text().count("starting PostgreSQL") == 1


def test_ctrl_c_ends_the_caller_and_not_the_server(state_dir: Path) -> None:
    with Python().run(state_dir, code=START + "import signal\nsignal.pause()") as caller:
        assert caller.stdout is not None
        assert caller.stdout.readline().startswith("postgresql+psycopg://")
        server = EmbeddedPostgres(state_dir)
        before = postmaster(server)
        os.killpg(caller.pid, signal.SIGINT)
        caller.wait(timeout=30)
    assert server.running()
    assert postmaster(server) == before


def test_stop_ends_open_sessions_and_start_brings_the_data_back(state_dir: Path) -> None:
    server = EmbeddedPostgres(state_dir)
    assert (server.running(), server.stop()) == (False, False)
    assert not state_dir.exists()
    server.start()
    with connect(server) as session:
        session.execute("CREATE TABLE kept AS SELECT 42 AS n")
        assert server.stop() is True
    assert (server.running(), server.stop()) == (False, False)
    with pytest.raises(psycopg.OperationalError):
        connect(server)
    server.start()
    assert value(server, "SELECT n FROM kept") == 42


def test_urls_before_the_first_start_say_what_to_do(state_dir: Path) -> None:
    with pytest.raises(EmbeddedPostgresError) as caught:
        EmbeddedPostgres(state_dir).urls()
    fails_with_one_line(caught.value, str(state_dir), "anamnesis up")


@pytest.mark.parametrize("locale", ["C", "ru_RU.UTF-8", "ru_RU.KOI8-R"])
def test_the_callers_locale_and_environment_do_not_reach_the_database(state_dir: Path, locale: str) -> None:
    env = {"LC_ALL": locale, "LANG": locale, "PGDATA": "/nonexistent", "PGTZ": "Asia/Tokyo", "TZ": "Asia/Tokyo"}
    assert Python().start(state_dir, env).startswith("postgresql+psycopg://")
    server = EmbeddedPostgres(state_dir)
    assert value(server, "SELECT lower('ЖЁ') || upper('я')") == "жёЯ"
    assert value(server, "SELECT to_tsvector('simple', 'ЖАР')::text") == "'жар':1"
    assert value(server, "SELECT current_setting('log_timezone')") == "UTC"


def test_user_text_never_reaches_the_log(state_dir: Path) -> None:
    server = EmbeddedPostgres(state_dir)
    server.start()
    with connect(server) as session:
        session.execute("CREATE TABLE secret (name text PRIMARY KEY)")
        session.execute("INSERT INTO secret VALUES (%s)", [CANARY])
        with pytest.raises(psycopg.errors.UniqueViolation, match=CANARY):
            session.execute("INSERT INTO secret VALUES (%s)", [CANARY])
        with pytest.raises(psycopg.errors.InvalidTextRepresentation, match=CANARY):
            session.execute("SELECT %s::text::int", [CANARY])
        with pytest.raises(psycopg.errors.SyntaxError):
            session.execute(f"SELECT this is no sql '{CANARY}'")
        with pytest.raises(psycopg.errors.QueryCanceled):
            session.execute(f"SET statement_timeout = 1; SELECT '{CANARY}', pg_sleep(60)")
    with contextlib.closing(connect(server)) as victim:
        # PostgreSQL reports a backend that crashed together with the query it was running.
        victim.pgconn.send_query(f"SELECT '{CANARY}', pg_sleep(600)".encode())
        running = f"SELECT query LIKE '%{CANARY}%' FROM pg_stat_activity WHERE pid = {victim.info.backend_pid}"
        until(lambda: value(server, running))
        os.kill(victim.info.backend_pid, signal.SIGSEGV)
        until(lambda: "terminated by signal 11" in (state_dir / "postgres.log").read_text())
    until(server.running)
    assert CANARY not in (state_dir / "postgres.log").read_text()
