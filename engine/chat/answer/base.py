"""The protocol of an answerer."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from engine.chat.prompt import Prompt
from engine.chat.sources import Source
from engine.wire.fields import Lang


@dataclass(frozen=True)
class Draft:
    """An answer before the guards have seen it."""

    text: str
    author: str
    """Mode and model, as they stand in the trace."""
    tokens: dict[str, int] = field(default_factory=dict)


class Answerer(Protocol):
    """Writes one answer with inline citations `[n]`."""

    @property
    def name(self) -> str:
        """Mode and model."""

    async def answer(self, question: str, lang: Lang, sources: Sequence[Source], prompt: Prompt) -> Draft:
        """One draft. Raises ModelError where a model failed."""

    async def close(self) -> None:
        """Let go of connections."""
