"""The same question gives the same hits whatever the order in which its rows are stored."""

from engine.app import build_engine
from engine.evaluation.bench.corpus import sample
from engine.evaluation.bench.determinism import difference, prove
from engine.evaluation.bench.reorder import copy_corpus
from engine.evaluation.bench.scratch import scratch_database
from engine.evaluation.sets import resolve_sets
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls

QUESTIONS, RUNS = 40, 4
"""`anamnesis bench retrieval --determinism` asks 200 questions 20 times."""


async def test_rows_in_another_order_give_the_same_hits_and_scores(settings: Settings, seeded: ConnectionUrls) -> None:
    cases = sample(resolve_sets(["retrieval"])[0], QUESTIONS, seed=7)
    with scratch_database(seeded) as place:
        tables = copy_corpus(seeded.admin, place.admin)
        engine = build_engine(settings, place)
        try:
            same = await prove(cases, engine.retrieve, place.admin, tables, RUNS)
        finally:
            await engine.close()
    assert (same.runs, same.questions, same.differences) == (RUNS, QUESTIONS, ())
    assert same.hits > (RUNS - 1) * QUESTIONS * 10


def test_a_changed_score_rank_or_length_is_a_difference() -> None:
    before = [{"chunk": "a", "score": 0.5}, {"chunk": "b", "score": 0.4}]
    assert difference(1, "q", before, list(before)) is None
    moved = difference(1, "q", before, before[::-1])
    assert moved is not None
    assert moved.rank == 1
    nudged = difference(1, "q", before, [before[0], {"chunk": "b", "score": 0.4000000000000001}])
    assert nudged is not None
    assert nudged.rank == 2
    shorter = difference(1, "q", before, before[:1])
    assert shorter is not None
    assert (shorter.rank, shorter.now) == (2, {})
