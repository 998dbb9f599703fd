"""JSON Lines as other programs write them."""

import io
import json
import sys

import pytest
from pydantic import BaseModel

from engine.cli.batch import emit, run_batch


class Line(BaseModel):
    """A line with one field."""

    text: str


@pytest.fixture
def batch(monkeypatch, capfd):
    """Answer lines of standard input; the lines of standard output."""

    async def handle(line: Line) -> dict:
        return {"echo": line.text}

    async def run(content: bytes) -> list[dict]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        await run_batch(Line, handle)
        return [json.loads(line, parse_constant=pytest.fail) for line in capfd.readouterr().out.splitlines()]

    return run


@pytest.mark.parametrize(
    ("number", "fault"),
    [
        (b"1e999", "a number of the line is too large"),
        (b"-1e999", "a number of the line is too large"),
        (b"Infinity", "the line is not JSON"),
        (b"NaN", "the line is not JSON"),
    ],
)
async def test_a_number_that_json_cannot_say_is_refused(batch, number, fault):
    assert await batch(b'{"id":' + number + b',"text":"a"}\n{"id":1.5,"text":"b"}\n') == [
        {"id": None, "error": fault},
        {"id": 1.5, "echo": "b"},
    ]


async def test_the_id_of_a_line_with_too_large_a_number_is_echoed(batch):
    assert await batch(b'{"id":11,"text":"a","n":1e999}\n{"id":[1e999],"text":"b"}\n') == [
        {"id": 11, "error": "a number of the line is too large"},
        {"id": None, "error": "a number of the line is too large"},
    ]


def test_what_is_not_json_is_never_written(capfd):
    with pytest.raises(ValueError, match="JSON"):
        emit({"id": float("inf")})
    assert capfd.readouterr().out == ""


async def test_a_mark_before_the_first_line_is_passed_over(batch):
    assert await batch(b'\xef\xbb\xbf{"id":1,"text":"a"}\n') == [{"id": 1, "echo": "a"}]
    assert await batch(b'\xef\xbb\xbf\n{"id":1,"text":"a"}\n') == [{"id": 1, "echo": "a"}]
