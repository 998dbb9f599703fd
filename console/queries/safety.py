"""What the guards did."""

import pandas as pd
import sqlalchemy as sa

from console.filters import Filters
from console.queries.scope import condition, frame, values


def events_by_day(conn: sa.Connection, filters: Filters) -> pd.DataFrame:
    """Shares of urgent, ungrounded, withheld and unjudged messages by day, for days that had messages."""
    sql = f"""
        WITH days AS (
            SELECT (at AT TIME ZONE 'UTC')::date AS day, count(*) AS messages,
                   count(*) FILTER (WHERE outcome = 'escalated') AS escalated,
                   count(*) FILTER (WHERE outcome = 'ungrounded' OR guardrail_status = 'ungrounded')
                       AS ungrounded,
                   count(*) FILTER (WHERE outcome IN ('blocked', 'guard_error')) AS withheld,
                   count(*) FILTER (WHERE judge = 'judge_error') AS judge_error
              FROM metrics.message
             WHERE {condition(filters)}
             GROUP BY 1
        )
        SELECT day, event, events, messages, events::float8 / messages AS share
          FROM days CROSS JOIN LATERAL (VALUES ('escalated', escalated), ('ungrounded', ungrounded),
               ('withheld', withheld), ('judge_error', judge_error)) AS e(event, events)
         ORDER BY day, event
    """  # noqa: S608 - the condition is made of fixed text, its values are bound
    return frame(conn, sql, values(filters))


def rule_hits(conn: sa.Connection, filters: Filters, *, shadow: bool) -> pd.DataFrame:
    """How often each rule spoke; a shadow rule is only counted and stops nothing."""
    sql = f"""
        SELECT rule_id, count(*) AS hits, count(DISTINCT message_id) AS messages,
               count(*) FILTER (WHERE lang = 'ru') AS ru, count(*) FILTER (WHERE lang = 'en') AS en,
               max(at) AS last_at
          FROM metrics.rule_hit
         WHERE {condition(filters)} AND shadow = :shadow
         GROUP BY rule_id ORDER BY hits DESC, rule_id
    """  # noqa: S608
    return frame(conn, sql, {**values(filters), "shadow": shadow})
