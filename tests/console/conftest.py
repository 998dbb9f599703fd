"""Users, pages and rows for the console's tests."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import bcrypt
import pytest
import sqlalchemy as sa
import streamlit as st
import yaml
from streamlit.testing.v1 import AppTest

from console import auth, navigation
from engine.storage import schema
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from tests.console.rows import FIRST, LAST, cases, growth_runs, messages, runs

PASSWORD = "correct-horse-battery"
ROLES = ("product", "safety", "engineer", "admin")

Page = Callable[..., AppTest]


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    """Caches live as long as the process: no test sees another's."""
    st.cache_resource.clear()
    st.cache_data.clear()
    yield
    st.cache_resource.clear()
    st.cache_data.clear()


@pytest.fixture(scope="session")
def password_hash() -> str:
    """A hash that is quick to check; the product's own cost is tested apart."""
    return bcrypt.hashpw(PASSWORD.encode(), bcrypt.gensalt(4)).decode()


@pytest.fixture
def users_file(tmp_path: Path, password_hash: str, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One user a role, each named after it; and no database, no API, no key."""
    path = tmp_path / "users.yaml"
    users = {role: {"password": password_hash, "first_name": role.title(), "roles": [role]} for role in ROLES}
    path.write_text(yaml.safe_dump({"users": users}), encoding="utf-8")
    for name in ("ANAMNESIS_CONSOLE_URL", "ANAMNESIS_CONSOLE_KEY", "ANAMNESIS_API_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ANAMNESIS_CONSOLE_USERS", str(path))
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", str(tmp_path))
    return path


@pytest.fixture
def page(users_file: Path) -> Page:
    """Open a page file, or the entry script when no page is named, as somebody or as nobody."""

    def open_(name: str | None = None, user: str | None = None, query: dict[str, str] | None = None) -> AppTest:
        entry = navigation.PAGES_DIRECTORY.parent / "entry" / "app.py"
        app = AppTest.from_file(str(navigation.PAGES_DIRECTORY / f"{name}.py" if name else entry), default_timeout=60)
        for key, value in (query or {}).items():
            app.query_params[key] = value
        if user:
            known = auth.load(users_file)[user]
            app.session_state[auth.IDENTITY] = auth.Identity(user, auth.stamp(known), time.time() + 600)
        return app.run()

    return open_


@pytest.fixture(scope="session")
def filled(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    """A database with known rows in a month of its own, long past."""
    with owner_connection(urls.admin) as owner:
        owner.execute(sa.insert(schema.query_log), messages())
        for run, metrics in (*growth_runs(), *runs()):
            owner.execute(sa.insert(schema.eval_run), run)
            owner.execute(sa.insert(schema.eval_metric), metrics)
        owner.execute(sa.insert(schema.eval_case), cases())
    yield urls
    with owner_connection(urls.admin) as owner:
        owner.execute(sa.delete(schema.query_log).where(schema.query_log.c.at.between(FIRST, LAST)))
        owner.execute(sa.delete(schema.eval_run).where(schema.eval_run.c.started_at.between(FIRST, LAST)))


@pytest.fixture
def console(filled: ConnectionUrls) -> Iterator[sa.Connection]:
    """The connection of the console's own role."""
    engine = sa.create_engine(filled.console, poolclass=sa.NullPool)
    with engine.connect() as connection:
        yield connection


@pytest.fixture
def database(page: Page, filled: ConnectionUrls, monkeypatch: pytest.MonkeyPatch) -> ConnectionUrls:
    """Pages that read the filled database."""
    del page
    monkeypatch.setenv("ANAMNESIS_CONSOLE_URL", filled.console)
    return filled
