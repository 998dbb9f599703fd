"""Deployments to start and stop."""

from collections.abc import Callable, Iterator

import pytest

from engine.cli.running.runfile import RunRecord
from engine.storage.embedded import EmbeddedPostgres
from engine.storage.migrate import admin_connection
from tests.cli.observe import record
from tests.cli.site import Site, make_site, remove


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """One for all tests of a module."""
    made = make_site()
    try:
        yield made
    finally:
        remove(made)


@pytest.fixture
def fresh_site() -> Iterator[Site]:
    """One that nothing was ever started in."""
    made = make_site()
    try:
        yield made
    finally:
        remove(made)


@pytest.fixture
def as_admin(site: Site) -> Callable[[str], None]:
    """Run a statement as the administrator of the site's database."""

    def run(statement: str) -> None:
        with admin_connection(EmbeddedPostgres(site.state_dir).urls().admin) as connection, connection.begin():
            connection.exec_driver_sql(statement)

    return run


@pytest.fixture
def detached(site: Site) -> Iterator[RunRecord]:
    """Everything running in the background."""
    answer = site.run("up", "--detach")
    assert answer.returncode == 0, answer.stdout + answer.stderr
    yield record(site)
    assert site.run("down").returncode == 0


@pytest.fixture
def stopped(site: Site) -> Site:
    site.run("down")
    return site
