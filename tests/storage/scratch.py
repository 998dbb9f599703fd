"""A second database of the same server, for tests that change what all others stand on."""

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import bootstrap, migrate


@contextmanager
def scratch_database(urls: ConnectionUrls, name: str) -> Iterator[ConnectionUrls]:
    """Migrated and empty; gone afterwards."""
    admin = sa.create_engine(urls.admin, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    other = ConnectionUrls(*(sa.engine.make_url(url).set(database=name).render_as_string(False) for url in
                             (urls.admin, urls.engine, urls.console)))  # fmt: skip
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    try:
        bootstrap(other.admin, other.engine, other.console)
        migrate(other.admin)
        yield other
    finally:
        with admin.connect() as connection:
            connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")
