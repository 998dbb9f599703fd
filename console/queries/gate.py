"""The relevance gate over the questions of one run: what each threshold costs, and what a score is worth."""

from dataclasses import dataclass
from uuid import UUID

import pandas as pd
import sqlalchemy as sa

from console.queries.scope import frame

BINS = 10


@dataclass(frozen=True, slots=True)
class Gate:
    """The gate of a run; thresholds are None where the run does not say or has no answerable question."""

    in_force: float | None
    at_limit: float | None
    """The highest that loses at most one in twenty of the answerable questions of this run; no recommendation, since
    questions that judge a threshold must not choose it."""
    answerable: int
    unanswerable: int
    unknown: int
    """Questions whose best score was not kept."""
    known_from: float
    """Threshold from which on nothing is missing."""


def gate(conn: sa.Connection, run_id: str) -> Gate | None:
    """The thresholds of a run; None where it asked nothing that a gate decides."""
    sql = """
        SELECT in_force, recommended AS at_limit, answerable, unanswerable, unknown, known_from
          FROM metrics.eval_gate WHERE run_id = :run
    """
    row = conn.execute(sa.text(sql), {"run": UUID(run_id)}).one_or_none()
    return Gate(*row) if row else None


def sets(conn: sa.Connection, run_id: str) -> list[str]:
    """The sets whose questions the gate of a run is counted over."""
    sql = "SELECT DISTINCT set_name FROM metrics.eval_top_score WHERE run_id = :run ORDER BY set_name DESC"
    return [str(name) for name in conn.execute(sa.text(sql), {"run": UUID(run_id)}).scalars()]


def curve(conn: sa.Connection, run_id: str) -> pd.DataFrame:
    """Answerable questions lost and unanswerable ones let through over rising thresholds, by language."""
    sql = """
        SELECT lang, threshold, answerable, lost, unanswerable, passed
          FROM metrics.eval_gate_curve WHERE run_id = :run
         ORDER BY lang, threshold
    """
    return frame(conn, sql, {"run": UUID(run_id)})


def reliability(conn: sa.Connection, run_id: str, known_from: float) -> pd.DataFrame:
    """How many questions of each span of best scores are answerable, by language; spans that lack any are left out."""
    sql = """
        WITH spans AS (
            SELECT lang, answerable, top_score,
                   least(greatest(width_bucket(top_score, 0, 1, :bins), 1), :bins) - 1 AS span
              FROM metrics.eval_top_score
             WHERE run_id = :run AND top_score IS NOT NULL
        )
        SELECT lang, span::float8 / :bins AS span_low, (span + 1)::float8 / :bins AS span_high,
               avg(top_score) AS mean_score, count(*) AS questions,
               count(*) FILTER (WHERE answerable) AS answerable
          FROM spans
         WHERE span::float8 / :bins >= :known_from
         GROUP BY lang, span
         ORDER BY lang DESC, span
    """
    return frame(conn, sql, {"run": UUID(run_id), "bins": BINS, "known_from": known_from})
