"""From cases to figures: every language, every metric, and how many cases stand behind it."""

import pytest

from engine.evaluation.aggregate import aggregate
from engine.evaluation.records import MetricRow
from engine.evaluation.runner import run_set
from engine.evaluation.sets import EvalSet
from tests.evaluation.stand_in import StandIn, answerable_set, asked, none_set, off_corpus

ANSWERS = {
    "r1": [("ferritin", 0.9)],
    "r2": [("tsh", 0.9), ("ferritin", 0.5)],
    "e1": [("tsh", 0.3)],
    "e2": RuntimeError("x"),
}
RETRIEVAL = answerable_set(
    asked("r1", "ferritin"), asked("r2", "ferritin"), asked("e1", "tsh", lang="en"), asked("e2", "tsh", lang="en")
)


async def figures(eval_set: EvalSet) -> dict[tuple[str, str], MetricRow]:
    rows = aggregate(eval_set, await run_set(eval_set, StandIn(ANSWERS)), seed=7)
    return {(row.lang, row.metric): row for row in rows}


async def test_each_language_and_both_have_every_metric_under_its_own_name() -> None:
    rows = await figures(RETRIEVAL)
    names = ("recall@4", "recall@5", "precision@1", "precision@3", "precision@5", "mrr", "false_abstention")
    assert set(rows) == {(lang, name) for lang in ("all", "ru", "en") for name in names}
    assert rows["ru", "mrr"].value == 0.75
    assert rows["ru", "precision@1"].value == 0.5
    assert rows["en", "false_abstention"].value == 1.0


async def test_a_crashed_case_is_shown_and_makes_no_figure_better() -> None:
    rows = await figures(RETRIEVAL)
    assert [(rows[lang, "mrr"].n_scored, rows[lang, "mrr"].n) for lang in ("all", "ru", "en")] == [
        (3, 4),
        (2, 2),
        (1, 2),
    ]


async def test_shares_have_the_score_interval_and_means_the_clustered_one() -> None:
    rows = await figures(RETRIEVAL)
    assert rows["all", "recall@4"].ci == pytest.approx((0.4385, 1.0), abs=1e-4)
    assert rows["all", "mrr"].ci is not None
    assert rows["ru", "mrr"].ci is None, "one topic alone says nothing about the spread between topics"


async def test_where_no_case_was_scored_there_is_no_figure() -> None:
    rows = await figures(answerable_set(asked("e2", "tsh", lang="en")))
    assert {(row.value, row.ci, row.n, row.n_scored) for row in rows.values()} == {(None, None, 1, 0)}


async def test_a_language_without_cases_has_no_row() -> None:
    rows = await figures(none_set(off_corpus("r1"), off_corpus("e1")))
    assert set(rows) == {("all", "abstention"), ("ru", "abstention")}
    assert rows["all", "abstention"].value == 0.5
