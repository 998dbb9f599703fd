"""Finding the one object in a reply."""

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.guardrails.judge import read_verdict
from engine.models.llm.json_reply import LONGEST_REPLY, MOST_BRACES, ReplyError, parse_object

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


@pytest.mark.parametrize("opening", ["[", '{"a":', '{"a":['])
@pytest.mark.parametrize("before", ["", "Verdict: ", f"{OBJECT} "])
def test_a_reply_that_is_nested_without_end_is_an_error(before: str, opening: str) -> None:
    with pytest.raises(ReplyError):
        parse_object(before + opening * 3000, "other" if before.startswith("{") else "verdict")


def test_a_reply_that_cannot_be_read_to_its_end_turns_no_verdict() -> None:
    with pytest.raises(ReplyError, match="nested too deeply"):
        parse_object(f"{OBJECT} " + '{"a":' * 3000, "verdict")
    with pytest.raises(ReplyError, match="too many braces"):
        parse_object(f"{OBJECT} " + "{" * MOST_BRACES, "verdict")
    assert parse_object(f"{OBJECT} " + "{" * (MOST_BRACES - 1), "verdict") == {"verdict": "ok"}


def test_a_reply_beyond_reason_is_not_read() -> None:
    padding = " " * (LONGEST_REPLY - len(OBJECT))
    assert parse_object(OBJECT + padding) == {"verdict": "ok"}
    with pytest.raises(ReplyError, match=f"longer than {LONGEST_REPLY}"):
        parse_object(f"{OBJECT}{padding} ")


def test_how_often_the_decoder_is_asked_does_not_grow_with_the_reply(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    raw_decode = json.JSONDecoder.raw_decode

    def counted(self: json.JSONDecoder, text: str, idx: int = 0) -> object:
        asked.append(idx)
        return raw_decode(self, text, idx)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", counted)
    with pytest.raises(ReplyError):
        parse_object("{" * LONGEST_REPLY)
    assert len(asked) <= MOST_BRACES + 1


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
