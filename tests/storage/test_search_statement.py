"""The search statement: it prunes partitions and survives any terms."""

import re
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from engine.storage.schema import CHUNK_PARTITIONS
from engine.storage.scripts import run_script
from engine.storage.search_store import search
from engine.storage.sessions import Database
from engine.storage.vectors import to_literal
from engine.text.lexemes import Term, content_words, query_terms
from tests.storage.personal import SPACE, add_documents, unit_vector

COMMON = [Term("common", "=common", 0)]


@pytest.fixture
def spaced(owner: Connection) -> Connection:
    add_documents(owner, uuid4(), documents=1, chunks=1)
    return owner


@pytest.mark.parametrize(
    ("function", "types", "rest"),
    [
        (
            "search_statement",
            "uuid, text, text[], text[], integer, integer[]",
            "ARRAY['common'], ARRAY['=common'], 10, ARRAY[0]",
        ),
        ("cosines_statement", "uuid, text, uuid[]", f"ARRAY['{uuid4()}'::uuid]"),
    ],
    ids=["search", "cosines"],
)
def test_every_tenant_table_is_pruned_to_one_partition_under_a_generic_plan(
    spaced: Connection, function: str, types: str, rest: str
) -> None:
    statement = spaced.execute(sa.text(f"SELECT knowledge.{function}(:space)"), {"space": SPACE}).scalar_one()
    run_script(spaced, "SET LOCAL plan_cache_mode = force_generic_plan")
    run_script(spaced, f"PREPARE asked ({types}) AS {statement}")
    vector = to_literal(unit_vector(1))
    plan = "\n".join(
        row[0]
        for row in spaced.exec_driver_sql(
            f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) EXECUTE asked ('{uuid4()}', '{vector}', {rest})"
        )
    )
    removed = [int(count) for count in re.findall(r"Subplans Removed: (\d+)", plan)]
    scanned = set(re.findall(r"on (?:chunk|embedding_test8)_p(\d\d)", plan))
    assert removed
    assert set(removed) == {CHUNK_PARTITIONS - 1}
    assert len(scanned) == 1


@pytest.mark.parametrize(
    "text",
    ["витамин & ", "What's your dose?", "ratio 5:1", '"незакрытая', "a:*|b", "(", "%_\\", "'); DROP TABLE x; --", "😀",
     "<->", "!", "C:\\temp", "x" * 3000, "a\\'b", "10%", "$1 $2 :x"],
)  # fmt: skip
async def test_no_question_is_a_syntax_error(urls: ConnectionUrls, spaced: Connection, text: str) -> None:
    spaced.commit()
    database = Database(urls.engine)
    terms = query_terms([[word] for word in content_words(text)])
    async with database.transaction(uuid4()) as connection:
        found = await search(connection, "personal", {SPACE: unit_vector(1)}, terms, 5)
    await database.close()
    assert found == []


async def test_all_rows_come_back_whenever_they_exist_and_in_the_same_order(urls: ConnectionUrls) -> None:
    user, other = uuid4(), uuid4()
    with owner_connection(urls.admin) as connection:
        add_documents(connection, user, documents=3, chunks=5)
    database = Database(urls.engine)

    async def found() -> list[str]:
        async with database.transaction(user) as connection:
            rows = await search(connection, "personal", {SPACE: unit_vector(7)}, COMMON, 50)
        return [row.chunk for row in rows]

    before = await found()
    with owner_connection(urls.admin) as connection:
        add_documents(connection, other, documents=10, chunks=10)
    assert len(before) == 15
    assert await found() == before
    await database.close()
