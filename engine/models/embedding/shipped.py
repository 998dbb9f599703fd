"""Vectors that come with the corpus: a first start need not embed what somebody embedded before."""

import hashlib
import io
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from engine.models.base import Embedder, ModelError, Vectors

KEY_BYTES = 8
"""Of a hash: among a hundred thousand texts two share one with a chance of less than one in a thousand million."""

BATCH = 256
"""Texts that are embedded between two words on how far it is."""


@dataclass(frozen=True)
class ShippedVectors:
    """Half-precision vectors by the hash of model and text."""

    rows: dict[bytes, int]
    vectors: NDArray[np.float16]


class ShippedEmbedder:
    """An encoder that takes the vectors of known passages from a file and rounds all others alike."""

    def __init__(self, embedder: Embedder, shipped: ShippedVectors) -> None:
        self._embedder = embedder
        self._shipped = shipped
        self.space = embedder.space
        self.model = embedder.model
        self.sentence_vectors = embedder.sentence_vectors

    @property
    def dimension(self) -> int:
        """Asked for late: a large model is loaded to tell it."""
        return self._embedder.dimension

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._embedder.queries(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        keys = [key(self.model, text) for text in texts]
        missing = [text for text, found in zip(texts, keys, strict=True) if found not in self._shipped.rows]
        fresh = iter(rounded(self._embedder.passages(missing)) if missing else ())
        rows = self._shipped.rows
        found = [self._shipped.vectors[rows[item]] if item in rows else next(fresh) for item in keys]
        return np.asarray(found, np.float32) if found else np.empty((0, self.dimension), np.float32)


def with_shipped(embedder: Embedder, folder: Path) -> Embedder:
    """The encoder with the vectors that lie in the folder for its space, if any do."""
    return ShippedEmbedder(embedder, read(folder / f"{embedder.space}.npz"))


def read(path: Path) -> ShippedVectors:
    """The vectors of a file; of none that is missing. Raises ModelError where it is damaged."""
    if not path.is_file():
        return ShippedVectors({}, np.empty((0, 0), np.float16))
    try:
        with np.load(path, allow_pickle=False) as stored:
            keys, vectors = stored["keys"], stored["vectors"]
        if keys.shape != (len(vectors), KEY_BYTES) or vectors.dtype != np.float16:
            raise ValueError("shape")
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise ModelError(
            f"{path.name}: no file of vectors ({type(error).__name__}). Restore it, or run `anamnesis vectors`."
        ) from None
    return ShippedVectors({row.tobytes(): index for index, row in enumerate(keys)}, vectors)


def write(
    path: Path,
    embedder: Embedder,
    texts: Iterable[str],
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> int:
    """Embed distinct texts and write their vectors; equal texts give an equal file. Returns how many there are.

    `progress` counts the texts that were not in the file before.
    """
    known = read(path)
    unique = sorted({key(embedder.model, text): text for text in texts}.items())
    missing = [text for item, text in unique if item not in known.rows]
    fresh = _embedded(embedder, missing, progress)
    vectors = [known.vectors[known.rows[item]] if item in known.rows else next(fresh) for item, _ in unique]
    keys = np.frombuffer(b"".join(item for item, _ in unique), np.uint8).reshape(-1, KEY_BYTES)
    buffer = io.BytesIO()
    np.savez(buffer, keys=keys, vectors=np.asarray(vectors, np.float16))
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".part")
    unfinished.write_bytes(buffer.getvalue())
    unfinished.replace(path)
    return len(unique)


def _embedded(
    embedder: Embedder, texts: Sequence[str], progress: Callable[[int, int], None]
) -> Iterator[NDArray[np.float16]]:
    for start in range(0, len(texts), BATCH):
        vectors = rounded(embedder.passages(texts[start : start + BATCH]))
        progress(min(start + BATCH, len(texts)), len(texts))
        yield from vectors


def key(model: str, text: str) -> bytes:
    """What a text's vector is found by."""
    return hashlib.sha256(f"{model}\0{text}".encode()).digest()[:KEY_BYTES]


def rounded(vectors: Vectors) -> NDArray[np.float16]:
    """In half precision: a cosine moves by less than 0.001."""
    return vectors.astype(np.float16)
