"""Migrations make what the typed tables say, and repeat without effect."""

from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.migrate import admin_connection, bootstrap, migrate
from engine.storage.schema import CHUNK_PARTITIONS, metadata
from tests.storage.personal import SPACE, add_documents
from tests.storage.scratch import scratch_database


def test_a_second_migration_changes_nothing(urls: ConnectionUrls) -> None:
    bootstrap(urls.admin, urls.engine, urls.console)
    assert migrate(urls.admin) == []


def test_an_extension_that_was_installed_long_ago_is_refused_though_the_server_offers_a_new_one(
    urls: ConnectionUrls,
) -> None:
    with scratch_database(urls, "old_vector") as other:
        with admin_connection(other.admin) as connection, connection.begin():
            connection.exec_driver_sql("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
        with pytest.raises(StorageError, match=r"holds 0\.7\.4.*ALTER EXTENSION vector UPDATE"):
            bootstrap(other.admin, other.engine, other.console)


def test_the_database_has_as_many_partitions_as_python_counts(owner: Connection) -> None:
    add_documents(owner, uuid4(), documents=1, chunks=1)
    counts = owner.execute(
        sa.text(
            "SELECT inhparent::regclass::text, count(*) FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid "
            "WHERE c.relkind = 'r' AND c.relnamespace = 'knowledge'::regnamespace GROUP BY inhparent"
        )
    )
    found = dict(counts.all())
    assert {"knowledge.chunk", f"knowledge.embedding_{SPACE}"} <= set(found)
    assert set(found.values()) == {CHUNK_PARTITIONS}


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=str)
def test_a_typed_table_is_the_table_in_the_database(table: sa.Table, owner: Connection) -> None:
    inspector = sa.inspect(owner)
    columns = {column["name"]: column for column in inspector.get_columns(table.name, table.schema)}
    assert set(columns) == set(table.c.keys())
    assert {name: column["nullable"] for name, column in columns.items()} == {c.name: c.nullable for c in table.c}
    key = inspector.get_pk_constraint(table.name, table.schema)["constrained_columns"]
    assert key == [column.name for column in table.primary_key]


@pytest.mark.parametrize("table", [t for t in metadata.sorted_tables if "user_id" in t.c], ids=str)
def test_keys_of_tenant_tables_start_with_the_tenant(table: sa.Table, owner: Connection) -> None:
    keys = owner.execute(
        sa.text(
            "SELECT a.attname FROM pg_constraint k "
            "  JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1] "
            "WHERE k.conrelid = CAST(:name AS regclass) AND k.contype IN ('p', 'u', 'f')"
        ),
        {"name": f"{table.schema}.{table.name}"},
    ).scalars()
    assert set(keys) == {"user_id"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"password": "wrong"}, "password was refused"),
        ({"database": "absent"}, "does not exist"),
        ({"query": {"host": "/var/tmp/nowhere"}}, "cannot be reached"),
    ],
)
def test_a_fault_of_the_connection_is_one_line_that_says_what_to_do(
    urls: ConnectionUrls, change: dict[str, object], message: str
) -> None:
    url = sa.engine.make_url(urls.admin).set(**change).render_as_string(hide_password=False)  # type: ignore[arg-type]
    with pytest.raises(StorageError, match=message) as caught:
        migrate(url)
    assert "\n" not in str(caught.value)
    assert "wrong" not in str(caught.value)
