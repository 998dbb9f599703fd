"""The query log: what was asked, how it went and how long each stage took, without the text."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.storage.schema import message, query_log


@dataclass(frozen=True)
class QueryRecord:
    """One logged question; `query_hash` is the keyed hash of the normalised text."""

    at: datetime
    query_hash: str
    origin: str
    chat: str
    lang: str
    outcome: str
    kind: str | None
    guardrail_status: str
    judge: str
    rule_ids: list[str]
    shadow_rule_ids: list[str]
    hits: int
    citations: int
    top_score: float | None
    total_ms: float
    stages: list[dict[str, Any]]
    tokens: dict[str, int]
    models: dict[str, str]
    id: UUID = field(default_factory=uuid4)


@dataclass(frozen=True)
class HistoryRecord:
    """A question and its answer as the user may read them again."""

    user_id: UUID
    at: datetime
    chat: str
    question: str
    answer: str
    outcome: str
    citations: list[dict[str, Any]]


async def write(connection: AsyncConnection, record: QueryRecord, history: HistoryRecord | None = None) -> None:
    """Log a question and, for a known user, keep it in that user's own history, under one id in one transaction."""
    await connection.execute(sa.insert(query_log).values(**vars(record)))
    if history is not None:
        await connection.execute(sa.insert(message).values(id=record.id, **vars(history)))
