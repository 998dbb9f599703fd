"""Recorded evaluation runs and their metrics."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import pandas as pd
import sqlalchemy as sa

from console.filters import Filters
from console.queries.scope import frame
from engine.wire.metrics import GROWTH, HEADLINE

DEFAULT_SET = "retrieval"


@dataclass(frozen=True, slots=True)
class Basis:
    """What a figure rests on; figures on different grounds differ for that reason alone."""

    corpus: str
    questions: str | None
    """Hash of the set; None where the run does not say what it asked."""


@dataclass(frozen=True, slots=True)
class Run:
    """Where a run's numbers come from."""

    id: str
    started_at: datetime
    finished_at: datetime | None
    status: str
    git_revision: str
    git_dirty: bool
    corpus_hash: str
    documents: int
    chunks: int
    label: str
    settings: dict[str, Any]
    provenance: dict[str, Any]
    imported_at: datetime | None
    """When this installation took it over; None for a run of its own."""

    def basis(self, set_name: str) -> Basis:
        """What this run's figures of a set rest on."""
        asked = (self.provenance.get("sets") or {}).get(set_name) or {}
        return Basis(self.corpus_hash, asked.get("hash"))


def trend(conn: sa.Connection, filters: Filters) -> pd.DataFrame:
    """The headline metric of every run of the period, by set and language, oldest first."""
    sql = """
        SELECT CAST(r.id AS text) AS run, r.started_at, r.label, r.status, r.git_revision, r.git_dirty,
               r.documents, r.chunks, r.corpus_hash, r.imported_at IS NOT NULL AS elsewhere,
               r.provenance #>> ARRAY['sets', m.set_name, 'hash'] AS questions,
               m.set_name, m.lang, m.value, m.ci_low, m.ci_high, m.n, m.n_scored
          FROM metrics.eval_run r JOIN metrics.eval_metric m ON m.run_id = r.id
         WHERE m.metric = :metric AND r.started_at >= :since AND r.started_at < :until
         ORDER BY r.started_at, r.id, m.set_name, m.lang
    """
    return frame(conn, sql, {"metric": HEADLINE, "since": filters.since, "until": filters.until})


def run(conn: sa.Connection, run_id: str) -> Run | None:
    """One run with its settings and its provenance."""
    sql = """
        SELECT CAST(id AS text) AS id, started_at, finished_at, status, git_revision, git_dirty, corpus_hash,
               documents, chunks, label, settings, provenance, imported_at
          FROM metrics.eval_run WHERE id = :run
    """
    row = conn.execute(sa.text(sql), {"run": UUID(run_id)}).mappings().one_or_none()
    return Run(**row) if row else None


def metrics(conn: sa.Connection, run_id: str) -> pd.DataFrame:
    """Every metric of a run."""
    sql = """
        SELECT set_name, metric, lang, value, ci_low, ci_high, n, n_scored
          FROM metrics.eval_metric WHERE run_id = :run
         ORDER BY set_name, metric, lang
    """
    return frame(conn, sql, {"run": UUID(run_id)})


def run_before(conn: sa.Connection, moment: datetime, set_name: str) -> str | None:
    """The last run before a moment that measured the same set."""
    sql = """
        SELECT CAST(r.id AS text)
          FROM metrics.eval_run r
         WHERE r.started_at < :moment AND EXISTS (
               SELECT 1 FROM metrics.eval_metric m
                WHERE m.run_id = r.id AND m.set_name = :set AND m.value IS NOT NULL)
         ORDER BY r.started_at DESC, r.id DESC LIMIT 1
    """
    found = conn.execute(sa.text(sql), {"moment": moment, "set": set_name}).scalar_one_or_none()
    return str(found) if found is not None else None


@dataclass(frozen=True, slots=True)
class Newest:
    """The newest run that has the headline metric, whatever the period, and a set that it measured."""

    run: str
    started_at: datetime
    set_name: str


def newest(conn: sa.Connection) -> Newest | None:
    """The newest run of all; of its sets the usual one."""
    sql = """
        SELECT CAST(r.id AS text), r.started_at, m.set_name
          FROM metrics.eval_run r JOIN metrics.eval_metric m ON m.run_id = r.id
         WHERE m.metric = :metric AND m.value IS NOT NULL
         ORDER BY r.started_at DESC, r.id DESC, m.set_name <> :set, m.set_name LIMIT 1
    """
    row = conn.execute(sa.text(sql), {"metric": HEADLINE, "set": DEFAULT_SET}).one_or_none()
    return Newest(*row) if row else None


def growth(conn: sa.Connection) -> pd.DataFrame:
    """The headline metric by size of the corpus, from the runs labelled so; of two runs of one size the newer one."""
    sql = """
        SELECT DISTINCT ON (m.lang, r.documents)
               r.documents, m.lang, m.value, m.ci_low, m.ci_high, m.n_scored, m.n, CAST(r.id AS text) AS run,
               r.started_at, r.label, r.git_revision, r.git_dirty, r.corpus_hash, r.imported_at IS NOT NULL AS elsewhere
          FROM metrics.eval_run r JOIN metrics.eval_metric m ON m.run_id = r.id
         WHERE r.label = :label AND r.status = 'done' AND m.set_name = :set AND m.metric = :metric
               AND m.lang <> 'all' AND m.value IS NOT NULL AND m.ci_low IS NOT NULL
         ORDER BY m.lang DESC, r.documents, r.started_at DESC, r.id DESC
    """
    return frame(conn, sql, {"label": GROWTH, "set": DEFAULT_SET, "metric": HEADLINE})
