"""What is kept of a question: a log row without its text, and the user's own history with it."""

from datetime import UTC, datetime
from uuid import UUID

from engine.chat.trace import ChatTrace
from engine.storage.query_log import HistoryRecord, QueryRecord
from engine.wire import AskResponse, Origin


def query_record(
    response: AskResponse, trace: ChatTrace, query_hash: str, kind: str | None, origin: Origin
) -> QueryRecord:
    """The log row: keyed hash, outcome, timings, numbers."""
    return QueryRecord(
        at=datetime.now(UTC),
        query_hash=query_hash,
        origin=origin,
        chat=response.chat,
        lang=response.lang,
        outcome=response.outcome,
        kind=kind,
        guardrail_status=response.guardrail.status,
        judge=response.guardrail.judge,
        rule_ids=response.guardrail.rule_ids,
        shadow_rule_ids=trace.shadow_rule_ids,
        hits=trace.hits,
        citations=len(response.citations),
        top_score=trace.top_score,
        total_ms=trace.total_ms,
        stages=[{"name": stage.name, "ms": stage.ms} for stage in trace.stages],
        tokens=trace.tokens,
        models=trace.models,
    )


def history_record(user: UUID, question: str, response: AskResponse, at: datetime) -> HistoryRecord:
    """The user's own copy of question and answer, with the citations as they were."""
    return HistoryRecord(
        user_id=user,
        at=at,
        chat=response.chat,
        question=question,
        answer=response.text,
        outcome=response.outcome,
        citations=[citation.model_dump() for citation in response.citations],
    )
