"""A word that nobody else uses is asked for, and then looked for everywhere."""

import uuid
from pathlib import Path

import sqlalchemy as sa

from engine.app import Engine
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from engine.wire import AskRequest


def logs_holding(state_dir: Path, word: str) -> list[Path]:
    """Log files that hold the word; there is at least the database's."""
    logs = [path for path in state_dir.rglob("*.log") if path.is_file()]
    assert logs
    return [path for path in logs if word.encode() in path.read_bytes()]


async def test_a_query_leaves_its_text_in_the_users_own_history_and_nowhere_else(
    engine: Engine, seeded: ConnectionUrls, settings: Settings
) -> None:
    canary = f"canary{uuid.uuid4().hex}"
    for question in (f"Что показывает ферритин {canary}?", f"сильно давит в груди {canary}", f"{canary} {canary}"):
        await engine.ask(AskRequest(question=question, user="somebody"), origin="cli")
    await engine.ask(AskRequest(question=f"What does ferritin show, {canary}?"), origin="cli")

    with owner_connection(seeded.admin) as connection:
        tables = connection.execute(
            sa.text(
                "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables "
                "WHERE schemaname NOT IN ('pg_catalog', 'information_schema')"
            )
        ).scalars()
        holding = {
            table
            for table in tables.all()
            if connection.execute(
                sa.text(f"SELECT count(*) FROM {table} AS t WHERE t::text ILIKE :canary"), {"canary": f"%{canary}%"}
            ).scalar_one()
        }
    assert holding == {"chat.message"}

    assert settings.state_dir is not None
    assert logs_holding(settings.state_dir, canary) == []


async def test_a_log_row_holds_hash_origin_outcome_and_stages(engine: Engine, seeded: ConnectionUrls) -> None:
    await engine.ask(AskRequest(question="Какая норма ферритина?"), origin="test_chat")
    with owner_connection(seeded.admin) as connection:
        row = connection.execute(
            sa.text("SELECT * FROM telemetry.query_log WHERE origin = 'test_chat' ORDER BY at DESC LIMIT 1")
        ).one()
    assert len(row.query_hash) == 16
    assert (row.lang, row.chat, row.outcome) == ("ru", "medical", "answered")
    assert [stage["name"] for stage in row.stages][-1] == "citations"
    assert row.total_ms >= sum(stage["ms"] for stage in row.stages) * 0.5
    assert row.citations >= 1
