"""Field types with their limits: what the engine accepts from anybody."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, StringConstraints

MAX_QUESTION = 4_000
"""Longest question in characters; a longer one is refused with a clear error."""

Lang = Literal["ru", "en"]


def _without_surrogates(value: Any) -> Any:
    """Drop lone surrogates and NUL: neither can be stored by Postgres nor sent as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "ignore").decode("utf-8").replace("\x00", "")
    return value


Text = Annotated[str, BeforeValidator(_without_surrogates)]
Question = Annotated[Text, StringConstraints(max_length=MAX_QUESTION)]
User = Annotated[Text, StringConstraints(min_length=1, max_length=200)]
