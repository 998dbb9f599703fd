"""Search among many users' own notes, on made-up data in a database that is made for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np

from engine.evaluation.bench.compare import Comparison, Request, compare
from engine.evaluation.bench.loading import load
from engine.evaluation.bench.scratch import scratch_database
from engine.evaluation.bench.synthetic import Asked, Synthetic
from engine.evaluation.runner import Progress
from engine.storage.embedded import ConnectionUrls
from engine.storage.search_store import Candidate
from engine.storage.sessions import Database
from engine.text.lexemes import query_terms

K = 20
"""Depth of the recall."""
SAME = 1e-6
"""Cosines that differ by less are the same in single precision."""


@dataclass(frozen=True)
class Recall:
    """Share of the exact best twenty that the search returned, on average and at the worst question."""

    mean: float
    worst: float


@dataclass(frozen=True)
class PersonalTimes:
    """Questions on the users' own topics and off them: questions on topic alone hide rows that were lost."""

    chunks: int
    users: int
    largest: int
    """Chunks of the user who has the most."""
    median: int
    own_topic: Comparison
    other_topic: Comparison
    recall: dict[str, dict[str, Recall]]
    """Recall@20 by kind of question and space."""


async def time_personal(
    urls: ConnectionUrls,
    spaces: Mapping[str, int],
    *,
    chunks: int,
    users: int,
    questions: int,
    seed: int,
    pool: int,
    progress: Progress = lambda name, done, total: None,
) -> PersonalTimes:
    """Make a database, fill it, ask, and drop it.

    Raises:
        StorageError: the database refused, or may not be made.
    """
    data = Synthetic(dict(spaces), chunks=chunks, users=users, seed=seed)
    with scratch_database(urls) as place:
        ids = load(place.admin, data, dict(spaces), lambda done, total: progress("Notes, loading", done, total))
        product, owner = Database(place.engine), Database(place.admin)
        try:
            own, own_recall = await _ask(data, ids, True, questions, product, owner, pool, progress)
            other, other_recall = await _ask(data, ids, False, questions, product, owner, pool, progress)
        finally:
            await product.close()
            await owner.close()
    return PersonalTimes(
        chunks=chunks,
        users=users,
        largest=max(data.sizes),
        median=int(np.median(data.sizes)),
        own_topic=own,
        other_topic=other,
        recall={"own_topic": own_recall, "other_topic": other_recall},
    )


async def _ask(
    data: Synthetic,
    ids: Sequence[UUID],
    own_topic: bool,
    count: int,
    product: Database,
    owner: Database,
    pool: int,
    progress: Progress,
) -> tuple[Comparison, dict[str, Recall]]:
    asked = data.questions(count, own_topic=own_topic)
    requests = [
        Request(
            {space: vectors[0].tolist() for space, vectors in question.vectors.items()},
            tuple(query_terms([[word] for word in dict.fromkeys(question.words)])),
            ids[question.user],
        )
        for question in asked
    ]
    shares: dict[str, list[float]] = {}

    def seen(place: int, candidates: list[Candidate]) -> None:
        for space, share in recall(data, asked[place], candidates).items():
            shares.setdefault(space, []).append(share)

    name = "Notes, own topics" if own_topic else "Notes, other topics"
    times = await compare(
        product, owner, requests, pool, seen=seen, progress=lambda done, total: progress(name, done, total)
    )
    return times, {space: Recall(round(float(np.mean(of)), 4), round(min(of), 4)) for space, of in shares.items()}


def recall(data: Synthetic, asked: Asked, candidates: Sequence[Candidate]) -> dict[str, float]:
    """Share of the best twenty, reckoned from the vectors themselves, that stands among the candidates, by space."""
    notes = data.notes(asked.user)
    returned = {candidate.chunk for candidate in candidates}
    shares = {}
    for space, vectors in notes.vectors.items():
        cosines = vectors.astype(np.float64) @ asked.vectors[space][0].astype(np.float64)
        best = np.sort(cosines)[::-1][:K]
        found = sum(str(chunk) in returned for chunk in np.array(notes.ids)[cosines >= best[-1] - SAME])
        shares[space] = min(1.0, found / len(best))
    return shares
