"""Request bodies: bounded, UTF-8, strict JSON. What cannot be stored or sent on is refused here, by field."""

import asyncio
import math
from collections.abc import Iterator
from email.message import Message
from typing import Any

from fastapi import Request
from pydantic_core import from_json

from engine.api.problems import Problem, field_name, refused

BODY_SECONDS = 30.0
"""How long a caller may take to send a body."""
DISCARDED_BYTES = 8 * 2**20
"""How much of a body that is too large is read away, so that its sender lives to see the answer."""


class ParsedRequest(Request):
    """A request whose body has been read and parsed; the framework validates what it finds here."""

    def __init__(self, request: Request, raw: bytes, parsed: Any) -> None:
        super().__init__(request.scope, request.receive)
        self._raw = raw
        self._parsed = parsed

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._parsed


async def read_json(request: Request, limit: int) -> ParsedRequest:
    """Read and parse the body.

    Raises:
        Problem: 408, 413, 415, 400 for what is no JSON, 422 for a value that nothing can hold.
    """
    _require_json(request)
    try:
        async with asyncio.timeout(BODY_SECONDS):
            raw = await _read(request, limit)
    except TimeoutError:
        raise Problem(408, "The body took too long to arrive.", headers={"Connection": "close"}) from None
    try:
        parsed = from_json(raw, allow_inf_nan=False)
    except ValueError as error:
        raise Problem(400, f"The body is not valid JSON in UTF-8: {error}.") from None
    for path, fault in _faults(parsed, ()):
        raise refused(field_name(path), fault)
    return ParsedRequest(request, raw, parsed)


def _require_json(request: Request) -> None:
    header = Message()
    header["content-type"] = request.headers.get("content-type", "")
    charset = str(header.get_param("charset", "utf-8")).lower()
    if header.get_content_type() != "application/json" or charset not in {"utf-8", "utf8"}:
        raise Problem(415, "Send the body as `Content-Type: application/json`, in UTF-8.")


async def _read(request: Request, limit: int) -> bytes:
    """The body, read to its end or to the limit; a declared length is not trusted to be the true one."""
    kept = bytearray()
    seen = 0
    async for piece in request.stream():
        seen += len(piece)
        if seen <= limit:
            kept += piece
        elif seen > DISCARDED_BYTES:
            break
    if seen > limit:
        raise Problem(413, f"The body must have {limit} bytes or fewer.", headers={"Connection": "close"})
    return bytes(kept)


def _faults(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Values that JSON allows and that neither the database nor an answer can hold."""
    if isinstance(value, str):
        if "\x00" in value:
            yield path, "The character NUL (U+0000) is not allowed."
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield path, "The number is too large."
    elif isinstance(value, dict):
        for key, item in value.items():
            if "\x00" in key:
                yield (*path, key), "The character NUL (U+0000) is not allowed in a name."
            yield from _faults(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _faults(item, (*path, index))
