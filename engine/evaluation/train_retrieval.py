"""From labelled questions to a trained retrieval: ask them all, learn, and say where it came from."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from engine.evaluation.leakage import twins
from engine.evaluation.runner import Progress, each_case
from engine.evaluation.sets import (
    CALIBRATION_SETS,
    SETS,
    Case,
    EvalSet,
    RetrievalCase,
    known_sets,
    load_set,
    resolve_sets,
)
from engine.retrieval.query import Query, has_topic
from engine.retrieval.search import Gathered
from engine.retrieval.trained import TrainedModel
from engine.retrieval.training import Passage, Sample, Space, train

TRAINING = SETS / "training"


class Searching(Protocol):
    """What training needs of the search."""

    async def query(self, text: str) -> Query:
        """The question as both arms take it."""

    async def gather(self, query: Query) -> Gathered:
        """The question's vectors and what both arms found, with all scores."""


def training_sets(folder: Path = TRAINING) -> tuple[EvalSet, ...]:
    """The sets that training learns from, less what is, or nearly is, a question that figures are measured on.

    Raises:
        EvaluationError: a file is not in order.
    """
    sets = tuple(load_set(path) for path in sorted(folder.glob("*.jsonl")))
    copies = {twin.calibrating for twin in twins(resolve_sets(known_sets()), sets)}
    return tuple(replace(item, cases=tuple(case for case in item.cases if case.id not in copies)) for item in sets)


async def train_retrieval(
    search: Searching,
    passages: Sequence[Passage],
    names: Sequence[Passage],
    spaces: Sequence[Space],
    *,
    provenance: Mapping[str, Any],
    progress: Progress | None = None,
) -> TrainedModel:
    """Learn from the shipped training sets.

    Raises:
        EvaluationError: a set is not in order.
        StorageError: the database refused.
    """
    sets, held_out = await asyncio.to_thread(training_sets), resolve_sets(CALIBRATION_SETS)
    samples = await _samples(sets, search, progress)
    unseen = await _samples(held_out, search, progress)
    origin = {
        **provenance,
        "questions": {item.name: len(item.cases) for item in sets},
        "held_out": {item.name: len(item.cases) for item in held_out},
        "sets": {item.name: item.hash[:16] for item in (*sets, *held_out)},
        "passages": len(passages),
        "names": len(names),
    }
    return await asyncio.to_thread(train, samples, unseen, passages, names, spaces, origin)


async def _samples(sets: Sequence[EvalSet], search: Searching, progress: Progress | None) -> list[Sample]:
    found: list[Sample] = []
    for eval_set in sets:
        found += [sample for sample in await each_case(eval_set, _asking(search), progress=progress) if sample]
    return found


def _asking(search: Searching) -> Callable[[Case], Awaitable[Sample | None]]:
    async def ask(case: Case) -> Sample | None:
        if not has_topic(case.text):  # it never comes to a score
            return None
        query = await search.query(case.text)
        gathered = await search.gather(query)
        topics = case.topics if isinstance(case, RetrievalCase) else ()
        return Sample(case.id, case.lang, topics, gathered.vectors, gathered.candidates, query.named)

    return ask
