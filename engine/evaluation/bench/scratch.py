"""A database that is made for one benchmark and dropped after it."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import admin_connection, bootstrap, migrate

PREFIX = "anamnesis_bench_"


@contextmanager
def scratch_database(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    """A migrated, empty database on the same server; gone afterwards, also after Ctrl-C.

    What a run that was killed left behind goes at the next one: a lock on the name lives as long as its run.

    Raises:
        StorageError: the administrator's role may not create databases, or the server refused.
    """
    name = PREFIX + secrets.token_hex(6)
    with admin_connection(urls.admin) as plain:
        keeper = plain.execution_options(isolation_level="AUTOCOMMIT")
        _lock(keeper, name)
        _drop_leftovers(keeper)
        keeper.exec_driver_sql(f"CREATE DATABASE {name}")
        try:
            place = ConnectionUrls(*(_renamed(url, name) for url in (urls.admin, urls.engine, urls.console)))
            bootstrap(place.admin, place.engine, place.console)
            migrate(place.admin)
            yield place
        finally:
            _drop(keeper, name)


def vacuum(admin_url: str, *, analyse: bool) -> None:
    """Clear away dead rows of all tables; `analyse` also lets the planner know of the others. Raises StorageError."""
    with admin_connection(admin_url) as connection:
        statement = "VACUUM (ANALYZE)" if analyse else "VACUUM"
        connection.execution_options(isolation_level="AUTOCOMMIT").exec_driver_sql(statement)


def _drop_leftovers(keeper: Connection) -> None:
    found = keeper.execute(
        sa.text("SELECT datname FROM pg_database WHERE starts_with(datname, :prefix)"), {"prefix": PREFIX}
    ).scalars()
    for name in list(found):
        if _lock(keeper, name):
            _drop(keeper, name)


def _lock(keeper: Connection, name: str) -> bool:
    """Whether no other run holds this name; it is held until the connection ends."""
    return bool(keeper.execute(sa.text("SELECT pg_try_advisory_lock(hashtext(:name))"), {"name": name}).scalar_one())


def _drop(keeper: Connection, name: str) -> None:
    keeper.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _renamed(url: str, database: str) -> str:
    return sa.engine.make_url(url).set(database=database).render_as_string(hide_password=False)
