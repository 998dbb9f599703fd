"""Rank metrics: the written values, and what holds for every list."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.metrics import (
    DEPTH,
    precision_at,
    rank_scores,
    recall_at,
    reciprocal_rank,
    right_places,
)
from engine.wire.metrics import RETRIEVAL_METRICS

topics = st.sampled_from(["ferritin", "tsh", "hba1c", "alt-ast", None])
rankings = st.lists(topics, max_size=DEPTH)
expected = st.sets(st.sampled_from(["ferritin", "tsh", "hba1c"]))


@pytest.mark.parametrize(
    ("ranked", "relevant", "values"),
    [
        # recall@4, recall@5, precision@1, precision@3, precision@5, mrr
        (["a", "b", "c"], {"a"}, (1, 1, 1, 1 / 3, 1 / 5, 1)),
        (["b", "a", "c"], {"a", "c"}, (1, 1, 0, 2 / 3, 2 / 5, 1 / 2)),
        (["b", "c", "d", "e", "a"], {"a"}, (0, 1, 0, 0, 1 / 5, 1 / 5)),
        (["b", "c", "d", "e", "f", "g", "h", "i", "j", "a"], {"a"}, (0, 0, 0, 0, 0, 1 / 10)),
        (["b"], {"a"}, (0, 0, 0, 0, 0, 0)),
        ([], {"a"}, (0, 0, 0, 0, 0, 0)),
        (["a", "b"], set(), (0, 0, 0, 0, 0, 0)),
        (["a", "a", "a"], {"a"}, (1, 1, 1, 1 / 3, 1 / 5, 1)),
        ([None, "a"], {"a"}, (1, 1, 0, 1 / 3, 1 / 5, 1 / 2)),
    ],
)
def test_the_written_values(ranked: list[str | None], relevant: set[str], values: tuple[float, ...]) -> None:
    scores = rank_scores(right_places(ranked, relevant))
    names = ("recall@4", "recall@5", "precision@1", "precision@3", "precision@5", "mrr")
    assert tuple(scores[name] for name in names) == pytest.approx(values)
    assert set(scores) | {"false_abstention"} == set(RETRIEVAL_METRICS)


@given(rankings, expected)
def test_every_value_is_a_number_between_0_and_1(ranked: list[str | None], relevant: set[str]) -> None:
    for value in rank_scores(right_places(ranked, relevant)).values():
        assert math.isfinite(value)
        assert 0 <= value <= 1


@given(rankings, expected, st.integers(1, DEPTH - 1))
def test_a_longer_look_never_finds_less(ranked: list[str | None], relevant: set[str], k: int) -> None:
    places = right_places(ranked, relevant)
    assert recall_at(places, k) <= recall_at(places, k + 1)
    assert precision_at(places, k) * k <= precision_at(places, k + 1) * (k + 1) + 1e-9


@given(rankings, expected, st.integers(1, DEPTH))
def test_the_metrics_agree_on_whether_something_was_found(ranked: list[str | None], relevant: set[str], k: int) -> None:
    places = right_places(ranked, relevant)
    found = recall_at(places, k) == 1
    assert found == (precision_at(places, k) > 0)
    assert found == (reciprocal_rank(places) >= 1 / k)


@given(rankings, expected, st.lists(topics, max_size=3))
def test_more_documents_below_change_nothing_above(
    ranked: list[str | None], relevant: set[str], more: list[str | None]
) -> None:
    assert right_places(ranked + more, relevant)[: len(ranked)] == right_places(ranked, relevant)


@given(rankings, expected)
def test_no_more_places_are_right_than_topics_were_asked_for(ranked: list[str | None], relevant: set[str]) -> None:
    assert sum(right_places(ranked, relevant)) <= len(relevant)
