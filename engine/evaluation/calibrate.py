"""Which relevance threshold the calibration sets recommend, and what it costs in each language."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite

from engine.evaluation.errors import EvaluationError
from engine.evaluation.gate_report import MAX_LOST, GatePoint, curve, gate_point, recommend
from engine.evaluation.records import ALL
from engine.evaluation.runner import CONCURRENCY, EVERYTHING, Progress, Retrieve, each_case, rank
from engine.evaluation.sets import Case, EvalSet, RetrievalCase


@dataclass(frozen=True)
class LanguageGate:
    """The gate in one language, or in both: counts, the recommended threshold's errors, the curve."""

    answerable: int
    unanswerable: int
    recommended: GatePoint
    present: GatePoint | None
    """The threshold in use, where it is known."""
    curve: tuple[GatePoint, ...]


@dataclass(frozen=True)
class GateReport:
    """A threshold for both languages together, and what it costs in each."""

    threshold: float
    max_lost: float
    n: int
    n_scored: int
    by_lang: Mapping[str, LanguageGate]


@dataclass(frozen=True)
class _TopScore:
    lang: str
    answerable: bool
    score: float


async def calibrate(
    sets: Sequence[EvalSet],
    retrieve: Retrieve,
    *,
    max_lost: float = MAX_LOST,
    present: float | None = None,
    concurrency: int = CONCURRENCY,
    progress: Progress | None = None,
) -> GateReport:
    """Ask every case with the gate bypassed and read the threshold off the best scores.

    A case that crashes is left out and shown by `n_scored` being less than `n`.

    Raises:
        EvaluationError: there is no answerable case, or none of them could be scored.
    """
    found: list[_TopScore] = []
    faults: list[str] = []

    async def ask(case: Case) -> _TopScore | Exception:
        return await _top_score(case, retrieve)

    for eval_set in sets:
        for top in await each_case(eval_set, ask, concurrency=concurrency, progress=progress):
            if isinstance(top, _TopScore):
                found.append(top)
            else:
                faults.append(type(top).__name__)
    if not any(top.answerable for top in found):
        why = f"none could be scored ({', '.join(sorted(set(faults)))})" if faults else "none was given"
        raise EvaluationError(f"A threshold is set by answerable cases; {why}.")
    threshold = recommend(_scores(found, ALL, True), _scores(found, ALL, False), max_lost).threshold
    langs = (ALL, *sorted({top.lang for top in found}, reverse=True))
    return GateReport(
        threshold,
        max_lost,
        sum(len(eval_set.cases) for eval_set in sets),
        len(found),
        {lang: _language(found, lang, threshold, present) for lang in langs},
    )


async def _top_score(case: Case, retrieve: Retrieve) -> _TopScore | Exception:
    try:
        response = await rank(case, retrieve, EVERYTHING)
    except Exception as error:
        return error
    # The gate never lets a score pass that is not finite.
    score = max((hit.score for hit in response.hits if isfinite(hit.score)), default=0.0)
    return _TopScore(case.lang, isinstance(case, RetrievalCase), score)


def _scores(found: Sequence[_TopScore], lang: str, answerable: bool) -> list[float]:
    return [top.score for top in found if top.answerable is answerable and lang in (ALL, top.lang)]


def _language(found: Sequence[_TopScore], lang: str, threshold: float, present: float | None) -> LanguageGate:
    answerable, none = _scores(found, lang, True), _scores(found, lang, False)
    return LanguageGate(
        len(answerable),
        len(none),
        gate_point(threshold, answerable, none),
        None if present is None else gate_point(present, answerable, none),
        curve(answerable, none),
    )
