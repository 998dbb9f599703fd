"""Known rows of a month long past, so that no other test's rows are counted with them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from engine.storage.schema import GLOBAL_USER_ID

FIRST = datetime(2001, 2, 1, tzinfo=UTC)
LAST = datetime(2001, 4, 1, tzinfo=UTC)
PERIOD = {"period": "custom", "from": "2001-03-01", "to": "2001-03-28"}
"""The link of the period in which the rows lie; the 28 days before hold a few more."""

STAGES = [("urgent", 1.0), ("retrieval", 40.0), ("rules", 2.0)]


def run_id(number: int) -> UUID:
    """The id of the run with this number."""
    return uuid5(GLOBAL_USER_ID, f"console-run-{number}")


def messages() -> list[dict[str, Any]]:
    """Ten messages of the app in March, one a day from the 1st on; one test chat; two in February."""
    day = datetime(2001, 3, 1, 12, tzinfo=UTC)
    rows = [
        _message(day, total_ms=100, citations=2, query_hash="a" * 16),
        _message(day + timedelta(days=1), total_ms=200, citations=1, query_hash="a" * 16),
        _message(day + timedelta(days=2), total_ms=300, citations=1, lang="en", judge="judge_error"),
        _message(day + timedelta(days=3), total_ms=400, citations=1, lang="en", guardrail_status="rewritten"),
        _message(day + timedelta(days=4), total_ms=500, outcome="abstained", hits=0, judge="off"),
        _message(day + timedelta(days=5), total_ms=600, outcome="escalated", hits=0, kind="cardiac", judge="off"),
        _message(day + timedelta(days=6), total_ms=700, outcome="refused", hits=0, kind="dose", judge="off"),
        _message(
            day + timedelta(days=7),
            total_ms=800,
            outcome="blocked",
            guardrail_status="blocked",
            rule_ids=["dose.number"],
            shadow_rule_ids=["shadow.detox"],
            judge="off",
        ),
        _message(day + timedelta(days=8), total_ms=900, outcome="ungrounded", guardrail_status="ungrounded"),
        _message(day + timedelta(days=9), total_ms=1000, chat="work", hits=0, outcome="answered", judge="off"),
        _message(day + timedelta(days=10), origin="test_chat", total_ms=5000, citations=1),
        _message(datetime(2001, 2, 10, tzinfo=UTC), total_ms=50, citations=1),
        _message(datetime(2001, 2, 11, tzinfo=UTC), total_ms=150, outcome="abstained", hits=0),
    ]
    return [row | {"id": uuid5(GLOBAL_USER_ID, f"console-message-{number}")} for number, row in enumerate(rows)]


def runs() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Three runs: one in February, two in March; the last one has lost a metric and has cases without a score."""
    recalls = [(1, datetime(2001, 2, 20, tzinfo=UTC), 0.70), (2, datetime(2001, 3, 5, tzinfo=UTC), 0.80)]
    recalls.append((3, datetime(2001, 3, 20, tzinfo=UTC), 0.86))
    return [(_run(number, at), _metrics(number, recall)) for number, at, recall in recalls]


def _message(at: datetime, **changes: Any) -> dict[str, Any]:
    row = {
        "at": at,
        "query_hash": f"{int(at.timestamp()):016x}",
        "origin": "app",
        "chat": "medical",
        "lang": "ru",
        "outcome": "answered",
        "kind": None,
        "guardrail_status": "ok",
        "judge": "ok",
        "rule_ids": [],
        "shadow_rule_ids": [],
        "hits": 4,
        "citations": 0,
        "top_score": 0.5,
        "total_ms": 100.0,
        "stages": [{"name": name, "ms": ms, "detail": {}} for name, ms in STAGES],
        "tokens": {"prompt": 100, "answer": 10},
        "models": {},
    }
    return row | changes


def _run(number: int, at: datetime) -> dict[str, Any]:
    return {
        "id": run_id(number),
        "started_at": at,
        "finished_at": at + timedelta(minutes=2),
        "status": "done",
        "git_revision": f"{number}" * 40,
        "git_dirty": number == 2,
        "corpus_hash": "c" * 64,
        "documents": 90 + number,
        "chunks": 500 + number,
        "settings": {"pool": 40},
        "provenance": {"host": "test"},
        "label": "=cmd" if number == 3 else "",
    }


def _metrics(number: int, recall: float) -> list[dict[str, Any]]:
    values: list[tuple[str, str, str, float | None]] = [
        ("retrieval", "recall@4", "all", recall),
        ("retrieval", "recall@4", "ru", recall - 0.02),
        ("retrieval", "recall@4", "en", recall + 0.02),
        ("retrieval", "mrr", "all", recall - 0.1),
        ("expect_none", "abstention", "all", None if number == 3 else 0.9),
    ]
    return [
        {
            "run_id": run_id(number),
            "set_name": set_name,
            "metric": metric,
            "lang": lang,
            "value": value,
            "ci_low": None if value is None else value - 0.05,
            "ci_high": None if value is None else value + 0.05,
            "n": 100,
            "n_scored": 0 if value is None else 98 if number == 3 else 100,
        }
        for set_name, metric, lang, value in values
    ]
