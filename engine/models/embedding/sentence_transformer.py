"""Any sentence encoder that sentence-transformers can load; BAAI/bge-m3 (1,024 dimensions) in production."""

import threading
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from engine.models.base import ModelError, Vectors
from engine.models.embedding.checks import ready
from engine.models.local import LocalModel, space_name

MAX_TOKENS = 1_024
"""Longest text in tokens; the rest of a longer one is not read. No chunk is half as long, and time grows with it."""
BATCH = 16


class SentenceTransformerEmbedder:
    """Loaded at the first use, in full precision: a vector that is stored must not depend on its neighbours.

    Questions and passages get the prompts that the model names for them; bge-m3 names none.
    """

    sentence_vectors = True

    def __init__(self, name: str, *, models_dir: Path | None = None, device: str | None = None) -> None:
        """`name`: a folder or a name of the hub's; `device`: as torch names it, None: the best there is."""
        self.space = space_name(name)
        self._model = LocalModel(name, models_dir, device)
        self._lock = threading.Lock()

    @property
    def model(self) -> str:
        """Name and fingerprint of the files; finds them, and loads nothing. Raises ModelError."""
        return self._model.version

    @property
    def dimension(self) -> int:
        """Length of a vector; loads the model. Raises ModelError."""
        with self._lock:
            return int(self._encoder.get_embedding_dimension())

    def queries(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of questions, shape (texts, dimension). Raises ValueError for an empty text, ModelError."""
        return self._encode(texts, "encode_query")

    def passages(self, texts: Sequence[str]) -> Vectors:
        """Unit vectors of passages, shape (texts, dimension). Raises ValueError for an empty text, ModelError."""
        return self._encode(texts, "encode_document")

    @cached_property
    def _encoder(self) -> Any:
        if not (self._model.folder / "modules.json").is_file():
            # The library would guess how token vectors become one; bge-m3 read by their mean is another model.
            raise ModelError(f"The model {self._model.name} is no sentence encoder: it has no modules.json.")
        encoder = self._model.load("SentenceTransformer", model_kwargs={"dtype": "float32"})
        encoder.max_seq_length = min(encoder.max_seq_length or MAX_TOKENS, MAX_TOKENS)
        return encoder

    def _encode(self, texts: Sequence[str], how: str) -> Vectors:
        given = ready(texts)
        with self._lock:
            encoder = self._encoder
            if not given:
                return np.empty((0, int(encoder.get_embedding_dimension())), np.float32)
            try:
                raw = getattr(encoder, how)(
                    given, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False, convert_to_numpy=True
                )
            except RuntimeError as error:  # out of memory, a device that is gone
                raise ModelError(f"The model {self._model.name} failed ({type(error).__name__}).") from None
        vectors = np.asarray(raw, dtype=np.float32)
        if not np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-3):
            # A vector of NaN or of nought would be as close to everything as to nothing.
            raise ModelError(f"The model {self._model.name} gave a vector without a direction: are its files damaged?")
        return vectors
