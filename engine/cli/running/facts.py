"""What a database says of itself, for `status` and `doctor`."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from alembic.script import ScriptDirectory
from sqlalchemy.engine import make_url

from engine.storage.corpus_store import CorpusState, read_state
from engine.storage.migrate import HERE, admin_connection

SERVER = """
SELECT current_setting('server_version') AS version,
       current_setting('server_encoding') AS encoding,
       lower('Ж') = 'ж' AS folds_cyrillic,
       (SELECT extversion FROM pg_extension WHERE extname = 'vector') AS pgvector,
       (SELECT array_agg(rolname::text ORDER BY rolname) FROM pg_roles
         WHERE rolname LIKE 'anamnesis\\_%') AS roles,
       (SELECT array_agg(rolname::text ORDER BY rolname) FROM pg_roles
         WHERE rolname LIKE 'anamnesis\\_%' AND (rolsuper OR rolbypassrls)) AS mighty
"""
CORPUS = "SELECT documents, chunks, hash, spaces, seeded_at::text AS seeded_at FROM metrics.corpus"


@dataclass(frozen=True)
class ServerFacts:
    """A server and the roles on it; `mighty` are roles of ours that row level security does not hold."""

    version: str
    encoding: str
    folds_cyrillic: bool
    pgvector: str | None
    roles: list[str]
    mighty: list[str]


def server_facts(url: str) -> ServerFacts:
    """Ask a server, as any role. Raises StorageError."""
    with admin_connection(url) as connection:
        row = connection.execute(sa.text(SERVER)).one()
        return ServerFacts(
            row.version, row.encoding, row.folds_cyrillic, row.pgvector, row.roles or [], row.mighty or []
        )


def corpus_facts(console_url: str) -> dict[str, Any] | None:
    """What the corpus holds, as the console sees it; None before it was seeded. Raises StorageError."""
    with admin_connection(console_url) as connection:
        row = connection.execute(sa.text(CORPUS)).mappings().one_or_none()
        return dict(row) if row else None


def corpus_state(engine_url: str) -> CorpusState | None:
    """What the corpus holds and of which models, as the engine sees it; None before it was seeded.

    Raises StorageError.
    """
    with admin_connection(engine_url) as connection:
        return read_state(connection)


def schema_revision(admin_url: str) -> str | None:
    """The schema's revision; None before the first migration. Raises StorageError."""
    with admin_connection(admin_url) as connection:
        if not connection.scalar(sa.text("SELECT to_regclass('telemetry.schema_version') IS NOT NULL")):
            return None
        found: str | None = connection.scalar(sa.text("SELECT version_num FROM telemetry.schema_version"))
        return found


def newest_revision() -> str | None:
    """The revision that this version of the program brings."""
    return ScriptDirectory(str(HERE / "migrations")).get_current_head()


def reach(url: str) -> None:
    """Open one connection. Raises StorageError."""
    with admin_connection(url) as connection:
        connection.scalar(sa.text("SELECT 1"))


def place(url: str) -> str:
    """Where a database is, without user and password."""
    parts = make_url(url)
    host = parts.host or parts.query.get("host") or "local socket"
    return f"{host}{f':{parts.port}' if parts.port else ''}/{parts.database}"
