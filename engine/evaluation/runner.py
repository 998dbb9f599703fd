"""Put every case of a set to the engine; a case that crashes is a result, not the end of the run."""

import asyncio
from collections.abc import Awaitable, Callable
from math import isfinite
from typing import Any, TypeVar

from engine.evaluation.metrics import DEPTH, rank_scores, right_places
from engine.evaluation.records import CaseResult
from engine.evaluation.sets import Case, EvalSet, NoneCase, RetrievalCase
from engine.wire import Hit, RetrieveRequest, RetrieveResponse

Retrieve = Callable[[RetrieveRequest], Awaitable[RetrieveResponse]]
Progress = Callable[[str, int, int], None]
"""Called after every case with the set's name, how many are done, and how many there are."""

CONCURRENCY = 4
EVERYTHING = 100
"""The gate looks at all documents that were found, not only at those that are shown."""
DIGITS = 4
"""Decimals of a recorded score."""

T = TypeVar("T")


async def run_set(
    eval_set: EvalSet, retrieve: Retrieve, *, concurrency: int = CONCURRENCY, progress: Progress | None = None
) -> tuple[CaseResult, ...]:
    """One result for every case, in the order of the set, whichever was ready first."""

    async def result(case: Case) -> CaseResult:
        return await _result(eval_set.name, case, retrieve)

    return await each_case(eval_set, result, concurrency=concurrency, progress=progress)


async def each_case(
    eval_set: EvalSet,
    work: Callable[[Case], Awaitable[T]],
    *,
    concurrency: int = CONCURRENCY,
    progress: Progress | None = None,
) -> tuple[T, ...]:
    """Do `work` on every case, a few at a time; the results stand in the order of the set."""
    total = len(eval_set.cases)
    done: dict[int, T] = {}
    queue = iter(enumerate(eval_set.cases))

    async def worker() -> None:
        for place, case in queue:
            done[place] = await work(case)
            if progress is not None:
                progress(eval_set.name, len(done), total)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(concurrency, total)):
                group.create_task(worker())
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None  # whoever called knows the kinds, not groups of them
    return tuple(done[place] for place in range(total))


async def rank(case: Case, retrieve: Retrieve, k: int = DEPTH) -> RetrieveResponse:
    """The best documents with the gate bypassed: this measures the ranking and not the threshold."""
    return await retrieve(RetrieveRequest(query=case.text, history=list(case.history), k=k, min_score=0.0))


async def _result(set_name: str, case: Case, retrieve: Retrieve) -> CaseResult:
    try:
        if isinstance(case, RetrievalCase):
            scores, answer = await _answerable(case, retrieve)
        else:
            scores, answer = await _unanswerable(case, retrieve)
    except Exception as error:
        fault = type(error).__name__
        return CaseResult(set_name, case.id, case.lang, case.style, {}, _question(case), fault)
    return CaseResult(set_name, case.id, case.lang, case.style, scores, answer)


async def _answerable(case: RetrievalCase, retrieve: Retrieve) -> tuple[dict[str, float], dict[str, Any]]:
    ranked = await rank(case, retrieve, EVERYTHING)
    places = right_places((hit.topic for hit in ranked.hits[:DEPTH]), case.topics)
    scores = {**rank_scores(places), "false_abstention": float(ranked.abstain)}
    answer = {
        **_question(case),
        "topics": list(case.topics),
        "abstain": ranked.abstain,
        "top_score": _top_score(ranked),
        "hits": [{**_hit(hit), "right": right} for hit, right in zip(ranked.hits, places, strict=False)],
    }
    return scores, answer


async def _unanswerable(case: NoneCase, retrieve: Retrieve) -> tuple[dict[str, float], dict[str, Any]]:
    response = await rank(case, retrieve, EVERYTHING)
    answer = {
        **_question(case),
        "kind": case.kind,
        "abstain": response.abstain,
        "top_score": _top_score(response),
        "hits": [_hit(hit) for hit in response.hits[:DEPTH]],
    }
    return {"abstention": float(response.abstain)}, answer


def _top_score(response: RetrieveResponse) -> float:
    """The best score that the gate saw; it never lets one pass that is not finite."""
    return round(max((hit.score for hit in response.hits if isfinite(hit.score)), default=0.0), DIGITS)


def _question(case: Case) -> dict[str, Any]:
    """The question, and what the user said before where there is anything: a result explains itself."""
    earlier = case.asked[:-1]
    return {"text": case.text, "after": list(earlier)} if earlier else {"text": case.text}


def _hit(hit: Hit) -> dict[str, Any]:
    return {"document": hit.document, "score": round(hit.score, DIGITS)}
