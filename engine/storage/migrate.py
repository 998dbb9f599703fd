"""Bring a database to the present schema: bootstrap, migrations, functions and views."""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from psycopg import sql
from sqlalchemy.engine import URL, Connection, make_url

from engine.storage import waits
from engine.storage.errors import DRIVER_ERRORS, StorageError, explain
from engine.storage.scripts import run_script

HERE = Path(__file__).parent
MIGRATION_LOCK = 731_004_211
"""Key of the advisory lock that lets one process migrate at a time."""

_DECLARED = re.compile(r"^CREATE (?:OR REPLACE )?FUNCTION ([a-z0-9_.]+)", re.MULTILINE)


@contextmanager
def admin_connection(admin_url: str) -> Iterator[Connection]:
    """A connection of the administrator's, errors told in one clear line."""
    engine = sa.create_engine(admin_url, poolclass=sa.NullPool, connect_args=waits.connect_args(admin_url))
    try:
        with engine.connect() as connection:
            yield connection
    except DRIVER_ERRORS as error:
        raise explain(error, admin_url) from None
    finally:
        engine.dispose()


@contextmanager
def owner_connection(admin_url: str) -> Iterator[Connection]:
    """A transaction as the owner of all tables, who is no superuser."""
    with admin_connection(admin_url) as connection, connection.begin():
        connection.exec_driver_sql("SET LOCAL ROLE anamnesis_owner")
        yield connection


def bootstrap(admin_url: str, engine_url: str, console_url: str) -> None:
    """Make extension, roles and schemas, and give the two login roles the passwords of their URLs.

    Raises:
        StorageError: the server is unreachable, too old, or the extension is missing.
    """
    with admin_connection(admin_url) as connection, connection.begin():
        _lock(connection)
        _require_server(connection)
        run_script(connection, (HERE / "bootstrap.sql").read_text(encoding="utf-8"))
        for url in (make_url(engine_url), make_url(console_url)):
            _set_password(connection, url)


def migrate(admin_url: str) -> list[str]:
    """Run what is missing, in one transaction; return what was run (empty: nothing to do)."""
    with owner_connection(admin_url) as connection:
        _lock(connection)
        limit_lock_waits(connection)
        done = _upgrade(connection)
        if _apply_functions(connection):
            done.append("functions")
        return done


def limit_lock_waits(connection: Connection) -> None:
    """From here to the end of the transaction give up rather than hold up every query behind a lock."""
    connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{waits.LOCK_SECONDS}s'")


def _lock(connection: Connection) -> None:
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": MIGRATION_LOCK})


def _require_server(connection: Connection) -> None:
    version = connection.execute(sa.text("SELECT current_setting('server_version_num')::int")).scalar_one()
    if version < 160000:
        raise StorageError(f"PostgreSQL 16 or newer is needed; this server is {version // 10000}. Upgrade it.")
    found = connection.execute(
        sa.text("SELECT default_version, installed_version FROM pg_available_extensions WHERE name = 'vector'")
    ).one_or_none()
    if found is None:
        raise StorageError("The server lacks the extension pgvector. Install pgvector 0.8 or newer there.")
    offered, installed = found
    if _too_old(offered):
        raise StorageError(f"pgvector 0.8 or newer is needed; the server offers {offered}. Upgrade it.")
    if installed is not None and _too_old(installed):
        raise StorageError(
            f"pgvector 0.8 or newer is needed; the database holds {installed}, the server offers {offered}. "
            "Run `ALTER EXTENSION vector UPDATE` there as the administrator."
        )


def _too_old(pgvector: str) -> bool:
    return tuple(int(part) for part in pgvector.split(".")[:2]) < (0, 8)


def _set_password(connection: Connection, url: URL) -> None:
    if url.username not in {"anamnesis_engine", "anamnesis_console"}:
        raise StorageError(
            f"The user of a connection URL must be anamnesis_engine or anamnesis_console, not {url.username!r}."
        )
    if url.password is None:
        return
    statement = sql.SQL("ALTER ROLE {} PASSWORD {}").format(
        sql.Identifier(url.username), sql.Literal(str(url.password))
    )
    run_script(connection, statement.as_string(None))


def _upgrade(connection: Connection) -> list[str]:
    config = Config()
    config.set_main_option("script_location", str(HERE / "migrations").replace("%", "%%"))
    config.attributes["connection"] = connection
    before = _revision(connection)
    command.upgrade(config, "head")
    after = _revision(connection)
    if before == after:
        return []
    script = ScriptDirectory.from_config(config)
    return [
        step.revision
        for step in reversed(list(script.walk_revisions(before or "base", "head")))
        if step.revision != before
    ]


def _revision(connection: Connection) -> str | None:
    if not connection.execute(sa.text("SELECT to_regclass('telemetry.schema_version') IS NOT NULL")).scalar_one():
        return None
    revision: str | None = connection.execute(
        sa.text("SELECT version_num FROM telemetry.schema_version")
    ).scalar_one_or_none()
    return revision


def _apply_functions(connection: Connection) -> bool:
    """Functions and views are replaced as a whole whenever their text has changed."""
    scripts = [path.read_text(encoding="utf-8") for path in sorted((HERE / "functions").glob("*.sql"))]
    digest = hashlib.sha256("\0".join(scripts).encode()).hexdigest()
    connection.exec_driver_sql("CREATE TABLE IF NOT EXISTS telemetry.applied_functions (digest text NOT NULL)")
    if connection.execute(sa.text("SELECT digest FROM telemetry.applied_functions")).scalar_one_or_none() == digest:
        return False
    views = connection.execute(
        sa.text("SELECT quote_ident(table_name) FROM information_schema.views WHERE table_schema = 'metrics'")
    ).scalars()
    for view in views:
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS metrics.{view} CASCADE")
    declared = {name for script in scripts for name in _DECLARED.findall(script)}
    for function in _existing_functions(connection, declared):
        connection.exec_driver_sql(f"DROP FUNCTION {function}")
    for script in scripts:
        run_script(connection, script)
    connection.exec_driver_sql("GRANT USAGE ON SCHEMA metrics TO anamnesis_console")
    connection.exec_driver_sql("GRANT SELECT ON ALL TABLES IN SCHEMA metrics TO anamnesis_console")
    connection.execute(sa.text("DELETE FROM telemetry.applied_functions"))
    connection.execute(sa.text("INSERT INTO telemetry.applied_functions VALUES (:digest)"), {"digest": digest})
    return True


def _existing_functions(connection: Connection, names: set[str]) -> list[str]:
    """Functions of these names with whatever parameters: a changed one would stay as a second beside the new one."""
    found = connection.execute(
        sa.text(
            "SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace "
            "WHERE n.nspname || '.' || p.proname = ANY(:names)"
        ),
        {"names": list(names)},
    )
    return list(found.scalars())
