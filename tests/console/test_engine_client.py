"""The HTTP client: typed answers, and one clear line for everything else."""

import json
from collections.abc import Callable

import httpx
import pytest

from engine.client import EngineClient, EngineError, EngineUnreachable
from engine.wire import AskRequest, StaffSessionRequest

ANSWER = {"outcome": "answered", "text": "да [1]", "final_text": "да [1]", "lang": "ru", "chat": "medical"}


def _client(answer: Callable[[httpx.Request], httpx.Response], token: str | None = "t") -> EngineClient:
    return EngineClient("http://api.test/", token, transport=httpx.MockTransport(answer))


def test_chat_sends_the_question_as_the_bearer() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=ANSWER)

    response = _client(answer).chat(AskRequest(question="да?"))
    assert (response.outcome, response.lang, response.citations) == ("answered", "ru", [])
    assert (seen[0].method, str(seen[0].url)) == ("POST", "http://api.test/v1/chat")
    assert seen[0].headers["Authorization"] == "Bearer t"
    assert json.loads(seen[0].content)["question"] == "да?"


def test_a_staff_session_is_asked_for_with_the_console_key() -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.headers["Authorization"] == "Bearer key"
        assert json.loads(request.content) == {"username": "eva", "roles": ["safety"]}
        return httpx.Response(200, json={"token": "t", "expires_in": 60})

    session = _client(answer, None).staff_session("key", StaffSessionRequest(username="eva", roles=["safety"]))
    assert (session.token, session.expires_in) == ("t", 60)


@pytest.mark.parametrize(
    ("response", "line"),
    [
        (
            httpx.Response(422, json={"title": "Bad input", "detail": "question:\n too long"}),
            "Bad input: question: too long (HTTP 422)",
        ),
        (httpx.Response(502, text="<html>"), "Bad Gateway (HTTP 502)"),
        (httpx.Response(500, json=["x"]), "Internal Server Error (HTTP 500)"),
        (httpx.Response(200, json={"outcome": "maybe"}), "The API sent an answer of an unknown form (HTTP 200)"),
        (httpx.Response(200, text="no"), "The API sent an answer of an unknown form (HTTP 200)"),
    ],
)
def test_an_error_is_one_line(response: httpx.Response, line: str) -> None:
    with pytest.raises(EngineError) as caught:
        _client(lambda request: response).chat(AskRequest(question="?"))
    assert str(caught.value) == line
    assert caught.value.status == response.status_code


@pytest.mark.parametrize("fault", [httpx.ConnectError("refused"), httpx.ReadTimeout("slow"), httpx.ReadError("cut")])
def test_silence_is_told_apart_from_errors(fault: httpx.HTTPError) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        raise fault

    client = _client(answer)
    with pytest.raises(EngineUnreachable, match=r"http://api\.test"):
        client.chat(AskRequest(question="?"))
