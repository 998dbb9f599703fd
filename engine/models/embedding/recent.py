"""An encoder that remembers its last questions: the gates and the search read the same message."""

import threading
from collections import OrderedDict
from collections.abc import Sequence

import numpy as np

from engine.models.base import Embedder, Vectors

KEPT = 16
"""Messages; in memory alone, and none longer than it takes for as many others to come."""


class RecentQueries:
    """Passes everything on to the encoder, except a single question that it was asked a moment ago."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._known: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()
        self.space = embedder.space
        self.sentence_vectors = embedder.sentence_vectors

    @property
    def model(self) -> str:
        """Asked for late: a large model's files are looked through to tell it."""
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """Asked for late: a large model is loaded to tell it."""
        return self._embedder.dimension

    def queries(self, texts: Sequence[str]) -> Vectors:
        """As the encoder's own. Raises ValueError, ModelError."""
        if len(texts) != 1:
            return self._embedder.queries(texts)
        with self._lock:
            known = self._known.pop(texts[0], None)
        vectors = self._embedder.queries(texts) if known is None else known
        with self._lock:
            self._known[texts[0]] = vectors
            while len(self._known) > KEPT:
                self._known.popitem(last=False)
        return np.array(vectors)

    def passages(self, texts: Sequence[str]) -> Vectors:
        """As the encoder's own. Raises ValueError, ModelError."""
        return self._embedder.passages(texts)
