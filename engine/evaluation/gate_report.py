"""What a relevance threshold costs: answerable questions lost against unanswerable ones let through.

A document passes when its score is at or above the threshold, so a question is lost when its best score is
below. The score of a question without any document is 0.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import floor

from engine.evaluation.statistics import Interval, wilson

MAX_LOST = 0.05
DIGITS = 4
"""Decimals of a recommended threshold."""
STEPS = tuple(step / 50 for step in range(51))


@dataclass(frozen=True)
class GatePoint:
    """Both errors of one threshold; None where there is no case to count."""

    threshold: float
    false_abstention: float | None
    """Share of answerable questions that are lost."""
    missed_abstention: float | None
    """Share of unanswerable questions that pass."""
    false_ci: Interval | None
    missed_ci: Interval | None


def gate_point(threshold: float, answerable: Sequence[float], none: Sequence[float]) -> GatePoint:
    """Both errors of one threshold."""
    lost = sum(score < threshold for score in answerable)
    passed = sum(score >= threshold for score in none)
    return GatePoint(
        threshold,
        lost / len(answerable) if answerable else None,
        passed / len(none) if none else None,
        wilson(lost, len(answerable)),
        wilson(passed, len(none)),
    )


def curve(
    answerable: Sequence[float], none: Sequence[float], thresholds: Iterable[float] = STEPS
) -> tuple[GatePoint, ...]:
    """Both errors over rising thresholds: the first can only rise, the second only fall."""
    return tuple(gate_point(threshold, answerable, none) for threshold in sorted(thresholds))


def recommend(
    answerable_scores: Sequence[float], none_scores: Sequence[float], max_lost: float = MAX_LOST
) -> GatePoint:
    """The highest threshold that loses at most `max_lost` of the answerable questions, with both its errors.

    It is rounded down to four decimals, so that rounding loses nothing more.

    Raises:
        ValueError: no answerable question, or `max_lost` is not at least 0 and below 1.
    """
    if not answerable_scores:
        raise ValueError("A threshold is set by answerable questions; there is none.")
    if not 0 <= max_lost < 1:
        raise ValueError("The share that may be lost is at least 0 and below 1.")
    ordered = sorted(answerable_scores)
    # Floating point: 0.29 * 100 is 28.999999999999996.
    may_lose = min(floor(max_lost * len(ordered) + 1e-9), len(ordered) - 1)
    highest = ordered[may_lose]
    threshold = min(highest, floor(highest * 10**DIGITS) / 10**DIGITS)
    return gate_point(threshold, answerable_scores, none_scores)
