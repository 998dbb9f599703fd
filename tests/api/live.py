"""A real HTTP server in this process, and an engine that fails on demand."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI

from engine.api.server import make_server
from engine.wire import AskRequest, AskResponse, Origin
from tests.polling import eventually


@dataclass
class FakeEngine:
    """Stands in where a real engine cannot be made to fail; it remembers what it was asked."""

    fault: BaseException | None = None
    asked: list[tuple[AskRequest, Origin]] = field(default_factory=list)
    closed: bool = False

    async def ask(self, request: AskRequest, *, origin: Origin) -> AskResponse:
        self.asked.append((request, origin))
        if self.fault:
            raise self.fault
        return AskResponse(outcome="abstained", text="-", final_text="", lang="en", chat="medical")

    async def ready(self) -> None:
        if self.fault:
            raise self.fault

    async def close(self) -> None:
        self.closed = True


@contextmanager
def serving(app: FastAPI) -> Iterator[str]:
    """The address of the application on a free port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    server = make_server(app)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listener])), daemon=True)
    thread.start()
    try:
        eventually(lambda: server.started or not thread.is_alive(), what="the server's start")
        assert server.started
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        listener.close()
        assert not thread.is_alive()
