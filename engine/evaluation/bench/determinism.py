"""The same questions over the same corpus in another physical order: the answer must be the same to the last bit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.evaluation.bench.reorder import StoredTable, reorder
from engine.evaluation.runner import Progress, Retrieve
from engine.evaluation.sets import Case
from engine.wire import RetrieveRequest

DEPTH = 100
"""Hits that are compared: all that there are, the gate bypassed."""


@dataclass(frozen=True)
class Difference:
    """A question whose hits were other ones than in the first run."""

    run: int
    case: str
    rank: int
    """The first hit that differs."""
    first: dict[str, Any]
    now: dict[str, Any]


@dataclass(frozen=True)
class Determinism:
    """What many runs of the same questions gave."""

    runs: int
    questions: int
    hits: int
    """Hits that were compared with those of the first run."""
    differences: tuple[Difference, ...]


async def prove(
    cases: Sequence[Case],
    retrieve: Retrieve,
    admin_url: str,
    tables: Sequence[StoredTable],
    runs: int,
    *,
    progress: Progress = lambda name, done, total: None,
    between: Callable[[str, Sequence[StoredTable], int], None] = reorder,
) -> Determinism:
    """Ask all questions `runs` times and write the stored rows in another order before each run but the first.

    `tables` are those of `admin_url`'s database, as `copy_corpus` returned them; `retrieve` asks that database.

    Raises:
        StorageError: the database refused.
    """
    first: dict[str, list[dict[str, Any]]] = {}
    differences: list[Difference] = []
    compared = 0
    for run in range(runs):
        if run:
            between(admin_url, tables, run)
        for place, case in enumerate(cases):
            hits = await _hits(case, retrieve)
            before = first.setdefault(case.id, hits)
            compared += len(before) if run else 0
            found = difference(run, case.id, before, hits)
            if found is not None:
                differences.append(found)
            progress("Determinism", run * len(cases) + place + 1, runs * len(cases))
    return Determinism(runs, len(cases), compared, tuple(differences))


def difference(
    run: int, case: str, before: Sequence[dict[str, Any]], now: Sequence[dict[str, Any]]
) -> Difference | None:
    """The first hit in which two answers differ; a hit that one of them lacks is an empty one."""
    for place in range(max(len(before), len(now))):
        one = before[place] if place < len(before) else {}
        other = now[place] if place < len(now) else {}
        if one != other:
            return Difference(run, case, place + 1, one, other)
    return None


async def _hits(case: Case, retrieve: Retrieve) -> list[dict[str, Any]]:
    """Ids, scores and ranks of all hits; their texts follow from the ids."""
    found = await retrieve(RetrieveRequest(query=case.text, k=DEPTH, min_score=0.0))
    return [hit.model_dump(exclude={"content", "title"}) for hit in found.hits]
