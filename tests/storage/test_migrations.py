"""Migrations make what the typed tables say, and repeat without effect."""

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.migrate import bootstrap, migrate
from engine.storage.schema import metadata


def test_a_second_migration_changes_nothing(urls: ConnectionUrls) -> None:
    bootstrap(urls.admin, urls.engine, urls.console)
    assert migrate(urls.admin) == []


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
