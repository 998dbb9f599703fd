"""Run the application with uvicorn, with logs that cannot quote a person."""

import asyncio
import logging
from typing import Any

import uvicorn
from fastapi import FastAPI

from engine.settings import Settings

NOISY = ("httpx", "httpcore", "openai", "urllib3")


class QuietFormatter(logging.Formatter):
    """Names an exception's type and leaves its text and its frames out: both may hold a question."""

    def formatException(self, ei: Any) -> str:  # noqa: N802 - the base class's name
        return f"({ei[0].__name__ if ei[0] else 'no exception'})"

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the base class's name
        return ""


def configure_logging() -> None:
    """One handler to standard error for everything."""
    handler = logging.StreamHandler()
    handler.setFormatter(QuietFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for name in NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


def make_server(app: FastAPI, *, host: str = "127.0.0.1", port: int = 0) -> uvicorn.Server:
    """A server whose own access log, which quotes addresses as they were typed, is silent."""
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=20,
    )
    logging.getLogger("uvicorn.access").setLevel(logging.CRITICAL)
    return uvicorn.Server(config)


async def serve(app: FastAPI, settings: Settings) -> None:
    """Serve until SIGINT or SIGTERM; requests under way are finished."""
    asyncio.get_running_loop().set_exception_handler(_name_only)
    await make_server(app, host=settings.api_host, port=settings.api_port).serve()


def _name_only(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    error = context.get("exception")
    logging.getLogger("anamnesis.api").error("a background task failed: %s", type(error).__name__)
