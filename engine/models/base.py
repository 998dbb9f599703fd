"""What a model must be able to do, whoever provides it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
"""Unit vectors, one a row: shape (texts, dimension)."""


class ModelError(RuntimeError):
    """A model could not be loaded or did not answer; the text names the model and the cure, never an input."""


class Embedder(Protocol):
    """A sentence encoder with a vector space of its own."""

    @property
    def space(self) -> str:
        """Name of the vector space; vectors of different spaces are never compared."""

    @property
    def model(self) -> str:
        """Model name and revision, as stored with the vectors."""

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    @property
    def sentence_vectors(self) -> bool:
        """Whether the corpus keeps a vector of each sentence in this space, beside the chunk's."""

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of questions. Raises ValueError for an empty text: it has no meaning to encode."""

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of passages. Raises ValueError for an empty text."""


class Reranker(Protocol):
    """A cross-encoder: it reads a question and a passage together, and scores how well the one answers the other."""

    @property
    def model(self) -> str:
        """Model name and revision, as it stands in traces."""

    def warm_up(self) -> None:
        """Load the model and see that it works; the first `scores` does it otherwise. Raises ModelError."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Logits, one a passage, in the order of the passages: unbounded, higher fits better, 0 is even chances.

        One that is not finite says that the model failed on that pair. Raises ValueError for an empty text,
        ModelError where the model failed altogether.
        """


@dataclass(frozen=True)
class Message:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one call as the endpoint counted them."""

    prompt: int = 0
    completion: int = 0


@dataclass(frozen=True)
class Completion:
    """What a language model answered; `data` is the parsed object where a schema was asked for."""

    text: str
    usage: Usage
    data: dict[str, Any] | None = None


@dataclass(frozen=True)
class JsonSchema:
    """A named schema for structured output."""

    name: str
    schema: dict[str, Any] = field(default_factory=dict)
    decisive: str | None = None
    """The field that matters: a reply whose objects disagree in it is none."""


class LanguageModel(Protocol):
    """A chat model."""

    @property
    def model(self) -> str:
        """Name of the model as it stands in traces."""

    async def complete(self, messages: Sequence[Message], schema: JsonSchema | None = None) -> Completion:
        """One answer. Raises ModelError on time-out, refusal, a reply that was cut off or an unparsable object."""

    async def close(self) -> None:
        """Let go of the connections; after it nothing is asked."""
