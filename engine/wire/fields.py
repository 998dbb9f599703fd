"""Field types with their limits: what the engine accepts from anybody."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

MAX_QUESTION = 4_000
"""Longest question in characters; a longer one is refused with a clear error."""

Lang = Literal["ru", "en"]


def _without_surrogates(value: Any) -> Any:
    """Drop lone surrogates and NUL: neither can be stored by Postgres nor sent as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode("utf-8").replace("\x00", "")
    return value


@dataclass(frozen=True)
class Length:
    """A text's length in characters.

    The library's own limit, behind a validator as that of `Text`, no longer sees a string and speaks of items.
    """

    most: int
    least: int = 0

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self._check, handler(source))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        limits = {"maxLength": self.most} | ({"minLength": self.least} if self.least else {})
        return handler(schema) | limits

    def _check(self, text: str) -> str:
        if len(text) > self.most:
            raise PydanticCustomError(
                "string_too_long",
                "Text should have at most {most} characters, not {given}",
                {"most": f"{self.most:,}", "given": f"{len(text):,}"},
            )
        if len(text) < self.least:
            raise PydanticCustomError(
                "string_too_short",
                "Text should have at least {least}",
                {"least": "1 character" if self.least == 1 else f"{self.least:,} characters"},
            )
        return text


Text = Annotated[str, BeforeValidator(_without_surrogates)]
Question = Annotated[Text, Length(MAX_QUESTION)]
User = Annotated[Text, Length(200, least=1)]
