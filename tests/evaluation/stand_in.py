"""A stand-in for the engine's retrieval, and cases to put to it."""

import asyncio
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from engine.evaluation.aggregate import aggregate
from engine.evaluation.records import Corpus, RecordedRun, RunHead, recorded
from engine.evaluation.runner import run_set
from engine.evaluation.sets import EvalSet, NoneCase, RetrievalCase
from engine.wire import Hit, RetrieveRequest, RetrieveResponse

THRESHOLD = 0.4
RUN_ID = UUID("12345678-0000-4000-8000-000000000000")


def hit(rank: int, topic: str, score: float) -> Hit:
    return Hit(
        rank=rank,
        document=f"{topic}.en",
        topic=topic,
        title=topic,
        lang="en",
        chunk=f"{topic}-1",
        score=score,
        rrf=0.01,
        dense_rank=rank,
        lexical_rank=None,
        content="text",
    )


class StandIn:
    """Answers a text with the topics and scores it was given; gates by its own threshold as the engine does."""

    def __init__(self, answers: Mapping[str, Sequence[tuple[str, float]] | Exception]) -> None:
        self.answers = answers
        self.requests: list[RetrieveRequest] = []
        self.running = 0
        self.most_running = 0

    async def __call__(self, request: RetrieveRequest) -> RetrieveResponse:
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        await asyncio.sleep(len(self.requests) % 3 * 0.001)  # answers are ready in another order
        self.running -= 1
        answer = self.answers[request.query]
        if isinstance(answer, Exception):
            raise answer
        threshold = THRESHOLD if request.min_score is None else request.min_score
        kept = [pair for pair in answer[: request.k] if pair[1] >= threshold]
        hits = [hit(rank, topic, score) for rank, (topic, score) in enumerate(kept, start=1)]
        return RetrieveResponse(
            hits=hits,
            gated=len(answer) - len(kept),
            abstain=all(score < THRESHOLD for _, score in answer),
            timings_ms={},
        )


def asked(case_id: str, *topics: str, lang: str = "ru", text: str = "") -> RetrievalCase:
    return RetrievalCase.model_validate(
        {"id": case_id, "lang": lang, "text": text or case_id, "topics": topics, "style": "full"}
    )


def off_corpus(case_id: str, *, lang: str = "ru", kind: str = "vet") -> NoneCase:
    return NoneCase.model_validate({"id": case_id, "lang": lang, "text": case_id, "kind": kind})


def answerable_set(*cases: RetrievalCase, name: str = "retrieval") -> EvalSet:
    return EvalSet(name, "retrieval", cases)


def none_set(*cases: NoneCase, name: str = "expect_none") -> EvalSet:
    return EvalSet(name, "expect_none", cases)


def head(**changes: Any) -> RunHead:
    values: dict[str, Any] = {
        "started_at": datetime(2026, 11, 30, 12, 5, 7, tzinfo=UTC),
        "corpus": Corpus("c0ffee", 34, 170),
        "git_revision": "abc123",
        "git_dirty": False,
        "settings": {"pool": 40},
        "provenance": {"seed": 7},
    }
    return RunHead(**(values | changes))


async def measured() -> RecordedRun:
    """A run with a right answer, a crash, and an answer where there should be none; its names look like marks."""
    engine = StandIn({"b": [("tsh", 0.9)], "a": OSError(), "[red]": [("tsh", 0.8)]})
    sets = (
        answerable_set(asked("b", "tsh"), asked("a", "tsh", lang="en")),
        none_set(off_corpus("[red]")),
    )
    metrics, cases = [], []
    for eval_set in sets:
        results = await run_set(eval_set, engine)
        metrics.extend(aggregate(eval_set, results, seed=7))
        cases.extend(results)
    return recorded(head(id=RUN_ID, status="done", label="[bold]"), metrics[::-1], cases)
