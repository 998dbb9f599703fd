"""How fast the engine is and how much it holds."""

from dataclasses import dataclass
from datetime import datetime

import pandas as pd
import sqlalchemy as sa

from console.filters import Filters
from console.queries.scope import condition, frame, values


@dataclass(frozen=True, slots=True)
class Corpus:
    """The curated corpus as it was seeded last."""

    hash: str
    documents: int
    chunks: int
    spaces: tuple[str, ...]
    seeded_at: datetime


def stages(conn: sa.Connection, filters: Filters) -> pd.DataFrame:
    """Median and 95th percentile of each stage, in the order of the pipeline."""
    sql = f"""
        SELECT stage, count(*) AS messages,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY ms) AS p50,
               percentile_cont(0.95) WITHIN GROUP (ORDER BY ms) AS p95,
               max(ms) AS max
          FROM metrics.stage
         WHERE {condition(filters)}
         GROUP BY stage ORDER BY min(ordinal), stage
    """  # noqa: S608 - the condition is made of fixed text, its values are bound
    return frame(conn, sql, values(filters))


def by_day(conn: sa.Connection, filters: Filters) -> pd.DataFrame:
    """Median and 95th percentile of the whole answer by day, one row a day and percentile."""
    sql = f"""
        WITH days AS (
            SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) AS messages,
                   percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) AS p50,
                   percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) AS p95
              FROM metrics.message
             WHERE {condition(filters)}
             GROUP BY 1
        )
        SELECT day, percentile, ms, messages
          FROM days CROSS JOIN LATERAL (VALUES ('p50', p50), ('p95', p95)) AS p(percentile, ms)
         ORDER BY day, percentile
    """  # noqa: S608
    return frame(conn, sql, values(filters))


def tokens(conn: sa.Connection, filters: Filters) -> pd.DataFrame:
    """Tokens by kind."""
    sql = f"""
        SELECT kind, sum(tokens)::bigint AS tokens, count(*) AS messages,
               avg(tokens)::float8 AS mean
          FROM metrics.token_use
         WHERE {condition(filters)}
         GROUP BY kind ORDER BY kind
    """  # noqa: S608
    return frame(conn, sql, values(filters))


def corpus(conn: sa.Connection) -> Corpus | None:
    """The corpus, or None before the first seeding."""
    row = conn.execute(sa.text("SELECT hash, documents, chunks, spaces, seeded_at FROM metrics.corpus")).one_or_none()
    return Corpus(row.hash, row.documents, row.chunks, tuple(row.spaces), row.seeded_at) if row else None


def corpus_languages(conn: sa.Connection) -> pd.DataFrame:
    """Documents and chunks of the corpus by language."""
    return frame(conn, "SELECT lang, documents, chunks FROM metrics.corpus_language ORDER BY lang", {})


def storage(conn: sa.Connection) -> pd.DataFrame:
    """Rows of the tables that grow."""
    return frame(conn, "SELECT relation, rows FROM metrics.storage ORDER BY relation", {})
