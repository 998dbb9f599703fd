"""Where the time of a question goes: the product as it is, on the stored corpus."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

from engine.evaluation.bench.compare import Comparison, Request, compare
from engine.evaluation.bench.timing import Spread, StatementClock, milliseconds, spread
from engine.evaluation.runner import Progress, Retrieve
from engine.evaluation.sets import Case, EvalSet
from engine.models.base import Embedder
from engine.storage.sessions import Database
from engine.text.lexemes import content_words, query_terms
from engine.wire import RetrieveRequest

STATEMENTS = {
    "knowledge.lexeme": "vocabulary look-up",
    "knowledge.search(": "search statement",
    "knowledge.cosines(": "cosines statement",
}
"""Stages that are statements, by what only they say."""
PASSED = {"query": "reading the question, in all", "search": "encoding, searching and ranking, in all"}
"""Stages that the engine itself times, by its names. The encoders run at the same time as the search statement: what is
listed apart adds up to more than this."""
TOTAL = "total"
WARM_UP = 10


@dataclass(frozen=True)
class CorpusTimes:
    """Stages of a question in the order in which they pass, and the search statement against bare SQL."""

    questions: int
    stages: dict[str, Spread]
    search: Comparison


def sample(eval_set: EvalSet, count: int, seed: int) -> tuple[Case, ...]:
    """Some cases of a set, the same for the same seed; all of them where it has no more."""
    cases = eval_set.cases
    return tuple(random.Random(seed).sample(cases, min(count, len(cases))))  # noqa: S311


async def time_corpus(
    questions: Sequence[str],
    retrieve: Retrieve,
    embedders: Sequence[Embedder],
    product: Database,
    owner: Database,
    pool: int,
    progress: Progress = lambda name, done, total: None,
) -> CorpusTimes:
    """Time the whole way of each question and its stages, one question at a time.

    Raises:
        StorageError: the database refused.
    """
    encoding, requests = _encode(questions, embedders, progress)
    stages = {f"encode {space}": spread(times) for space, times in encoding.items()}
    stages |= await _stages(questions, retrieve, progress)
    against = await compare(
        product, owner, requests, pool, progress=lambda done, total: progress("Corpus, bare SQL", done, total)
    )
    return CorpusTimes(len(questions), stages, against)


def _encode(
    questions: Sequence[str], embedders: Sequence[Embedder], progress: Progress
) -> tuple[dict[str, list[float]], list[Request]]:
    """Times of encoding by space, and the questions as the search takes them."""
    times: dict[str, list[float]] = {embedder.space: [] for embedder in embedders}
    requests = []
    for embedder in embedders:
        embedder.queries(questions[:WARM_UP])
    for place, text in enumerate(questions):
        vectors = {}
        for embedder in embedders:
            began = perf_counter()
            vectors[embedder.space] = embedder.queries([text])[0].tolist()
            times[embedder.space].append(milliseconds(began))
        requests.append(Request(vectors, tuple(query_terms([[word] for word in content_words(text)]))))
        progress("Corpus, encoders", place + 1, len(questions))
    return times, requests


async def _stages(questions: Sequence[str], retrieve: Retrieve, progress: Progress) -> dict[str, Spread]:
    order = (*STATEMENTS.values(), *PASSED.values(), TOTAL)
    times: dict[str, list[float]] = {name: [] for name in order}
    for text in questions[:WARM_UP]:
        await retrieve(RetrieveRequest(query=text))
    with StatementClock(STATEMENTS) as clock:
        for place, text in enumerate(questions):
            clock.take()
            began = perf_counter()
            found = await retrieve(RetrieveRequest(query=text, min_score=0.0))
            times[TOTAL].append(milliseconds(began))
            for name, ms in clock.take().items():
                times[name].append(ms)
            for name, ms in found.timings_ms.items():
                times[PASSED[name]].append(ms)
            progress("Corpus, stages", place + 1, len(questions))
    # A stage that this version of the product does not have is left out.
    return {name: spread(times[name]) for name in order if times[name]}
