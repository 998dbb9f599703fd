"""Two runs over the same questions, case by case: what one finds and the other does not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import comb
from typing import Literal

from engine.evaluation.errors import EvaluationError
from engine.evaluation.metrics import PROPORTIONS
from engine.evaluation.records import ALL, CaseResult, RecordedRun, RunHead
from engine.wire.metrics import LOWER_IS_BETTER, METRICS

COMPARABLE = tuple(name for name in METRICS if name in PROPORTIONS | {"precision@1"})
"""Metrics of 0 and 1 for a case, in the order in which they are shown."""

Why = Literal["worse", "unscored", "missing"]


@dataclass(frozen=True)
class Paired:
    """One metric of 0 or 1 over the cases that both runs scored; `style` is `all` for every style together."""

    set_name: str
    lang: str
    style: str
    n: int
    before: float
    after: float
    gained: int
    """Cases that became right."""
    lost: int
    p_value: float
    """Exact two-sided McNemar test: the chance of a difference this large were gains and losses equally likely."""


@dataclass(frozen=True)
class Uncompared:
    """Cases of one run that stand in no pair: it could not score them, or does not have them."""

    unscored: int
    missing: int


@dataclass(frozen=True)
class Regression:
    """A case that the first run scored, and the second one scored worse or not at all."""

    set_name: str
    case_id: str
    lang: str
    style: str | None
    why: Why


@dataclass(frozen=True)
class Comparison:
    """The pairs in groups, and what was left out of them: a case that is not compared is counted, never dropped."""

    heads: tuple[RunHead, RunHead]
    """The run before and the run after."""
    pairs: tuple[Paired, ...]
    before: Uncompared
    after: Uncompared
    reworded: int
    """Cases that ask another text in the second run."""
    regressions: tuple[Regression, ...]


@dataclass(frozen=True)
class _Match:
    """One case in both runs; None where a run does not have it."""

    before: CaseResult | None
    after: CaseResult | None

    @property
    def reworded(self) -> bool:
        return bool(self.before and self.after) and _text(self.before) != _text(self.after)


def compare(before: RecordedRun, after: RecordedRun, metric: str) -> Comparison:
    """Compare by set, language and style, in a fixed order; of sets that this metric is for.

    Raises:
        EvaluationError: the runs share no case that both scored by this metric, or it is no metric of 0 and 1.
    """
    found = _matches(before, after, metric)
    matches = [match for match in found if not match.reworded]
    pairs = [
        (one, other)
        for one, other in ((match.before, match.after) for match in matches)
        if one is not None and other is not None and metric in one.scores and metric in other.scores
    ]
    if not pairs:
        raise EvaluationError(f"The two runs share no case with {metric!r}.")
    if any(case.scores[metric] not in (0.0, 1.0) for pair in pairs for case in pair):
        raise EvaluationError(f"{metric!r} is no metric of 0 and 1; compare one of {', '.join(COMPARABLE)}.")
    return Comparison(
        heads=(before.head, after.head),
        pairs=_grouped(pairs, metric),
        before=_uncompared([match.before for match in matches], metric),
        after=_uncompared([match.after for match in matches], metric),
        reworded=len(found) - len(matches),
        regressions=tuple(_regressions(matches, metric)),
    )


def mcnemar(gained: int, lost: int) -> float:
    """Exact two-sided p-value.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12 (1947), 153-157; exact form: binomial test of the discordant pairs.
    """
    total, fewer = gained + lost, min(gained, lost)
    tail = sum(comb(total, count) for count in range(fewer + 1)) / 2**total
    return float(min(1.0, 2 * tail))


def _matches(before: RecordedRun, after: RecordedRun, metric: str) -> list[_Match]:
    """Every case of either run, in the sets that one of them scored by this metric.

    A case that crashed has no score at all: that it should have had this one is told by the others of its set.
    """
    sets = {case.set_name for run in (before, after) for case in run.cases if metric in case.scores}
    one, other = ({(case.set_name, case.case_id): case for case in run.cases} for run in (before, after))
    keys = sorted(key for key in one.keys() | other.keys() if key[0] in sets)
    return [_Match(one.get(key), other.get(key)) for key in keys]


def _uncompared(cases: Sequence[CaseResult | None], metric: str) -> Uncompared:
    unscored = sum(case is not None and metric not in case.scores for case in cases)
    return Uncompared(unscored, sum(case is None for case in cases))


def _regressions(matches: Iterable[_Match], metric: str) -> Iterable[Regression]:
    for match in matches:
        one, other = match.before, match.after
        if one is None or metric not in one.scores:
            continue
        if (why := _why(one, other, metric)) is not None:
            yield Regression(one.set_name, one.case_id, one.lang, one.style, why)


def _why(one: CaseResult, other: CaseResult | None, metric: str) -> Why | None:
    if other is None:
        return "missing"
    if metric not in other.scores:
        return "unscored"
    return "worse" if _gain(one, other, metric) < 0 else None


def _gain(one: CaseResult, other: CaseResult, metric: str) -> float:
    """How much better the second score is."""
    rise = other.scores[metric] - one.scores[metric]
    return -rise if metric in LOWER_IS_BETTER else rise


def _text(case: CaseResult | None) -> object:
    return case.answer.get("text") if case is not None else None


def _grouped(pairs: Iterable[tuple[CaseResult, CaseResult]], metric: str) -> tuple[Paired, ...]:
    groups: dict[tuple[str, str, str], list[tuple[CaseResult, CaseResult]]] = {}
    for pair in pairs:
        for key in _groups(pair[0]):
            groups.setdefault(key, []).append(pair)
    return tuple(
        _paired(key, members, metric) for key, members in sorted(groups.items(), key=lambda item: _place(item[0]))
    )


def _groups(case: CaseResult) -> Iterable[tuple[str, str, str]]:
    for lang in (ALL, case.lang):
        yield case.set_name, lang, ALL
        if case.style is not None and lang != ALL:
            yield case.set_name, lang, case.style


def _place(key: tuple[str, str, str]) -> tuple[str, bool, str, bool, str]:
    set_name, lang, style = key
    return set_name, lang != ALL, lang, style != ALL, style


def _paired(key: tuple[str, str, str], pairs: Sequence[tuple[CaseResult, CaseResult]], metric: str) -> Paired:
    gains = [_gain(one, other, metric) for one, other in pairs]
    gained, lost = sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains)
    count = len(pairs)
    return Paired(
        *key,
        n=count,
        before=sum(one.scores[metric] for one, _ in pairs) / count,
        after=sum(other.scores[metric] for _, other in pairs) / count,
        gained=gained,
        lost=lost,
        p_value=mcnemar(gained, lost),
    )
