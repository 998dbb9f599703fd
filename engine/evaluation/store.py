"""Runs in Postgres. A run is known from its start; its results appear in one transaction or not at all."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.evaluation.errors import EvaluationError
from engine.evaluation.records import CaseResult, Corpus, MetricRow, RecordedRun, RunHead, Status, recorded
from engine.evaluation.statistics import Interval
from engine.storage.schema import eval_case, eval_metric, eval_run
from engine.storage.sessions import Database

IMPORTED_AT = "imported_at"
"""In the provenance of a run that was recorded elsewhere: when this installation took it over."""


async def begin(database: Database, head: RunHead) -> None:
    """Write down that the run has begun."""
    async with database.transaction() as connection:
        await connection.execute(sa.insert(eval_run).values(_head_values(head)))


async def complete(database: Database, run: RecordedRun) -> None:
    """Write all figures and cases, and that the run is done, in one transaction."""
    async with database.transaction() as connection:
        await _results(connection, run)
        await _end(connection, run.head.id, run.head.status, run.head.finished_at)


async def take_over(database: Database, run: RecordedRun) -> bool:
    """Store a run that was recorded elsewhere, whole or not at all; False where one of its id is there already."""
    here = {IMPORTED_AT: datetime.now(UTC).isoformat(timespec="seconds")}
    values = _head_values(run.head) | {"provenance": {**run.head.provenance, **here}}
    async with database.transaction() as connection:
        added = insert(eval_run).values(values).on_conflict_do_nothing().returning(eval_run.c.id)
        if (await connection.execute(added)).one_or_none() is None:
            return False
        await _results(connection, run)
    return True


async def close(database: Database, run_id: UUID, status: Status) -> None:
    """Write down that a run ended without results."""
    async with database.transaction() as connection:
        await _end(connection, run_id, status, datetime.now(UTC))


async def recent(database: Database, limit: int = 20) -> list[RecordedRun]:
    """The newest runs first, with their figures and without their cases."""
    async with database.transaction() as connection:
        newest = sa.select(eval_run).order_by(eval_run.c.started_at.desc(), eval_run.c.id).limit(limit)
        heads = [_head(row) for row in await connection.execute(newest)]
        metrics = await _metrics(connection, [head.id for head in heads])
    return [recorded(head, metrics.get(head.id, ())) for head in heads]


async def load(database: Database, run: str) -> RecordedRun:
    """One run with its cases, by its id or by the beginning of its id.

    Raises:
        EvaluationError: no run or more than one begins so.
    """
    wanted = run.replace("-", "").lower()
    async with database.transaction() as connection:
        compact = sa.func.replace(sa.cast(eval_run.c.id, sa.Text), "-", "")
        query = sa.select(eval_run).where(compact.startswith(wanted, autoescape=True)).limit(2)
        heads = [_head(row) for row in await connection.execute(query)]
        if len(heads) != 1 or not wanted:
            fault = "More than one run begins with" if heads and wanted else "There is no run"
            raise EvaluationError(f"{fault} {run!r}. `anamnesis eval list` shows the runs.")
        head = heads[0]
        metrics = await _metrics(connection, [head.id])
        cases = await _cases(connection, head.id)
    return recorded(head, metrics.get(head.id, ()), cases)


async def _results(connection: AsyncConnection, run: RecordedRun) -> None:
    await connection.execute(sa.insert(eval_metric), [_metric_values(run.head.id, row) for row in run.metrics])
    await connection.execute(sa.insert(eval_case), [{"run_id": run.head.id, **vars(case)} for case in run.cases])


async def _end(connection: AsyncConnection, run_id: UUID, status: Status, at: datetime | None) -> None:
    await connection.execute(sa.update(eval_run).where(eval_run.c.id == run_id).values(status=status, finished_at=at))


async def _metrics(connection: AsyncConnection, runs: list[UUID]) -> dict[UUID, list[MetricRow]]:
    found: dict[UUID, list[MetricRow]] = {}
    for row in await connection.execute(sa.select(eval_metric).where(eval_metric.c.run_id.in_(runs))):
        ci = None if row.ci_low is None else Interval(row.ci_low, row.ci_high)
        figure = MetricRow(row.set_name, row.lang, row.metric, row.value, ci, row.n, row.n_scored)
        found.setdefault(row.run_id, []).append(figure)
    return found


async def _cases(connection: AsyncConnection, run_id: UUID) -> list[CaseResult]:
    columns = [column for column in eval_case.c if column.name != "run_id"]
    rows = await connection.execute(sa.select(*columns).where(eval_case.c.run_id == run_id))
    return [CaseResult(**row) for row in rows.mappings()]


def _metric_values(run_id: UUID, row: MetricRow) -> dict[str, Any]:
    low, high = row.ci or (None, None)
    values = {name: value for name, value in vars(row).items() if name != "ci"}
    return {"run_id": run_id, **values, "ci_low": low, "ci_high": high}


def _head_values(head: RunHead) -> dict[str, Any]:
    return {
        "id": head.id,
        "started_at": head.started_at,
        "finished_at": head.finished_at,
        "status": head.status,
        "git_revision": head.git_revision,
        "git_dirty": head.git_dirty,
        "corpus_hash": head.corpus.hash,
        "documents": head.corpus.documents,
        "chunks": head.corpus.chunks,
        "settings": dict(head.settings),
        "provenance": dict(head.provenance),
        "label": head.label,
    }


def _head(row: sa.Row[Any]) -> RunHead:
    return RunHead(
        id=row.id,
        started_at=row.started_at.astimezone(UTC),
        finished_at=row.finished_at and row.finished_at.astimezone(UTC),
        status=row.status,
        corpus=Corpus(row.corpus_hash, row.documents, row.chunks),
        git_revision=row.git_revision,
        git_dirty=row.git_dirty,
        settings=row.settings,
        provenance=row.provenance,
        label=row.label,
    )
