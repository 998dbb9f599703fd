"""The stored corpus copied to another database, and written anew there in another order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.evaluation.bench.scratch import vacuum
from engine.storage.corpus_store import create_space
from engine.storage.migrate import owner_connection
from engine.storage.schema import GLOBAL_USER_ID

_PARENTS = ("document", "chunk")
"""Others refer to them: they are written first, in this order."""
_SPACES = "embedding_space"


@dataclass(frozen=True)
class StoredTable:
    """The corpus' rows of one table, each as a line of COPY."""

    name: str
    columns: str
    rows: list[bytes]


def copy_corpus(source_admin_url: str, target_admin_url: str) -> list[StoredTable]:
    """Copy the corpus into a migrated, empty database; returns what was copied. Raises StorageError."""
    with owner_connection(source_admin_url) as connection:
        # One moment for all tables, whoever seeds meanwhile.
        connection.exec_driver_sql("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        tables = [_read(connection, name) for name in _tables(connection)]
        spaces = connection.execute(sa.text(f"SELECT name, dimension, model FROM knowledge.{_SPACES}")).all()  # noqa: S608
    with owner_connection(target_admin_url) as connection:
        for space in spaces:
            create_space(connection, *space)
        _write(connection, tables)
    vacuum(target_admin_url, analyse=True)
    return tables


def reorder(admin_url: str, tables: Sequence[StoredTable], seed: int) -> None:
    """Delete all rows and write the same ones in an order that the seed decides, then VACUUM. Raises StorageError.

    Statistics are renewed every second time only: plans that differ must not make answers that differ.
    """
    order = random.Random(seed)  # noqa: S311
    shuffled = []
    for table in tables:
        rows = list(table.rows)
        order.shuffle(rows)
        shuffled.append(StoredTable(table.name, table.columns, rows))
    with owner_connection(admin_url) as connection:
        for table in reversed(tables):
            connection.exec_driver_sql(f"DELETE FROM knowledge.{table.name}")  # noqa: S608
        _write(connection, shuffled)
    vacuum(admin_url, analyse=seed % 2 == 0)


def _tables(connection: Connection) -> list[str]:
    """Tables of the knowledge base, partitions not counted, parents first."""
    found = connection.execute(
        sa.text(
            "SELECT relname FROM pg_class WHERE relnamespace = 'knowledge'::regnamespace AND relkind IN ('r', 'p') "
            "AND NOT relispartition AND relname <> :spaces ORDER BY relname"
        ),
        {"spaces": _SPACES},
    ).scalars()
    return sorted(found, key=lambda name: (_PARENTS.index(name) if name in _PARENTS else len(_PARENTS), name))


def _read(connection: Connection, table: str) -> StoredTable:
    names = connection.execute(
        sa.text(
            "SELECT attname FROM pg_attribute WHERE attrelid = CAST(:table AS regclass) AND attnum > 0 "
            "AND NOT attisdropped AND attgenerated = '' ORDER BY attnum"
        ),
        {"table": f"knowledge.{table}"},
    ).scalars()
    columns = list(names)
    listed = ", ".join(columns)
    owned = f" WHERE user_id = '{GLOBAL_USER_ID}'" if "user_id" in columns else ""
    with (
        _cursor(connection) as cursor,
        cursor.copy(
            f"COPY (SELECT {listed} FROM knowledge.{table}{owned}) TO STDOUT".encode()  # noqa: S608
        ) as copy,
    ):
        # The driver may cut the stream anywhere; a line break within a value is escaped, so lines are rows.
        stream = b"".join(bytes(block) for block in copy)
    return StoredTable(table, listed, stream.splitlines(keepends=True))


def _write(connection: Connection, tables: Sequence[StoredTable]) -> None:
    for table in tables:
        with (
            _cursor(connection) as cursor,
            cursor.copy(f"COPY knowledge.{table.name} ({table.columns}) FROM STDIN".encode()) as copy,
        ):
            copy.write(b"".join(table.rows))


def _cursor(connection: Connection) -> psycopg.Cursor[Any]:
    return connection.connection.cursor()  # type: ignore[return-value]
