"""What the tests of the embedded server share: places for its state, child processes, waiting."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import psycopg

from engine.storage.embedded import EmbeddedPostgres
from engine.storage.embedded.account import Identity
from engine.storage.embedded.processes import ServerProcesses, poll
from tests.polling import hear_ctrl_c

AS_ROOT = os.geteuid() == 0
REPOSITORY = Path(__file__).resolve().parents[2]

# Prints the URLs, or the one line that says why there are none.
START = """
import sys
from pathlib import Path
from engine.storage.embedded import EmbeddedPostgres, EmbeddedPostgresError
try:
    urls = EmbeddedPostgres(Path(sys.argv[1])).start()
    print(urls.admin, urls.engine, urls.console, flush=True)
except EmbeddedPostgresError as error:
    print(error, flush=True)
    sys.exit(3)
"""

T = TypeVar("T")


def until(condition: Callable[[], T], seconds: float = 30.0) -> T:
    """The first true answer; fails at the deadline."""
    for _ in poll(seconds):
        if found := condition():
            return found
    raise AssertionError(f"nothing true within {seconds:.0f} s")


def _memory() -> Path | None:
    """A file system in memory, where it is large and may run programs.

    Making a database is a thousand fsyncs: on a busy disk these tests would measure its other users.
    """
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK | os.X_OK):
        return None
    found = os.statvfs(memory)
    large = found.f_bavail * found.f_frsize > 2 << 30
    return memory if large and not found.f_flag & os.ST_NOEXEC else None


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A directory that every user can enter (pytest's own are closed); every server in it is stopped."""
    base = Path(tempfile.mkdtemp(prefix="anamnesis-test-", dir=_memory())).resolve()
    base.chmod(0o755)
    try:
        yield base
    finally:
        for pgdata in [path for path in base.rglob("pgdata") if path.is_dir()]:
            EmbeddedPostgres(pgdata.parent).stop()
        shutil.rmtree(base)


@dataclass(frozen=True)
class Python:
    """An interpreter, the search path of its modules, and the user to run it as."""

    executable: str = sys.executable
    path: str = os.pathsep.join([str(REPOSITORY), *sys.path])
    home: str | None = None
    identity: Identity | None = None

    def run(
        self, *arguments: object, code: str = START, env: dict[str, str] | None = None, **options: Any
    ) -> subprocess.Popen[str]:
        """A child process in a session of its own."""
        variables = {**os.environ, "PYTHONPATH": self.path, **(env or {})}
        if self.home:
            variables |= {"PYTHONHOME": self.home, "LD_LIBRARY_PATH": f"{self.home}/lib"}
        return subprocess.Popen(
            [self.executable, "-c", code, *map(str, arguments)],
            stdout=subprocess.PIPE,
            text=True,
            cwd="/",
            env=variables,
            start_new_session=True,
            preexec_fn=hear_ctrl_c,
            **(self.identity or {}),
            **options,
        )

    def start(self, state_dir: Path, env: dict[str, str] | None = None) -> str:
        """Start the server from a child that has ended then; what the child said."""
        with self.run(state_dir, env=env) as child:
            said, _ = child.communicate(timeout=60)
        return said.strip()


def connect(server: EmbeddedPostgres, **options: Any) -> psycopg.Connection[Any]:
    """A session of the superuser in the product's database."""
    address = server.urls().admin.replace("+psycopg", "")
    return psycopg.connect(address, autocommit=True, **options)


def value(server: EmbeddedPostgres, query: str) -> Any:
    """The single value that a query gives."""
    with connect(server) as connection:
        row = connection.execute(query).fetchone()
    assert row is not None
    return row[0]


def postmaster(server: EmbeddedPostgres) -> int:
    """The process id of a server that must be alive."""
    found, _ = ServerProcesses(server.state_dir / "pgdata").find()
    assert found is not None
    return found


def fails_with_one_line(error: BaseException, *parts: str) -> None:
    """Every refusal is one line that names what it is about."""
    message = str(error)
    assert "\n" not in message
    for part in parts:
        assert part in message
