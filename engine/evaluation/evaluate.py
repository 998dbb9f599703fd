"""An evaluation run from beginning to end: check the sets, ask, score, record."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from engine.evaluation import store
from engine.evaluation.aggregate import aggregate
from engine.evaluation.errors import EvaluationError
from engine.evaluation.history import HISTORY, published
from engine.evaluation.leakage import leaks
from engine.evaluation.provenance import Scoring, git_state, provenance, settings_snapshot
from engine.evaluation.records import CaseResult, Corpus, MetricRow, RecordedRun, RunHead, Status, recorded
from engine.evaluation.runner import CONCURRENCY, Progress, Retrieve, run_set
from engine.evaluation.sets import EvalSet
from engine.settings import Settings
from engine.storage.errors import StorageError
from engine.storage.sessions import Database

SEED = 20_261_130
"""Of the bootstrap; the engine itself draws no lots."""


@dataclass(frozen=True)
class Subject:
    """What is evaluated: the engine's retrieval with all that its figures depend on."""

    retrieve: Retrieve
    corpus: Corpus
    texts: Mapping[str, str]
    """The corpus' documents by name, for the leakage check."""
    settings: Settings
    models: Mapping[str, str]
    scoring: Scoring


async def evaluate(
    subject: Subject,
    sets: Sequence[EvalSet],
    database: Database,
    *,
    label: str = "",
    seed: int = SEED,
    concurrency: int = CONCURRENCY,
    progress: Progress | None = None,
    history: Path = HISTORY,
) -> RecordedRun:
    """Run the sets, store the run and write its file.

    Raises:
        EvaluationError: a question stands in the corpus (nothing is run), or no case could be scored.
        StorageError: the database refused.
    """
    refuse_leaks(sets, subject.texts)
    head = await _head(subject, sets, label, seed)
    await store.begin(database, head)
    try:
        metrics, cases = await _results(sets, subject.retrieve, seed, concurrency, progress)
        run = recorded(replace(head, status="done", finished_at=datetime.now(UTC)), metrics, cases)
        with published(run, history):
            await store.complete(database, run)
    except BaseException as error:
        status: Status = "cancelled" if isinstance(error, asyncio.CancelledError) else "failed"
        with suppress(StorageError):  # the first fault is the one to tell
            await asyncio.shield(store.close(database, head.id, status))
        raise
    return run


def refuse_leaks(sets: Sequence[EvalSet], texts: Mapping[str, str]) -> None:
    """Figures over a question that is written in the corpus would flatter.

    Raises:
        EvaluationError: there is such a question.
    """
    found = leaks(sets, texts)
    if found:
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        raise EvaluationError(
            f"Case {found[0].case!r} stands in document {found[0].document!r}: \N{LEFT DOUBLE QUOTATION MARK}"
            f"{found[0].words}\N{RIGHT DOUBLE QUOTATION MARK}{more}. Reword the question or the document."
        )


async def _head(subject: Subject, sets: Sequence[EvalSet], label: str, seed: int) -> RunHead:
    git = await asyncio.to_thread(git_state)
    return RunHead(
        started_at=datetime.now(UTC),
        corpus=subject.corpus,
        git_revision=git.revision,
        git_dirty=git.dirty,
        settings=settings_snapshot(subject.settings),
        provenance=provenance(sets, subject.models, subject.scoring, seed),
        label=label,
    )


async def _results(
    sets: Sequence[EvalSet], retrieve: Retrieve, seed: int, concurrency: int, progress: Progress | None
) -> tuple[list[MetricRow], list[CaseResult]]:
    metrics: list[MetricRow] = []
    cases: list[CaseResult] = []
    for eval_set in sets:
        results = await run_set(eval_set, retrieve, concurrency=concurrency, progress=progress)
        metrics.extend(aggregate(eval_set, results, seed=seed))
        cases.extend(results)
    if all(case.error is not None for case in cases):
        kinds = ", ".join(sorted({str(case.error) for case in cases}))
        raise EvaluationError(f"No case of {len(cases)} could be scored ({kinds}).")
    return metrics, cases
