"""Counts of messages: how many, of what kind, with what end."""

from dataclasses import dataclass
from typing import Literal

import pandas as pd
import sqlalchemy as sa

from console.filters import Filters
from console.queries.scope import condition, frame, values

Dimension = Literal["lang", "chat", "outcome", "guardrail_status", "judge", "origin", "kind"]

_SEARCHED = "outcome NOT IN ('escalated', 'refused') AND chat <> 'work'"
"""Messages that went as far as the search: only of these can it be said that nothing was found."""


@dataclass(frozen=True, slots=True)
class Totals:
    """What the cards of the pages show, out of one pass over the period."""

    messages: int
    answered: int
    abstained: int
    escalated: int
    blocked: int
    ungrounded: int
    guard_error: int
    judged: int
    judge_error: int
    searched: int
    empty: int
    cited: int
    p50: float | None
    p95: float | None


def totals(conn: sa.Connection, filters: Filters) -> Totals:
    """Every count of a period at once."""
    sql = f"""
        SELECT count(*) AS messages,
               count(*) FILTER (WHERE outcome = 'answered') AS answered,
               count(*) FILTER (WHERE outcome = 'abstained') AS abstained,
               count(*) FILTER (WHERE outcome = 'escalated') AS escalated,
               count(*) FILTER (WHERE outcome = 'blocked') AS blocked,
               count(*) FILTER (WHERE outcome = 'ungrounded' OR guardrail_status = 'ungrounded') AS ungrounded,
               count(*) FILTER (WHERE outcome = 'guard_error') AS guard_error,
               count(*) FILTER (WHERE judge <> 'off') AS judged,
               count(*) FILTER (WHERE judge = 'judge_error') AS judge_error,
               count(*) FILTER (WHERE {_SEARCHED}) AS searched,
               count(*) FILTER (WHERE {_SEARCHED} AND hits = 0) AS empty,
               count(*) FILTER (WHERE outcome = 'answered' AND citations > 0) AS cited,
               percentile_cont(0.5) WITHIN GROUP (ORDER BY total_ms) AS p50,
               percentile_cont(0.95) WITHIN GROUP (ORDER BY total_ms) AS p95
          FROM metrics.message
         WHERE {condition(filters)}
    """  # noqa: S608 - the condition is made of fixed text, its values are bound
    return Totals(**conn.execute(sa.text(sql), values(filters)).mappings().one())


def counts(conn: sa.Connection, filters: Filters, dimension: Dimension) -> pd.DataFrame:
    """Messages by one of their properties, most frequent first."""
    sql = f"""
        SELECT {dimension} AS value, count(*) AS messages
          FROM metrics.message
         WHERE {condition(filters)} AND {dimension} IS NOT NULL
         GROUP BY 1 ORDER BY 2 DESC, 1
    """  # noqa: S608 - the dimension is one of a few fixed names
    return frame(conn, sql, values(filters))


def by_day(conn: sa.Connection, filters: Filters) -> pd.DataFrame:
    """Messages by day and language; days without a message are there with a zero."""
    sql = f"""
        WITH days AS (
            SELECT generate_series(CAST(:first AS date), CAST(:last AS date), interval '1 day')::date AS day
        ), found AS (
            SELECT (at AT TIME ZONE 'UTC')::date AS day, lang, count(*) AS messages
              FROM metrics.message
             WHERE {condition(filters)}
             GROUP BY 1, 2
        )
        SELECT days.day, langs.lang, coalesce(found.messages, 0) AS messages
          FROM days CROSS JOIN (SELECT DISTINCT lang FROM found) AS langs
          LEFT JOIN found ON found.day = days.day AND found.lang = langs.lang
         ORDER BY 1, 2
    """  # noqa: S608
    return frame(conn, sql, {**values(filters), "first": filters.first, "last": filters.last})


def top_hashes(conn: sa.Connection, filters: Filters, limit: int = 20) -> pd.DataFrame:
    """The questions asked most often, by their keyed hash; the texts are nowhere.

    Of one that was never searched for (an urgent one) it cannot be said that nothing was found: NULL.
    """
    sql = f"""
        SELECT query_hash, count(*) AS messages,
               count(*)::float8 / sum(count(*)) OVER () AS share,
               (count(*) FILTER (WHERE outcome = 'answered'))::float8 / count(*) AS answered,
               (count(*) FILTER (WHERE {_SEARCHED} AND hits = 0))::float8
                   / nullif(count(*) FILTER (WHERE {_SEARCHED}), 0) AS empty,
               avg(top_score) AS top_score,
               max(at) AS last_at
          FROM metrics.message
         WHERE {condition(filters)}
         GROUP BY query_hash ORDER BY messages DESC, query_hash LIMIT :limit
    """  # noqa: S608
    return frame(conn, sql, {**values(filters), "limit": limit})
