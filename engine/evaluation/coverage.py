"""Which questions of a set the corpus can answer at all: a corpus that is still growing is asked no others."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from engine.evaluation.errors import EvaluationError
from engine.evaluation.sets import EvalSet, RetrievalCase


@dataclass(frozen=True)
class Covered:
    """The sets that are left, and how many questions of each were left out."""

    sets: tuple[EvalSet, ...]
    left_out: Mapping[str, int]


def covered(sets: Sequence[EvalSet], topics: Collection[str]) -> Covered:
    """Sets without the questions whose topics the corpus lacks; questions that nothing answers all stay.

    Raises:
        EvaluationError: a set would be empty.
    """
    kept = tuple(replace(one, cases=tuple(case for case in one.cases if _answered(case, topics))) for one in sets)
    for one in kept:
        if not one.cases:
            raise EvaluationError(f"The corpus holds no topic of the set {one.name!r}.")
    left_out = {one.name: len(one.cases) - len(rest.cases) for one, rest in zip(sets, kept, strict=True)}
    return Covered(kept, left_out)


def _answered(case: object, topics: Collection[str]) -> bool:
    return not isinstance(case, RetrievalCase) or any(topic in topics for topic in case.topics)
