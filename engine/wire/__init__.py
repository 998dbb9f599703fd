"""Request and response types shared by the engine, its HTTP API and its client."""

from engine.wire.chat import (
    AskRequest,
    AskResponse,
    Biomarker,
    ChatName,
    Citation,
    Context,
    Guardrail,
    Origin,
    Outcome,
    Profile,
    Trace,
    TraceStage,
    Turn,
)
from engine.wire.retrieval import Hit, RetrieveRequest, RetrieveResponse
from engine.wire.staff import Scope, StaffSession, StaffSessionRequest

__all__ = [
    "AskRequest",
    "AskResponse",
    "Biomarker",
    "ChatName",
    "Citation",
    "Context",
    "Guardrail",
    "Hit",
    "Origin",
    "Outcome",
    "Profile",
    "RetrieveRequest",
    "RetrieveResponse",
    "Scope",
    "StaffSession",
    "StaffSessionRequest",
    "Trace",
    "TraceStage",
    "Turn",
]
