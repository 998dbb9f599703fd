"""Client of any OpenAI-compatible chat endpoint."""

import json
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, get_args

import openai
from openai import AsyncOpenAI

from engine.models.base import Completion, JsonSchema, Message, ModelError, Usage
from engine.models.llm.json_reply import ReplyError, parse_object
from engine.settings import Structured

WAYS: tuple[Structured, ...] = get_args(Structured)
"""From the strictest to what nearly every endpoint knows: a JSON schema, a function call, plain JSON mode."""


class OpenAICompatible:
    """Chat completions with time-outs, retries on transient faults, usage counts and structured output.

    Structured output is asked for in the way that `structured` names; an endpoint that refuses that way (HTTP 400,
    404 or 422) is asked in the next one, and from then on in the one that it took.
    """

    def __init__(
        self,
        *,
        url: str,
        key: str,
        model: str,
        timeout: float,
        retries: int,
        max_tokens: int,
        structured: Structured = "json_schema",
    ) -> None:
        self.model = model
        self._client = AsyncOpenAI(base_url=url, api_key=key, timeout=timeout, max_retries=retries)
        self._max_tokens = max_tokens
        self._ways = WAYS[WAYS.index(structured) :]

    async def complete(self, messages: Sequence[Message], schema: JsonSchema | None = None) -> Completion:
        """One answer at temperature 0.

        Raises:
            ModelError: the endpoint failed, the reply was cut off, or it is not the object that was asked for.
        """
        if schema is None:
            return self._completion(await self._call(messages, {}), None)
        for way in self._ways[:-1]:
            with suppress(_WayRefusedError):
                return await self._ask(way, messages, schema)
        return await self._ask(self._ways[-1], messages, schema)

    async def close(self) -> None:
        """Let go of the connections."""
        await self._client.close()

    async def _ask(self, way: Structured, messages: Sequence[Message], schema: JsonSchema) -> Completion:
        reply = await self._call(_messages(way, messages, schema), _request(way, schema))
        self._ways = WAYS[WAYS.index(way) :]
        return self._completion(reply, schema)

    async def _call(self, messages: Sequence[Message], extra: dict[str, Any]) -> Any:
        try:
            return await self._client.chat.completions.create(
                model=self.model,
                messages=[{"role": message.role, "content": message.content} for message in messages],  # type: ignore[misc]
                temperature=0,
                max_tokens=self._max_tokens,
                **extra,
            )
        except (openai.BadRequestError, openai.NotFoundError, openai.UnprocessableEntityError) as error:
            if extra:
                raise _WayRefusedError(self.model, error.status_code) from None
            raise ModelError(f"The model {self.model} refused the request (HTTP {error.status_code}).") from None
        except openai.APITimeoutError:
            raise ModelError(f"The model {self.model} did not answer in time.") from None
        except openai.APIConnectionError:
            raise ModelError(f"The endpoint of the model {self.model} cannot be reached.") from None
        except openai.APIStatusError as error:
            raise ModelError(f"The endpoint of the model {self.model} failed (HTTP {error.status_code}).") from None
        except (openai.OpenAIError, ValueError) as error:
            raise ModelError(f"The model {self.model} gave no usable reply ({type(error).__name__}).") from None

    def _completion(self, reply: Any, schema: JsonSchema | None) -> Completion:
        try:
            choice = reply.choices[0]
            message = choice.message
            text = message.tool_calls[0].function.arguments if message.tool_calls else message.content or ""
        except (AttributeError, IndexError, TypeError):  # the library hands on whatever the endpoint sent
            raise ModelError(f"The model {self.model} gave an empty reply.") from None
        if getattr(choice, "finish_reason", None) == "length":
            # The end that is missing may be what makes an answer safe.
            raise ModelError(
                f"The reply of the model {self.model} was cut off at {self._max_tokens} tokens. "
                "Raise ANAMNESIS_LLM_MAX_TOKENS."
            )
        counted = getattr(reply, "usage", None)
        usage = Usage(
            prompt=getattr(counted, "prompt_tokens", 0) or 0,
            completion=getattr(counted, "completion_tokens", 0) or 0,
        )
        if schema is None:
            return Completion(text, usage)
        try:
            return Completion(text, usage, parse_object(text, schema.decisive))
        except ReplyError as error:
            raise ModelError(f"The model {self.model}: {error}.") from None


class _WayRefusedError(ModelError):
    """The endpoint does not know this way of asking for structured output."""

    def __init__(self, model: str, status: int) -> None:
        super().__init__(f"The model {model} refused the request (HTTP {status}).")


def _request(way: Structured, schema: JsonSchema) -> dict[str, Any]:
    if way == "json_schema":
        named = {"name": schema.name, "schema": schema.schema, "strict": True}
        return {"response_format": {"type": "json_schema", "json_schema": named}}
    if way == "tools":
        function = {"name": schema.name, "parameters": schema.schema}
        return {
            "tools": [{"type": "function", "function": function}],
            "tool_choice": {"type": "function", "function": {"name": schema.name}},
        }
    return {"response_format": {"type": "json_object"}}


def _messages(way: Structured, messages: Sequence[Message], schema: JsonSchema) -> Sequence[Message]:
    """Plain JSON mode does not enforce a schema, so it is told in words."""
    if way != "json_object":
        return messages
    hint = "Reply with one JSON object of this schema: " + json.dumps(schema.schema, ensure_ascii=False)
    return [Message("system", hint), *messages]
