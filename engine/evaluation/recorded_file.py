"""What stands in the file of a recorded run, checked before anything of it is stored or drawn."""

import json
from collections import Counter
from collections.abc import Iterator
from math import isfinite
from typing import Annotated, Any, Literal, Self
from uuid import UUID

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator

from engine.evaluation.errors import EvaluationError
from engine.evaluation.records import ALL, CaseResult, Corpus, MetricRow, RecordedRun, RunHead, recorded
from engine.evaluation.statistics import Interval
from engine.wire.fields import Lang, Text
from engine.wire.metrics import METRICS

Count = Annotated[int, Field(ge=0, lt=2**31, strict=True)]
"""What a column of the database holds."""
Number = Annotated[float, Field(strict=True)]
Share = Annotated[float, Field(ge=0, le=1, strict=True)]
"""All figures are shares or means of shares."""


class _Part(BaseModel):
    """Fields that another version of the program added are no fault."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class _Hit(_Part):
    model_config = ConfigDict(extra="allow")

    document: Text
    score: Number


class _Answer(_Part):
    """What the metrics views count on; anything else is kept as it is."""

    model_config = ConfigDict(extra="allow")

    hits: list[_Hit] = []
    gated: Count = 0
    top_score: Number | None = None


class _Case(_Part):
    set: Text
    id: Text
    lang: Lang
    style: Text | None
    scores: dict[Text, Number]
    answer: _Answer
    error: Text | None


class _Figure(_Part):
    value: Share | None
    ci: tuple[Share, Share] | None
    n_scored: Count

    @model_validator(mode="after")
    def _ends_in_order(self) -> Self:
        if self.ci is not None and self.ci[0] > self.ci[1]:
            raise ValueError("ci: its ends are in the wrong order")
        return self


class _Figures(_Part):
    n: Count
    metrics: Annotated[dict[Literal[METRICS], _Figure], Field(min_length=1)]  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _no_more_scored_than_there_are(self) -> Self:
        for name, figure in self.metrics.items():
            if figure.n_scored > self.n:
                raise ValueError(f"metrics.{name}.n_scored: more cases than n")
        return self


class _Set(_Figures):
    by_lang: dict[Lang, _Figures]


class _Corpus(_Part):
    hash: Text
    documents: Count
    chunks: Count


class _Git(_Part):
    revision: Text
    dirty: bool


class _File(_Part):
    run: UUID
    status: Literal["done"]
    label: Text
    started_at: AwareDatetime
    finished_at: AwareDatetime
    corpus: _Corpus
    git: _Git
    settings: dict[str, Any]
    provenance: dict[str, Any]
    sets: Annotated[dict[Text, _Set], Field(min_length=1)]
    cases: Annotated[list[_Case], Field(min_length=1)]


def parse(content: bytes) -> RecordedRun:
    """The run that a file holds.

    Raises:
        EvaluationError: it holds none; the text says where it breaks off and quotes nothing of it.
    """
    try:
        told = _File.model_validate(_loaded(content))
    except ValidationError as error:
        raise EvaluationError(f"not a recorded run ({_told(error)}).") from None
    except EvaluationError:
        raise
    except (ValueError, RecursionError):
        raise EvaluationError("not a recorded run (not valid JSON).") from None
    if len({(case.set, case.id) for case in told.cases}) < len(told.cases):
        raise EvaluationError("not a recorded run (a case stands there twice).")
    if (cut := _cut(told)) is not None:
        raise EvaluationError(f"not a recorded run ({cut}).")
    head = RunHead(
        id=told.run,
        started_at=told.started_at,
        finished_at=told.finished_at,
        status=told.status,
        corpus=Corpus(told.corpus.hash, told.corpus.documents, told.corpus.chunks),
        git_revision=told.git.revision,
        git_dirty=told.git.dirty,
        settings=told.settings,
        provenance=told.provenance,
        label=told.label,
    )
    metrics = [row for name, figures in told.sets.items() for row in _rows(name, figures)]
    return recorded(head, metrics, [_result(case) for case in told.cases])


def _cut(told: _File) -> str | None:
    """Where the cases are not as many as the figures were made of: half a file must not stand for the whole."""
    there = Counter((case.set, lang) for case in told.cases for lang in (ALL, case.lang))
    counted = {(name, lang): part.n for name, figures in told.sets.items() for lang, part in _slices(figures) if part.n}
    for name, lang in sorted(there.keys() | counted.keys()):
        wanted, found = counted.get((name, lang), 0), there[name, lang]
        if found != wanted:
            of = name if lang == ALL else f"{name}.{lang}"
            return f"cases: {found} of set {of}, whose figures are over {wanted}"
    return None


def _told(error: ValidationError) -> str:
    """The first fault by its place in the file."""
    fault = error.errors(include_input=False, include_url=False)[0]
    # The library's own words name a class of this module.
    said = "Input should be an object" if fault["type"] == "model_type" else fault["msg"]
    return f"{'.'.join(map(str, fault['loc']))}: {said.removeprefix('Value error, ')}"


def _loaded(content: bytes) -> Any:
    loaded = json.loads(content)
    if not isinstance(loaded, dict):
        raise EvaluationError("not a recorded run.")
    if (place := next(_not_finite(loaded), None)) is not None:
        raise EvaluationError(f"not a recorded run ({'.'.join(place)}: no finite number).")
    text = json.dumps(loaded, ensure_ascii=False)
    text.encode()  # a lone surrogate is refused here
    if "\\u0000" in text:
        raise ValueError("Postgres stores no NUL")
    return loaded


def _not_finite(value: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Places of numbers that JSON has no word for, and of those too large to be one: neither can be stored."""
    if isinstance(value, float) and not isfinite(value):
        yield place
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _not_finite(part, (*place, name))
    elif isinstance(value, list):
        for index, part in enumerate(value):
            yield from _not_finite(part, (*place, str(index)))


def _slices(figures: _Set) -> list[tuple[str, _Figures]]:
    return [(ALL, figures), *figures.by_lang.items()]


def _rows(name: str, figures: _Set) -> list[MetricRow]:
    return [
        MetricRow(name, lang, metric, figure.value, figure.ci and Interval(*figure.ci), part.n, figure.n_scored)
        for lang, part in _slices(figures)
        for metric, figure in part.metrics.items()
    ]


def _result(case: _Case) -> CaseResult:
    answer = case.answer.model_dump(exclude_unset=True)
    return CaseResult(case.set, case.id, case.lang, case.style, case.scores, answer, case.error)
