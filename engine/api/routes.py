"""The routes of version 1. A route is a few lines: the engine does the work."""

from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST

from engine.api.metrics import Metrics
from engine.api.policy import Gate, access, principal
from engine.api.port import AnsweringEngine
from engine.api.problems import MEDIA_TYPE, ProblemDetails, refused
from engine.api.tokens import STAFF_LIFETIME, issue, staff_scopes
from engine.wire import AskRequest, AskResponse, Origin, StaffSession, StaffSessionRequest


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """How a route documents its errors."""
    schema = ProblemDetails.model_json_schema()
    return {status: {"content": {MEDIA_TYPE: {"schema": schema}}, "description": "A problem."} for status in statuses}


BODY_PROBLEMS = problems(400, 401, 403, 408, 413, 415, 422, 500)
"""What a route with a body may answer besides its own."""


def _engine(request: Request) -> AnsweringEngine:
    engine: AnsweringEngine = request.app.state.engine
    return engine


def _metrics(request: Request) -> Metrics:
    metrics: Metrics = request.app.state.metrics
    return metrics


@access("chat")
async def chat(body: AskRequest, request: Request) -> AskResponse:
    """Put a question to a chat as the token's user.

    An empty question is an answer too: the outcome is `abstained`.
    """
    caller = principal(request)
    if body.user is not None and body.user != caller.subject:
        raise refused("user", "This must be the token's subject, or absent.", status=403)
    origin: Origin = "test_chat" if "staff:run" in caller.scopes else "app"
    answer = await _engine(request).ask(body.model_copy(update={"user": caller.subject}), origin=origin)
    _metrics(request).answer(answer, origin)
    return answer


@access("console-key")
async def staff_session(body: StaffSessionRequest, request: Request) -> StaffSession:
    """Give the console a token for a person who has signed in there."""
    gate: Gate = request.app.state.gate
    if not body.username.strip():
        raise refused("username", "This must not be blank.")
    token = issue(gate.keys.jwt_key, f"staff:{body.username}", staff_scopes(body.roles), STAFF_LIFETIME)
    return StaffSession(token=token, expires_in=int(STAFF_LIFETIME.total_seconds()))


@access("public")
async def healthz() -> dict[str, str]:
    """The process is alive."""
    return {"status": "ok"}


@access("public")
async def readyz(request: Request) -> dict[str, str]:
    """The engine can answer: its database is there and has the present schema and a corpus."""
    await _engine(request).ready()
    return {"status": "ready"}


@access("staff:read")
async def metrics(request: Request) -> Response:
    """Counters for Prometheus.

    A token is needed from everywhere: behind a proxy on the same machine every caller looks local.
    """
    return Response(_metrics(request).render(), media_type=CONTENT_TYPE_LATEST)


def add_routes(router: APIRouter) -> None:
    """Register every route."""
    router.add_api_route("/v1/chat", chat, methods=["POST"], tags=["chat"], responses=BODY_PROBLEMS | problems(503))
    router.add_api_route("/v1/staff/sessions", staff_session, methods=["POST"], tags=["staff"], responses=BODY_PROBLEMS)
    router.add_api_route("/healthz", healthz, methods=["GET"], tags=["operations"])
    router.add_api_route("/readyz", readyz, methods=["GET"], tags=["operations"], responses=problems(503))
    router.add_api_route(
        "/metrics",
        metrics,
        methods=["GET"],
        tags=["operations"],
        response_class=Response,
        responses=problems(401, 403),
    )
