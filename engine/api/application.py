"""The application: routes, guards and error handlers around one engine."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI

from engine.api.metrics import Metrics
from engine.api.observe import Observe
from engine.api.policy import SECURITY_SCHEMES, Gate, GuardedRoute
from engine.api.port import AnsweringEngine
from engine.api.problems import HANDLERS
from engine.api.routes import add_routes
from engine.keys import Keys
from engine.settings import Settings


class Application(FastAPI):
    """FastAPI whose OpenAPI document names the ways of signing in."""

    def openapi(self) -> dict[str, Any]:
        document = super().openapi()
        document.setdefault("components", {})["securitySchemes"] = SECURITY_SCHEMES
        return document


def create_app(engine_factory: Callable[[], AnsweringEngine], *, settings: Settings, keys: Keys) -> FastAPI:
    """Build the application; the engine is made when it starts and closed when it stops."""
    counters = Metrics()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.engine = engine_factory()
        try:
            yield
        finally:
            await app.state.engine.close()

    app = Application(
        title="Anamnesis",
        version="1",
        description="Consumer-health answers with sources, in Russian and English.",
        lifespan=lifespan,
        docs_url=None,  # both pages load scripts from other hosts
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
    )
    app.state.gate = Gate(keys=keys, max_body=settings.max_body)
    app.state.metrics = counters
    app.router.route_class = GuardedRoute
    add_routes(app.router)
    app.add_middleware(Observe, metrics=counters)
    return app
