"""A real database for the whole run: the embedded server, migrated, with the real corpus where a test asks for it."""

import shutil
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.app import Engine, build_engine, connect, seed_corpus
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls, EmbeddedPostgres
from engine.storage.migrate import bootstrap, migrate, owner_connection


@pytest.fixture(scope="session")
def settings() -> Iterator[Settings]:
    """Settings of a deployment of its own, in a directory that the server's user can reach."""
    state_dir = Path(tempfile.mkdtemp(prefix="anamnesis-test-", dir="/var/tmp"))
    state_dir.chmod(0o755)
    try:
        yield Settings(state_dir=state_dir)
    finally:
        EmbeddedPostgres(state_dir).stop()
        shutil.rmtree(state_dir, ignore_errors=True)


@pytest.fixture(scope="session")
def urls(settings: Settings) -> ConnectionUrls:
    """Connections to a migrated database without a corpus."""
    urls = connect(settings)
    bootstrap(urls.admin, urls.engine, urls.console)
    migrate(urls.admin)
    return urls


@pytest.fixture(scope="session")
def seeded(settings: Settings, urls: ConnectionUrls) -> ConnectionUrls:
    """The same database with the real corpus."""
    seed_corpus(settings, urls)
    return urls


@pytest.fixture
async def engine(settings: Settings, seeded: ConnectionUrls) -> AsyncIterator[Engine]:
    """The engine as the product builds it."""
    built = build_engine(settings, seeded)
    try:
        yield built
    finally:
        await built.close()


@pytest.fixture
def owner(urls: ConnectionUrls) -> Iterator[Connection]:
    """A transaction as the tables' owner, committed at the end."""
    with owner_connection(urls.admin) as connection:
        yield connection


@pytest.fixture
def as_role(urls: ConnectionUrls) -> Iterator[dict[str, Connection]]:
    """Plain connections as the engine's and the console's role."""
    engines = {name: sa.create_engine(getattr(urls, name), poolclass=sa.NullPool) for name in ("engine", "console")}
    connections = {name: engine.connect() for name, engine in engines.items()}
    try:
        yield connections
    finally:
        for connection in connections.values():
            connection.close()
