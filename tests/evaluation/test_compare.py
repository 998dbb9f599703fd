"""Two runs case by case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from engine.evaluation.compare import compare, mcnemar
from engine.evaluation.errors import EvaluationError
from engine.evaluation.records import CaseResult, RecordedRun, recorded
from tests.evaluation.stand_in import head


def run(scores: dict[str, float], metric: str = "recall@4") -> RecordedRun:
    cases = tuple(
        CaseResult("retrieval", name, name[:2], "keywords" if name.endswith("k") else "full", {metric: score}, {})
        for name, score in scores.items()
    )
    return recorded(head(), [], cases)


BEFORE = run({"ru-1": 0.0, "ru-2k": 1.0, "en-1": 0.0, "en-2": 1.0, "gone-1": 1.0})
AFTER = run({"ru-1": 1.0, "ru-2k": 1.0, "en-1": 1.0, "en-2": 0.0, "new-1": 1.0})


def test_gains_and_losses_stand_by_language_and_style() -> None:
    pairs = {(pair.lang, pair.style): pair for pair in compare(BEFORE, AFTER, "recall@4")}
    assert set(pairs) == {
        ("all", "all"),
        ("ru", "all"),
        ("ru", "full"),
        ("ru", "keywords"),
        ("en", "all"),
        ("en", "full"),
    }
    both = pairs["all", "all"]
    assert (both.n, both.gained, both.lost, both.before, both.after) == (4, 2, 1, 0.5, 0.75)
    assert pairs["ru", "keywords"].p_value == 1.0


def test_a_run_against_itself_differs_nowhere() -> None:
    assert all(pair.gained == pair.lost == 0 and pair.p_value == 1.0 for pair in compare(BEFORE, BEFORE, "recall@4"))


def test_runs_without_a_common_case_are_refused() -> None:
    with pytest.raises(EvaluationError, match="share no case"):
        compare(BEFORE, run({"other": 1.0}), "recall@4")
    with pytest.raises(EvaluationError, match="share no case"):
        compare(BEFORE, AFTER, "unheard-of")


def test_a_metric_between_0_and_1_is_refused() -> None:
    with pytest.raises(EvaluationError, match="no metric of 0 and 1"):
        compare(run({"ru-1": 0.5}, "mrr"), run({"ru-1": 1.0}, "mrr"), "mrr")


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_p_value_is_that_of_the_binomial_test(gained: int, lost: int) -> None:
    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)
