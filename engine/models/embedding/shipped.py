"""Vectors that come with the corpus: a first start need not embed what somebody embedded before."""

import hashlib
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.base import Embedder, ModelError, Vectors

KEY_BYTES = 8
"""Of a hash: among a hundred thousand texts two share one with a chance of less than one in a thousand million."""

BATCH = 256
"""Texts that are embedded between two words on how far it is."""

UNIT_TOLERANCE = 1e-3
"""How far from 1 half precision may move the length of a unit vector: twice what rounding every number can do."""


@dataclass(frozen=True)
class ShippedVectors:
    """Half-precision vectors by the hash of model and text."""

    path: Path
    rows: dict[bytes, int]
    vectors: NDArray[np.float16]

    def fits(self, width: int) -> bool:
        """Whether the vectors are of this width; those of no text are of any."""
        return not self.rows or self.vectors.shape[1] == width


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
        """Unit vectors of passages. Raises ModelError where the file holds those of another width."""
        if self._shipped.rows and not self._shipped.fits(self.dimension):
            raise _damaged(self._shipped.path, f"the vectors are not of width {self.dimension}")
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
        return _none(path)
    try:
        with np.load(path, allow_pickle=False) as stored:
            keys, vectors = stored["keys"], stored["vectors"]
    except Exception as error:  # an archive with changed bytes raises errors of a dozen kinds
        raise _damaged(path, type(error).__name__) from None
    if (fault := _fault(keys, vectors)) is not None:
        raise _damaged(path, fault)
    return ShippedVectors(path, {row.tobytes(): index for index, row in enumerate(keys)}, vectors)


def _none(path: Path) -> ShippedVectors:
    return ShippedVectors(path, {}, np.empty((0, 0), np.float16))


def _fault(keys: NDArray[Any], vectors: NDArray[Any]) -> str | None:
    """What is wrong with what was read: it would end in the database's own words much later."""
    if vectors.dtype != np.float16 or vectors.ndim != 2:
        return "the vectors are no table of half-precision numbers"
    if keys.dtype != np.uint8 or keys.shape != (len(vectors), KEY_BYTES):
        return "the keys do not belong to the vectors"
    lengths = np.linalg.norm(vectors.astype(np.float32), axis=1)
    if not (np.abs(lengths - 1) <= UNIT_TOLERANCE).all():  # what is not finite is not near 1 either
        return "a vector is not of unit length"
    return None


def _damaged(path: Path, fault: str) -> ModelError:
    return ModelError(f"{path}: no file of vectors ({fault}). Restore it, or run `anamnesis vectors`.")


def _known(path: Path, embedder: Embedder) -> ShippedVectors:
    """What need not be embedded again; a damaged file, which is about to be replaced, counts as none."""
    try:
        found = read(path)
    except ModelError:
        return _none(path)
    return found if found.fits(embedder.dimension) else _none(path)


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
    known = _known(path, embedder)
    unique = sorted({key(embedder.model, text): text for text in texts}.items())
    missing = [text for item, text in unique if item not in known.rows]
    fresh = _embedded(embedder, missing, progress)
    vectors = [known.vectors[known.rows[item]] if item in known.rows else next(fresh) for item, _ in unique]
    keys = np.frombuffer(b"".join(item for item, _ in unique), np.uint8).reshape(-1, KEY_BYTES)
    buffer = io.BytesIO()
    np.savez(buffer, keys=keys, vectors=np.asarray(vectors, np.float16).reshape(-1, embedder.dimension))
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
