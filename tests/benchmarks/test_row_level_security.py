"""What row level security costs a search, as a ratio within one run."""

from time import perf_counter
from uuid import uuid4

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from engine.storage.scripts import run_script
from engine.storage.vectors import to_literal
from tests.storage.personal import add_documents, unit_vector


def test_search_at_5000_rows_costs_at_most_three_times_the_same_without_row_level_security(
    urls: ConnectionUrls, as_role: dict[str, Connection]
) -> None:
    user = uuid4()
    with owner_connection(urls.admin) as connection:
        add_documents(connection, user, documents=100, chunks=50, space="test384", dimension=384)
        run_script(connection, "ANALYZE knowledge.chunk")
        run_script(connection, "ANALYZE knowledge.embedding_test384")
    vector = to_literal(unit_vector(3, 384))
    parameters = {"vector": vector, "stems": ["n42", "common"], "exacts": ["=n42", "=common"]}
    guarded = sa.text(
        "SELECT count(*) FROM knowledge.search('personal', 'test384', :vector, :stems, :exacts, 40, '{0,1}')"
    )
    with owner_connection(urls.admin) as owner:
        statement = owner.execute(sa.text("SELECT knowledge.search_statement('test384')")).scalar_one()
        run_script(owner, f"PREPARE plain (uuid, text, text[], text[], integer, integer[]) AS {statement}")
        lexemes = "ARRAY['n42', 'common'], ARRAY['=n42', '=common']"
        plain = f"EXECUTE plain ('{user}', '{vector}', {lexemes}, 40, ARRAY[0, 1])"
        engine = as_role["engine"]
        engine.execute(sa.text("SELECT set_config('anamnesis.user_id', :user, false)"), {"user": str(user)})
        ratios = []
        for _ in range(7):
            began = perf_counter()
            rows = owner.exec_driver_sql(plain).fetchall()
            middle = perf_counter()
            count = engine.execute(guarded, parameters).scalar_one()
            ratios.append((perf_counter() - middle) / (middle - began))
    assert count == len(rows) >= 40
    assert sorted(ratios)[3] <= 3.0
