"""The recommended threshold: the law it keeps, and the curves it is read from."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.gate_report import STEPS, curve, gate_point, recommend

scores = st.lists(st.floats(0, 1), min_size=1, max_size=60)
shares = st.sampled_from([0.0, 0.01, 0.05, 0.07, 0.1, 0.29, 0.5, 0.99])


def test_five_of_a_hundred_may_be_lost_and_no_sixth() -> None:
    answerable = [step / 100 for step in range(100)]
    point = recommend(answerable, [0.01, 0.04, 0.2])
    assert point.threshold == 0.05
    assert point.false_abstention == 0.05
    assert point.missed_abstention == pytest.approx(1 / 3)


@given(scores, st.lists(st.floats(0, 1), max_size=30), shares)
def test_it_loses_at_most_the_share_and_a_higher_one_would_lose_more(
    answerable: list[float], none: list[float], max_lost: float
) -> None:
    point = recommend(answerable, none, max_lost)
    assert point.false_abstention is not None
    assert point.false_abstention <= max_lost + 1e-9
    higher = gate_point(point.threshold + 1.01e-4, answerable, none).false_abstention
    assert higher is not None
    assert higher > max_lost


@given(scores, scores)
def test_a_rising_threshold_loses_more_and_lets_less_through(answerable: list[float], none: list[float]) -> None:
    points = curve(answerable, none)
    assert [point.threshold for point in points] == list(STEPS)
    for one, next_one in pairwise(points):
        assert one.false_abstention is not None
        assert next_one.false_abstention is not None
        assert one.false_abstention <= next_one.false_abstention
        assert one.missed_abstention is not None
        assert next_one.missed_abstention is not None
        assert one.missed_abstention >= next_one.missed_abstention


def test_a_score_at_the_threshold_passes_as_it_does_in_the_engines_gate() -> None:
    point = gate_point(0.4, [0.4], [0.4])
    assert (point.false_abstention, point.missed_abstention) == (0.0, 1.0)


@given(scores, st.randoms(use_true_random=False))
def test_the_order_of_the_scores_does_not_matter(answerable: list[float], random: object) -> None:
    shuffled = list(answerable)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert recommend(shuffled, []) == recommend(answerable, [])


def test_ties_are_lost_or_kept_together() -> None:
    assert recommend([0.3] * 10 + [0.8] * 10, [], 0.4).threshold == 0.3
    assert recommend([0.3] * 10 + [0.8] * 10, [], 0.5).threshold == 0.8


def test_without_unanswerable_cases_the_second_error_is_unknown() -> None:
    point = recommend([0.5], [])
    assert (point.missed_abstention, point.missed_ci) == (None, None)


@pytest.mark.parametrize(("answerable", "max_lost"), [([], 0.05), ([0.5], 1.0), ([0.5], -0.1), ([0.5], float("nan"))])
def test_what_cannot_be_answered_is_refused(answerable: list[float], max_lost: float) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        recommend(answerable, [], max_lost)
