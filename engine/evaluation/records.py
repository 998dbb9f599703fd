"""What a run leaves behind: its head, its metrics, its cases."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal
from uuid import UUID, uuid4

from engine.evaluation.statistics import Interval
from engine.wire.metrics import METRICS

Status = Literal["running", "done", "failed", "cancelled"]
ALL = "all"
"""Both languages together."""
LANGS = (ALL, "ru", "en")


@dataclass(frozen=True)
class Corpus:
    """The corpus that was asked."""

    hash: str
    documents: int
    chunks: int


@dataclass(frozen=True)
class RunHead:
    """What was run, on what and when."""

    started_at: datetime
    corpus: Corpus
    git_revision: str
    git_dirty: bool
    settings: Mapping[str, Any]
    provenance: Mapping[str, Any]
    label: str = ""
    status: Status = "running"
    finished_at: datetime | None = None
    id: UUID = field(default_factory=uuid4)

    @property
    def short_id(self) -> str:
        """Enough of the id to name the run to people."""
        return self.id.hex[:8]


@dataclass(frozen=True)
class CaseResult:
    """One case: a number for each metric, what the engine answered, or why it could not be scored."""

    set_name: str
    case_id: str
    lang: str
    style: str | None
    scores: Mapping[str, float]
    answer: Mapping[str, Any]
    error: str | None = None
    """Type of the exception; its text might quote a question."""


@dataclass(frozen=True)
class MetricRow:
    """One figure: `value` is over the `n_scored` cases of `n`; None when no case was scored."""

    set_name: str
    lang: str
    metric: str
    value: float | None
    ci: Interval | None
    n: int
    n_scored: int


@dataclass(frozen=True)
class RecordedRun:
    """A run as it is stored and shown; a list of runs leaves the cases out."""

    head: RunHead
    metrics: tuple[MetricRow, ...] = ()
    cases: tuple[CaseResult, ...] = ()


def recorded(head: RunHead, metrics: Iterable[MetricRow] = (), cases: Iterable[CaseResult] = ()) -> RecordedRun:
    """A run with its figures and cases in one order, whether just measured or from the store."""
    return RecordedRun(
        head,
        tuple(sorted(metrics, key=lambda m: (m.set_name, LANGS.index(m.lang), METRICS.index(m.metric)))),
        tuple(sorted(cases, key=lambda case: (case.set_name, case.case_id))),
    )
