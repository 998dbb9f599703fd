"""JSON Lines in, JSON Lines out: one line a line, in order, `id` echoed, a bad line answered by an error."""

import json
import math
import sys
from codecs import BOM_UTF8
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from engine.cli.errors import one_line

Model = TypeVar("Model", bound=BaseModel)
Result = dict[str, Any]


def emit(data: Result) -> None:
    """One JSON line on standard output; a lone surrogate becomes its escape, which is JSON too."""
    line = json.dumps(data, ensure_ascii=False, allow_nan=False) + "\n"
    sys.stdout.buffer.write(line.encode("utf-8", "backslashreplace"))
    sys.stdout.buffer.flush()


def read_lines() -> Iterator[bytes]:
    """Lines of standard input that hold something, without the mark that some editors put before the first."""
    for number, raw in enumerate(sys.stdin.buffer):
        line = raw if number else raw.removeprefix(BOM_UTF8)
        if line.strip():
            yield line


async def run_batch(model: type[Model], handle: Callable[[Model], Awaitable[Result]]) -> None:
    """Answer every line of standard input."""
    for line in read_lines():
        identifier, data, fault = parse_line(line)
        if fault is None:
            try:
                emit({"id": identifier, **await handle(model.model_validate(data))})
                continue
            except ValidationError as error:
                fault = describe_fault(error)
            except Exception as error:
                fault = one_line(error)
        emit({"id": identifier, "error": fault})


def parse_line(line: bytes) -> tuple[Any, Result, str | None]:
    """Id, the other fields, and what is wrong with the line, if anything."""
    outsized: list[str] = []

    def number(digits: str) -> float:
        value = float(digits)
        if math.isinf(value):
            outsized.append(digits)
        return value

    try:
        data = json.loads(line.decode("utf-8"), parse_float=number, parse_constant=_refuse)
    except UnicodeDecodeError:
        return None, {}, "the line is not UTF-8"
    except (ValueError, RecursionError):
        return None, {}, "the line is not JSON"
    if not isinstance(data, dict):
        return None, {}, "the line is not a JSON object"
    identifier = data.pop("id", None)
    if outsized:
        return _sayable(identifier), {}, "a number of the line is too large"
    return identifier, data, None


def _sayable(identifier: Any) -> Any:
    """The id, unless the number that is too large stands in it."""
    try:
        json.dumps(identifier, allow_nan=False)
    except ValueError:
        return None
    return identifier


def _refuse(constant: str) -> float:
    """NaN and Infinity, which Python reads and JSON does not know."""
    raise ValueError(constant)


def describe_fault(error: ValidationError) -> str:
    """The first fault with the field's name, without its value."""
    fault = error.errors(include_input=False, include_url=False)[0]
    return f"{'.'.join(str(part) for part in fault['loc']) or 'line'}: {fault['msg']}"
