"""The condition that a filter bar stands for."""

from typing import Any

import pandas as pd
import sqlalchemy as sa

from console.filters import Filters


def condition(filters: Filters) -> str:
    """The WHERE condition on a view of messages; every value is bound, see `values`."""
    parts = ["at >= :since", "at < :until", "origin = ANY(:origins)"]
    if filters.lang:
        parts.append("lang = :lang")
    if filters.chat:
        parts.append("chat = :chat")
    return " AND ".join(parts)


def values(filters: Filters) -> dict[str, Any]:
    """The values to bind."""
    bound: dict[str, Any] = {
        "since": filters.since,
        "until": filters.until,
        "origins": list(filters.origins),
    }
    if filters.lang:
        bound["lang"] = filters.lang
    if filters.chat:
        bound["chat"] = filters.chat
    return bound


def frame(conn: sa.Connection, sql: str, bound: dict[str, Any]) -> pd.DataFrame:
    """The rows of an aggregate as a frame."""
    result = conn.execute(sa.text(sql), bound)
    return pd.DataFrame(result.fetchall(), columns=list(result.keys()))
