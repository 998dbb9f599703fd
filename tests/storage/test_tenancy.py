"""No row is reachable without its tenant, whichever way it is asked for."""

from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection
from sqlalchemy.exc import ProgrammingError

from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from engine.storage.schema import CHUNK_PARTITIONS, GLOBAL_USER_ID, metadata
from engine.storage.search_store import score, search
from engine.storage.sessions import Database, TenantError, tenant_id
from engine.text.lexemes import Term
from tests.storage.personal import SPACE, add_documents, unit_vector

TENANT_TABLES = [table for table in metadata.sorted_tables if "user_id" in table.c]


@pytest.fixture(scope="module")
def tenants(urls: ConnectionUrls) -> Iterator[list[UUID]]:
    """Users enough to have rows in many partitions."""
    users = [uuid4() for _ in range(40)]
    with owner_connection(urls.admin) as connection:
        for user in users:
            add_documents(connection, user, documents=1, chunks=2)
    yield users
    with owner_connection(urls.admin) as connection:
        connection.execute(sa.text("DELETE FROM knowledge.document WHERE user_id = ANY(:users)"), {"users": users})


@pytest.fixture
def corpus_row(urls: ConnectionUrls) -> Iterator[None]:
    """A document of the sentinel's."""
    row = {"user": GLOBAL_USER_ID, "id": uuid4()}
    with owner_connection(urls.admin) as connection:
        connection.execute(
            sa.text(
                "INSERT INTO knowledge.document (user_id, id, name, kind, lang, title, source, version, content_hash) "
                "VALUES (:user, :id, 'tenancy', 'corpus', 'en', 'x', '{}', 1, 'x')"
            ),
            row,
        )
    yield
    with owner_connection(urls.admin) as connection:
        connection.execute(sa.text("DELETE FROM knowledge.document WHERE user_id = :user AND id = :id"), row)


def _set_tenant(connection: Connection, user: UUID) -> None:
    connection.execute(sa.text("SELECT set_config('anamnesis.user_id', :user, true)"), {"user": str(user)})


@pytest.mark.parametrize("table", TENANT_TABLES, ids=str)
def test_a_table_shows_nothing_without_a_tenant(
    table: sa.Table, tenants: list[UUID], as_role: dict[str, Connection]
) -> None:
    assert as_role["engine"].execute(sa.select(sa.func.count()).select_from(table)).scalar_one() == 0


def test_a_tenant_sees_own_rows_only(tenants: list[UUID], as_role: dict[str, Connection]) -> None:
    connection = as_role["engine"]
    _set_tenant(connection, tenants[0])
    seen = connection.execute(sa.text("SELECT DISTINCT user_id FROM knowledge.chunk")).scalars().all()
    assert seen == [tenants[0]]


def test_every_partition_is_closed_to_the_engine(
    urls: ConnectionUrls, tenants: list[UUID], as_role: dict[str, Connection]
) -> None:
    with owner_connection(urls.admin) as owner:
        partitions = owner.execute(
            sa.text(
                "SELECT inhrelid::regclass::text FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid "
                "WHERE c.relkind = 'r' AND c.relnamespace = 'knowledge'::regnamespace"
            )
        ).scalars()
        names = list(partitions)
    assert len(names) >= 2 * CHUNK_PARTITIONS
    connection = as_role["engine"]
    for name in names:
        with pytest.raises(ProgrammingError, match="permission denied"):
            connection.exec_driver_sql(f"SELECT * FROM {name}")
        connection.rollback()


def test_the_corpus_cannot_be_written_nor_taken_as_a_tenant(as_role: dict[str, Connection]) -> None:
    connection = as_role["engine"]
    _set_tenant(connection, GLOBAL_USER_ID)
    assert connection.execute(sa.text("SELECT count(*) FROM knowledge.chunk")).scalar_one() == 0
    with pytest.raises(ProgrammingError, match="row-level security"):
        connection.execute(
            sa.text(
                "INSERT INTO knowledge.document (user_id, id, name, kind, lang, title, source, version, content_hash) "
                "VALUES (:user, gen_random_uuid(), 'x', 'note', 'en', 'x', '{}', 1, 'x')"
            ),
            {"user": GLOBAL_USER_ID},
        )


@pytest.mark.parametrize(
    "spelling",
    [
        f"{{{GLOBAL_USER_ID}}}",
        GLOBAL_USER_ID.hex,
        f"{{{GLOBAL_USER_ID.hex}}}",
        "-".join(GLOBAL_USER_ID.hex[at : at + 4] for at in range(0, 32, 4)),
    ],
)
def test_the_corpus_is_no_tenant_in_any_spelling(
    spelling: str, corpus_row: None, as_role: dict[str, Connection]
) -> None:
    connection = as_role["engine"]
    for statement in (
        "SELECT id FROM knowledge.document",
        "UPDATE knowledge.document SET title = 'x' RETURNING id",
        "DELETE FROM knowledge.document RETURNING id",
        "SELECT chunk FROM knowledge.search('personal', NULL, NULL, '{}', '{}', 10, '{}')",
    ):
        connection.execute(sa.text("SELECT set_config('anamnesis.user_id', :user, true)"), {"user": spelling})
        found = connection.exec_driver_sql(statement).scalars().all()
        connection.rollback()
        assert found == []


def test_a_row_of_another_tenant_cannot_be_written(tenants: list[UUID], as_role: dict[str, Connection]) -> None:
    connection = as_role["engine"]
    _set_tenant(connection, tenants[0])
    with pytest.raises(ProgrammingError, match="row-level security"):
        connection.execute(
            sa.text(
                "INSERT INTO chat.message VALUES (:user, gen_random_uuid(), now(), 'm', 'q', 'a', 'answered', '[]')"
            ),
            {"user": tenants[1]},
        )


def test_the_sentinel_is_refused_as_a_user() -> None:
    with pytest.raises(TenantError):
        tenant_id(str(GLOBAL_USER_ID))


async def test_the_sentinel_is_refused_as_a_tenant_of_a_transaction(urls: ConnectionUrls) -> None:
    database = Database(urls.engine)
    with pytest.raises(TenantError):
        async with database.transaction(GLOBAL_USER_ID):
            pass
    await database.close()


async def test_personal_search_returns_own_chunks_only(urls: ConnectionUrls, tenants: list[UUID]) -> None:
    database = Database(urls.engine)
    vectors = {SPACE: unit_vector(1)}
    async with database.transaction() as connection:
        assert await search(connection, "personal", vectors, [Term("common", "=common", 0)], 100) == []
    async with database.transaction(tenants[3]) as connection:
        found = await search(connection, "personal", vectors, [Term("common", "=common", 0)], 100)
    await database.close()
    assert len(found) == 2
    assert {item.document for item in found} == {f"{tenants[3]}-0"}


async def test_cosines_are_told_of_own_chunks_only(urls: ConnectionUrls, tenants: list[UUID]) -> None:
    database = Database(urls.engine)
    vector = unit_vector(1)
    async with database.transaction(tenants[3]) as connection:
        own = await search(connection, "personal", {SPACE: vector}, [], 100)
        assert [item.cosine[0] for item in own] == [
            item.cosine[1] for item in await score(connection, "personal", SPACE, vector, own)
        ]
    for user in (tenants[4], None):
        async with database.transaction(user) as connection:
            foreign = await score(connection, "personal", SPACE, vector, own)
        assert {item.cosine[1] for item in foreign} == {None}
    await database.close()


def test_the_console_reads_metrics_and_nothing_else(as_role: dict[str, Connection]) -> None:
    connection = as_role["console"]
    connection.execute(sa.text("SELECT count(*) FROM metrics.message"))
    connection.rollback()
    for statement in (
        "SELECT * FROM telemetry.query_log",
        "SELECT * FROM knowledge.chunk",
        "SELECT * FROM chat.message",
        "SELECT * FROM knowledge.search('global', NULL, NULL, '{}', '{}', 1, '{}')",
        "SELECT * FROM knowledge.cosines('global', 'test8', '[1]', '{}')",
        "SET TRANSACTION READ WRITE; CREATE TEMP TABLE t (x int)",
        "SET TRANSACTION READ WRITE; CREATE TABLE public.t (x int)",
    ):
        with pytest.raises(ProgrammingError, match="permission denied"):
            connection.exec_driver_sql(statement)
        connection.rollback()


def test_roles_are_neither_superusers_nor_free_of_row_level_security(owner: Connection) -> None:
    roles = owner.execute(
        sa.text(
            "SELECT rolname, rolsuper OR rolbypassrls OR rolcreatedb OR rolcreaterole FROM pg_roles "
            "WHERE rolname LIKE 'anamnesis%'"
        )
    ).all()
    assert sorted(roles) == [("anamnesis_console", False), ("anamnesis_engine", False), ("anamnesis_owner", False)]
