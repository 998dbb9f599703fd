"""Two runs over the same questions, case by case: what one finds and the other does not."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

from engine.evaluation.errors import EvaluationError
from engine.evaluation.records import ALL, CaseResult, RecordedRun


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
    lost: int
    p_value: float
    """Exact two-sided McNemar test: the chance of a difference this large were gains and losses equally likely."""


def compare(before: RecordedRun, after: RecordedRun, metric: str) -> list[Paired]:
    """Compare by set, language and style, in a fixed order.

    Raises:
        EvaluationError: the runs share no case that both scored by this metric, or it is no metric of 0 and 1.
    """
    others = {(case.set_name, case.case_id): case for case in after.cases}
    pairs = [
        (case, others[case.set_name, case.case_id])
        for case in before.cases
        if (case.set_name, case.case_id) in others
        and case.answer.get("text") == others[case.set_name, case.case_id].answer.get("text")
        and metric in case.scores
        and metric in others[case.set_name, case.case_id].scores
    ]
    if not pairs:
        raise EvaluationError(f"The two runs share no case with {metric!r}.")
    if any(case.scores[metric] not in (0.0, 1.0) for pair in pairs for case in pair):
        raise EvaluationError(f"{metric!r} is no metric of 0 and 1; compare recall@4, precision@1 or an abstention.")
    groups: dict[tuple[str, str, str], list[tuple[float, float]]] = {}
    for one, other in pairs:
        for key in _groups(one):
            groups.setdefault(key, []).append((one.scores[metric], other.scores[metric]))
    return [_paired(key, values) for key, values in sorted(groups.items(), key=lambda item: _place(item[0]))]


def mcnemar(gained: int, lost: int) -> float:
    """Exact two-sided p-value.

    Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
    Psychometrika 12 (1947), 153-157; exact form: binomial test of the discordant pairs.
    """
    total, fewer = gained + lost, min(gained, lost)
    tail = sum(comb(total, count) for count in range(fewer + 1)) / 2**total
    return float(min(1.0, 2 * tail))


def _groups(case: CaseResult) -> Iterable[tuple[str, str, str]]:
    for lang in (ALL, case.lang):
        yield case.set_name, lang, ALL
        if case.style is not None and lang != ALL:
            yield case.set_name, lang, case.style


def _place(key: tuple[str, str, str]) -> tuple[str, bool, str, bool, str]:
    set_name, lang, style = key
    return set_name, lang != ALL, lang, style != ALL, style


def _paired(key: tuple[str, str, str], values: list[tuple[float, float]]) -> Paired:
    gained = sum(after > before for before, after in values)
    lost = sum(after < before for before, after in values)
    count = len(values)
    return Paired(
        *key,
        n=count,
        before=sum(before for before, _ in values) / count,
        after=sum(after for _, after in values) / count,
        gained=gained,
        lost=lost,
        p_value=mcnemar(gained, lost),
    )
