"""What a reranker must show before it is trusted."""

import math

import pytest

from engine.models.reranking.startup import FITTING, MARGIN, UNRELATED, startup_fault


def test_a_working_model_passes() -> None:
    assert startup_fault([5.2, 3.1], [-8.2, -11.0]) is None
    assert startup_fault([30.0, 28.0], [9.0, 3.0]) is None


@pytest.mark.parametrize(
    ("fitting", "unrelated", "told"),
    [
        ([math.nan, 3.0], [-8.0, -8.0], "not finite"),
        ([5.0, 3.0], [-math.inf, -8.0], "not finite"),
        ([0.99, 1.0], [0.0, 0.01], "between 0 and 1"),
        ([0.1, 0.2], [0.1, -0.2], "-0.00|0.00"),
        ([-8.0, -8.0], [5.0, 5.0], "-13.00"),
        ([5.0, -8.0], [-9.0, -9.0], "1.00"),  # knows one language only
        ([MARGIN - 0.1] * 2, [0.0, -1.0], "1.90"),
    ],
)
def test_a_wrong_scale_or_head_is_told(fitting: list[float], unrelated: list[float], told: str) -> None:
    fault = startup_fault(fitting, unrelated)
    assert fault is not None
    assert any(part in fault for part in told.split("|"))


def test_each_language_has_both_pairs() -> None:
    assert [question for question, _ in FITTING] == [question for question, _ in UNRELATED]
    cyrillic = [any("а" <= letter <= "я" for letter in question) for question, _ in FITTING]
    assert sorted(cyrillic) == [False, True]
