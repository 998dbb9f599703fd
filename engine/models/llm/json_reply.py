"""Find the one JSON object in a model's reply."""

import json
from collections.abc import Iterator
from typing import Any

LONGEST_REPLY = 50_000
MOST_BRACES = 100
"""Opening braces that are tried: each may cost a walk through the reply, and nobody's answer has so many."""


class ReplyError(ValueError):
    """A reply holds no object, objects that contradict each other, or more than is worth reading."""


def parse_object(reply: str, decisive: str | None = None) -> dict[str, Any]:
    """The object of a reply: the whole reply where it is JSON, else the one that stands in it.

    `decisive` names the field that matters: objects without it are passed over, and two objects that disagree in it are
    an error, so that no order of words can turn a verdict; therefore a reply is read to its end or not at all.

    Raises:
        ReplyError: none was found, several disagree, or the reply is too long or too deeply nested.
    """
    if len(reply) > LONGEST_REPLY:
        raise ReplyError(f"the reply is longer than {LONGEST_REPLY} characters")
    try:
        found = [item for item in _candidates(reply) if decisive is None or decisive in item]
    except RecursionError:
        raise ReplyError("the reply is nested too deeply") from None
    if not found:
        raise ReplyError("the reply holds no JSON object of the expected form")
    if any(_differs(item, found[0], decisive) for item in found[1:]):
        raise ReplyError("the reply holds JSON objects that disagree")
    return found[-1]


def _differs(one: dict[str, Any], other: dict[str, Any], decisive: str | None) -> bool:
    return one != other if decisive is None else one[decisive] != other[decisive]


def _candidates(reply: str) -> list[dict[str, Any]]:
    try:
        whole = json.loads(reply)
    except ValueError:
        return list(_embedded(reply))
    return [whole] if isinstance(whole, dict) else []


def _embedded(reply: str) -> Iterator[dict[str, Any]]:
    """Top-level objects inside prose or a code fence; the decoder knows strings, so a brace in one does no harm."""
    decoder = json.JSONDecoder()
    at = reply.find("{")
    for _ in range(MOST_BRACES):
        if at == -1:
            return
        try:
            item, end = decoder.raw_decode(reply, at)
        except ValueError:
            at = reply.find("{", at + 1)
            continue
        yield item
        at = reply.find("{", end)
    if at != -1:
        raise ReplyError("the reply holds too many braces")
