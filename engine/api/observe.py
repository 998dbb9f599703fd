"""The outermost layer: access log, request counters, and the last net under an unforeseen error."""

import logging
import traceback
from pathlib import Path
from time import perf_counter

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from engine.api.metrics import Metrics
from engine.api.problems import Problem, respond

UNMATCHED = "(no route)"
CLIENT_GONE = 499

access_log = logging.getLogger("anamnesis.access")
error_log = logging.getLogger("anamnesis.api")


class Observe:
    """Logs the route's pattern instead of the address: an address may hold what a person typed."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began = perf_counter()
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except ClientDisconnect:
            status = CLIENT_GONE
        except Exception as error:
            error_log.error("unforeseen %s at %s", type(error).__name__, _place(error))
            if not status:
                await respond(Problem(500, "The request could not be handled; the fault has been logged."))(
                    scope, receive, watched
                )
        seconds = perf_counter() - began
        route = getattr(scope.get("route"), "path", UNMATCHED)
        self.metrics.request(scope["method"], route, status, seconds)
        access_log.info("%s %s %d %.1f ms", _method(scope), route, status, seconds * 1000)


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method.isalpha() and len(method) <= 7 else "(method)"


def _place(error: BaseException) -> str:
    """File and line of the innermost frame: an exception's own text may quote a person."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown place"
