"""Finding the one object in a reply."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.guardrails.judge import read_verdict
from engine.models.llm.json_reply import ReplyError, parse_object

OBJECT = '{"verdict":"ok"}'


@pytest.mark.parametrize(
    "reply",
    [
        OBJECT,
        f"```json\n{OBJECT}\n```",
        f"```\n{OBJECT}\n```",
        f"```JSON\n{OBJECT}\n```",
        f"Here it is:\n```json\n{OBJECT}\n```",
        f"Claim [1] is supported. {OBJECT}",
        f"{OBJECT} and again {OBJECT}",
    ],
)
def test_the_object_is_found(reply: str) -> None:
    assert parse_object(reply, "verdict") == {"verdict": "ok"}


@pytest.mark.parametrize(
    ("reply", "verdict"),
    [
        ('{"reason":"has } brace","verdict":"ok"}', "ok"),
        ('{"reason":"use ```x``` here","verdict":"blocked"}', "blocked"),
    ],
)
def test_signs_inside_strings_do_no_harm(reply: str, verdict: str) -> None:
    assert parse_object(reply, "verdict")["verdict"] == verdict


@pytest.mark.parametrize(
    "reply",
    ["", "null", "[]", '"ok"', "Not safe: gives a dose", "да", '{"verdict":"ok"', '{"a": 1}', "{" * 5000,
     '{"verdict":"ungrounded"} ... final: {"verdict":"ok"}'],
)  # fmt: skip
def test_no_clear_object_is_an_error(reply: str) -> None:
    with pytest.raises(ReplyError):
        parse_object(reply, "verdict")


@given(st.text())
def test_any_text_gives_an_object_or_an_error(text: str) -> None:
    with contextlib.suppress(ReplyError):
        assert isinstance(parse_object(text), dict)


@given(st.dictionaries(st.text(), st.one_of(st.text(), st.integers(), st.booleans())), st.text(alphabet="abc [1]\n"))
def test_an_object_inside_prose_comes_back_whole(data: dict[str, object], prose: str) -> None:
    assert parse_object(prose + json.dumps(data) + prose) == data


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ({"verdict": "ok"}, "ok"),
        ({"verdict": " Ok. "}, "ok"),
        ({"verdict": '"ok"'}, "ok"),
        ({"verdict": "BLOCKED"}, "blocked"),
        ({"verdict": "ungrounded"}, "ungrounded"),
        ({"verdict": "rewritten", "text": "Neutral [1]"}, "rewritten"),
        ({"verdict": "rewritten", "text": "  "}, "judge_error"),
        ({"verdict": "rewritten"}, "judge_error"),
        ({"verdict": "Блокировать"}, "judge_error"),
        ({"verdict": "not ok"}, "judge_error"),
        ({"verdict": True}, "judge_error"),
        ({"passed": "false"}, "judge_error"),
        ({}, "judge_error"),
        (None, "judge_error"),
    ],
)
def test_a_verdict_outside_the_closed_set_is_a_judge_error(data: dict[str, object] | None, status: str) -> None:
    assert read_verdict(data)[0] == status
