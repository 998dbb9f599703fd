"""Known rows of a month long past, so that no other test's rows are counted with them."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from engine.storage.schema import GLOBAL_USER_ID

FIRST = datetime(2001, 2, 1, tzinfo=UTC)
LAST = datetime(2001, 4, 1, tzinfo=UTC)
TAKEN_OVER = datetime(2001, 3, 22, 9, 30, tzinfo=UTC)
"""When the last run came here: it was recorded elsewhere."""
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


def growth_runs() -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Runs after two steps of growth, long before the others; the first step was measured twice."""
    steps = [(11, 34, 0.9, 1), (12, 34, 0.98, 2), (13, 70, 0.96, 3)]
    grown = []
    for number, documents, recall, day in steps:
        run = _run(number, datetime(2001, 2, day, tzinfo=UTC)) | {"documents": documents, "label": "growth"}
        grown.append((run, [row for row in _metrics(number, recall) if row["lang"] != "all"]))
    return grown


def cases() -> list[dict[str, Any]]:
    """What the run of 5 March was asked: six answerable questions, five that nothing answers, one that crashed.

    The gate cut everything of two of the five; of one of these the best score was kept.
    """
    asked = [("ru", 0.95), ("ru", 0.85), ("ru", 0.35), ("en", 0.75), ("en", 0.65), ("en", 0.0)]
    rows = [_case(f"a{n}", lang, {"false_abstention": 0.0}, _hits(score)) for n, (lang, score) in enumerate(asked)]
    off = [
        ("ru", _hits(0.62) | {"gated": 3}),
        ("ru", {"hits": [], "gated": 4}),
        ("en", {"hits": [], "gated": 4, "top_score": 0.31}),
        ("en", {"hits": [], "gated": 0}),
        ("en", _hits(0.5, 0.55) | {"gated": 0}),
    ]
    rows += [_case(f"n{n}", lang, {"abstention": 0.0}, answer) for n, (lang, answer) in enumerate(off)]
    crashed = _case("crashed", "ru", {}, {}) | {"error": "OSError"}
    return [*rows, crashed]


def _hits(*scores: float) -> dict[str, Any]:
    return {"hits": [{"document": "tsh.en", "score": score} for score in scores if score]}


def _case(name: str, lang: str, scores: dict[str, float], answer: dict[str, Any]) -> dict[str, Any]:
    return {
        "run_id": run_id(2),
        "set_name": "retrieval",
        "case_id": name,
        "lang": lang,
        "style": None,
        "scores": scores,
        "answer": answer | {"text": "words of a question"},
        "error": None,
    }


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
        "settings": {"pool": 40} | ({"relevance_threshold": 0.5} if number == 2 else {}),
        "provenance": {"host": "test", "sets": {name: {"hash": name} for name in ("retrieval", "expect_none")}}
        | ({"imported_at": TAKEN_OVER.isoformat()} if number == 3 else {}),
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
