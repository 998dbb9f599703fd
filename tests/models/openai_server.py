"""A small OpenAI-compatible server on a real socket: it answers what a test tells it to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Request = dict[str, Any]
Reply = tuple[int, Any]
Script = Callable[[Request], Reply]


@dataclass
class OpenAIServer:
    """The server's address, what it was asked, and what it answers."""

    script: Script
    url: str = ""
    requests: list[Request] = field(default_factory=list)


def completion(text: str | None, *, arguments: str | None = None, ended: str = "stop") -> Reply:
    """A chat completion with a text or a function call."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if arguments is not None:
        function = {"name": "f", "arguments": arguments}
        message["tool_calls"] = [{"id": "1", "type": "function", "function": function}]
    usage = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
    choice = {"index": 0, "message": message, "finish_reason": ended}
    return 200, {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [choice],
        "usage": usage,
    }


def failure(status: int) -> Reply:
    return status, {"error": {"message": "no", "type": "x"}}


@contextmanager
def openai_server(script: Script) -> Iterator[OpenAIServer]:
    """Serve the script on a free port until the block ends."""
    server = OpenAIServer(script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(request)
            status, body = server.script(request)
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            """Keep the test's output clean."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{http.server_port}/v1"
    try:
        yield server
    finally:
        http.shutdown()
        http.server_close()
