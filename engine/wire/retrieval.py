"""A retrieval request and its ranked hits."""

from typing import Literal

from pydantic import BaseModel, Field

from engine.wire.chat import History, Strict
from engine.wire.fields import Lang, Question, User


class RetrieveRequest(Strict):
    """A query put to the corpus of one of the chats."""

    query: Question
    k: int = Field(default=8, ge=1, le=100, strict=True)
    chat: Literal["medical", "personal"] = "medical"
    user: User | None = None
    min_score: float | None = Field(default=None, ge=0.0, le=1.0, strict=True)
    """Relevance threshold; None takes the engine's own, 0.0 bypasses the gate."""
    lang: Lang | None = None
    history: History = Field(default_factory=list)
    """Earlier messages, oldest first: a follow-up is looked for with what they were about."""


class Hit(BaseModel):
    """A document by its best chunk."""

    rank: int
    document: str
    topic: str | None
    title: str
    lang: str
    chunk: str
    score: float
    """Relevance between 0 and 1, the only score that is gated."""
    rrf: float
    dense_rank: int | None
    lexical_rank: int | None
    content: str


class RetrieveResponse(BaseModel):
    """Ranked documents above the threshold, how many were below, and whether the chat would abstain."""

    hits: list[Hit]
    gated: int
    abstain: bool
    timings_ms: dict[str, float]
