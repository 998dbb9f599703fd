"""The client against a real HTTP server: structured output, faults, retries, usage."""

import json
import threading

import pytest

from engine.models.base import JsonSchema, Message, ModelError
from engine.models.llm.openai_compatible import OpenAICompatible
from engine.models.registry import answering_model
from engine.settings import Settings
from tests.models.openai_server import completion, failure, openai_server

SCHEMA = JsonSchema("thing", {"type": "object", "properties": {"a": {"type": "integer"}}})
ASKED = [Message("user", "секрет: {context} <<x>>")]


def client(url: str, *, retries: int = 0, timeout: float = 5.0) -> OpenAICompatible:
    return OpenAICompatible(url=url, key="k", model="m", timeout=timeout, retries=retries, max_tokens=77)


async def test_text_and_usage_come_back_and_the_prompt_goes_out_as_it_is() -> None:
    with openai_server(lambda request: completion("привет")) as server:
        reply = await client(server.url).complete(ASKED)
    assert (reply.text, reply.usage.prompt, reply.usage.completion) == ("привет", 11, 7)
    assert server.requests[0]["messages"] == [{"role": "user", "content": ASKED[0].content}]
    assert server.requests[0]["temperature"] == 0
    assert server.requests[0]["max_tokens"] == 77


async def test_a_schema_is_asked_for_first() -> None:
    with openai_server(lambda request: completion('{"a": 1}')) as server:
        reply = await client(server.url).complete(ASKED, SCHEMA)
    assert reply.data == {"a": 1}
    assert server.requests[0]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("status", [400, 404, 422])
async def test_an_endpoint_without_schemas_is_asked_by_a_function_call(status: int) -> None:
    def script(request: dict) -> tuple:  # type: ignore[type-arg]
        if "tools" in request:
            return completion(None, arguments='{"a": 2}')
        return failure(status)

    with openai_server(script) as server:
        reply = await client(server.url).complete(ASKED, SCHEMA)
    assert reply.data == {"a": 2}
    assert len(server.requests) == 2


async def test_an_endpoint_without_function_calls_is_asked_in_json_mode() -> None:
    def script(request: dict) -> tuple:  # type: ignore[type-arg]
        plain = request.get("response_format") == {"type": "json_object"}
        return completion('```json\n{"a": 3}\n```') if plain else failure(400)

    with openai_server(script) as server:
        reply = await client(server.url).complete(ASKED, SCHEMA)
    assert reply.data == {"a": 3}
    assert "schema" in json.dumps(server.requests[-1]["messages"])


async def test_a_transient_fault_is_retried() -> None:
    replies = [failure(503), completion("ok")]
    with openai_server(lambda request: replies.pop(0)) as server:
        reply = await client(server.url, retries=1).complete(ASKED)
    assert reply.text == "ok"


@pytest.mark.parametrize(
    "reply",
    [
        failure(500), failure(401), failure(400), (200, b"<html>"), (200, {"choices": []}), (200, {}), (200, b"null"),
        (200, {"choices": [{}]}), (200, {"choices": [{"message": None}]}), (200, {"choices": 5}),
        (200, {"choices": [{"message": {"tool_calls": [{"id": "1"}]}}]}), completion("половина", ended="length"),
    ],
)  # fmt: skip
async def test_every_fault_is_a_model_error_in_one_line_without_the_prompt(reply: tuple) -> None:  # type: ignore[type-arg]
    with openai_server(lambda request: reply) as server, pytest.raises(ModelError) as caught:
        await client(server.url).complete(ASKED)
    assert "секрет" not in str(caught.value)
    assert "\n" not in str(caught.value)


async def test_a_closed_port_is_a_model_error() -> None:
    with openai_server(lambda request: completion("x")) as server:
        url = server.url
    with pytest.raises(ModelError, match="cannot be reached"):
        await client(url).complete(ASKED)


async def test_a_silent_endpoint_times_out() -> None:
    release = threading.Event()

    def script(request: dict) -> tuple:  # type: ignore[type-arg]
        release.wait(20)
        return completion("late")

    with openai_server(script) as server:
        try:
            with pytest.raises(ModelError, match="in time"):
                await client(server.url, timeout=0.2).complete(ASKED)
        finally:
            release.set()


async def test_an_unparsable_object_is_a_model_error() -> None:
    with openai_server(lambda request: completion('{"a": 1')) as server, pytest.raises(ModelError, match="JSON"):
        await client(server.url).complete(ASKED, SCHEMA)


async def test_the_way_that_was_taken_is_remembered() -> None:
    def script(request: dict) -> tuple:  # type: ignore[type-arg]
        if request.get("response_format", {}).get("type") == "json_schema":
            return failure(400)
        return completion(None, arguments='{"a": 2}')

    with openai_server(script) as server:
        model = client(server.url)
        for _ in range(3):
            assert (await model.complete(ASKED, SCHEMA)).data == {"a": 2}
    assert ["tools" in request for request in server.requests] == [False, True, True, True]


async def test_a_refusal_of_every_way_changes_nothing() -> None:
    refusing = True
    with openai_server(lambda request: failure(400) if refusing else completion('{"a": 1}')) as server:
        model = client(server.url)
        with pytest.raises(ModelError, match="refused"):
            await model.complete(ASKED, SCHEMA)
        refusing = False
        await model.complete(ASKED, SCHEMA)
    assert len(server.requests) == 4
    assert server.requests[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize("schema", [SCHEMA, None])
async def test_a_reply_that_was_cut_off_is_a_model_error_even_when_it_can_be_read(schema: JsonSchema | None) -> None:
    with (
        openai_server(lambda request: completion('{"a": 1}', ended="length")) as server,
        pytest.raises(ModelError, match=r"cut off at 77 tokens\. Raise ANAMNESIS_LLM_MAX_TOKENS"),
    ):
        await client(server.url).complete(ASKED, schema)


async def test_objects_that_disagree_in_what_matters_are_a_model_error() -> None:
    decisive = JsonSchema("thing", SCHEMA.schema, decisive="a")
    with openai_server(lambda request: completion('{"a": 1, "b": 1} {"a": 1, "b": 2} {"c": 3}')) as server:
        assert (await client(server.url).complete(ASKED, decisive)).data == {"a": 1, "b": 2}
        with pytest.raises(ModelError, match="disagree"):
            await client(server.url).complete(ASKED, SCHEMA)


async def test_a_closed_model_holds_no_connection_and_answers_no_more() -> None:
    with openai_server(lambda request: completion("x")) as server:
        model = client(server.url)
        await model.complete(ASKED)
        await model.close()
        with pytest.raises(RuntimeError, match="closed"):
            await model.complete(ASKED)
    assert len(server.requests) == 1


async def test_the_longest_reply_is_a_setting() -> None:
    with openai_server(lambda request: completion("x")) as server:
        model = answering_model(Settings(llm_url=server.url, llm_model="m", llm_max_tokens=99))
        assert model
        await model.complete(ASKED)
        await model.close()
    assert server.requests[0]["max_tokens"] == 99
