"""What `anamnesis train urgent` and `train output` learnt: a small classifier of texts beside the rules.

Two parts that see different things, a kernel over an encoder's vectors (meaning) and a linear one over character
n-grams (wording, slips of the pen), and whether a rule hit, are blended into one probability. Rules alone miss most of
what people say in their own words; the figures stand in the model's card (docs/models).
"""

import hashlib
import io
import logging
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import exp, sqrt
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from engine.models.base import Embedder, ModelError
from engine.models.kernel import KernelClassifier
from engine.text.normalise import normalise

URGENT, REFUSAL, OUTPUT = "urgent", "refusal", "output"
"""Names of the classifiers."""
log = logging.getLogger(__name__)

FOLDER = Path(__file__).with_name("classifiers")

NGRAM_SIZES = (2, 3, 4, 5)
BUCKETS = 2**15
"""Places of n-grams; two that meet in one share a weight."""
SPACE_SCALES = (1.0, 3.0)
"""By the place of a space: the second encoder's vectors lie in a narrow cone, which this widens."""
PARTS = ("vectors", "ngrams", "rules")


class Blend(BaseModel):
    """The part that a person can read, with where it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    spaces: tuple[str, ...]
    weights: dict[str, float]
    """Of each part in the log-odds."""
    intercept: float
    threshold: float = Field(gt=0, lt=1)
    """Probability from which a text counts as what is looked for."""
    kinds: tuple[str, ...]
    """What the kernel over vectors tells apart beyond that; empty where there is nothing to tell."""
    arrays: str = ""
    """SHA-256 of the file of arrays that belongs to these numbers, in hexadecimal."""
    provenance: dict[str, Any]


@dataclass(frozen=True)
class TextClassifier:
    """Says of a text how likely it is what was labelled true. Deterministic, and safe for threads."""

    blend: Blend
    kernel: KernelClassifier
    ngrams: NDArray[np.float32]
    """Weight of each bucket; the last one is the bias."""
    kind_weights: NDArray[np.float32]
    """Shape (dimension + 1, kinds); the last row is the bias."""

    def probability(self, text: str, features: NDArray[np.float32], *, rule_hit: bool) -> float:
        """`features`: see `joined`; `rule_hit`: whether a rule found something."""
        said = (self.kernel.decision(features), ngram_score(text, self.ngrams), float(rule_hit))
        odds = sum(self.blend.weights[part] * value for part, value in zip(PARTS, said, strict=True))
        return 1.0 / (1.0 + exp(-max(-50.0, min(50.0, odds + self.blend.intercept))))

    def kind(self, features: NDArray[np.float32]) -> str | None:
        """The likeliest kind of a text that counts; None where there are none."""
        if not self.blend.kinds:
            return None
        return self.blend.kinds[int(np.argmax(features @ self.kind_weights[:-1] + self.kind_weights[-1]))]


HINTED = 0.5
"""Part of the threshold that is enough where a rule hit: a bare «он без сознания» is little to go by."""


def told(chance: float, *, rule_hit: bool) -> float:
    """The probability as the threshold sees it, 0 to 1."""
    return min(1.0, chance / HINTED) if rule_hit else chance


class Reader:
    """A classifier with the encoders that it reads by."""

    def __init__(self, classifier: TextClassifier, embedders: Sequence[Embedder]) -> None:
        self._classifier = classifier
        self._embedders = {embedder.space: embedder for embedder in embedders}
        self.threshold = classifier.blend.threshold
        self.name = f"{'+'.join(classifier.blend.spaces)}, {classifier.blend.arrays[:8]}"

    def read(self, texts: Sequence[str], hits: Sequence[bool]) -> list[tuple[float, str | None]]:
        """Probability and kind of each text. Raises ModelError; ValueError for an empty text."""
        vectors = [self._embedders[space].queries(texts) for space in self._classifier.blend.spaces]
        rows = joined(vectors)
        return [
            (self._classifier.probability(text, row, rule_hit=hit), self._classifier.kind(row))
            for text, row, hit in zip(texts, rows, hits, strict=True)
        ]


def joined(vectors: Sequence[NDArray[np.float32]]) -> NDArray[np.float32]:
    """The spaces' vectors side by side, shape (texts, dimensions of all)."""
    scaled = [of_space * scale for of_space, scale in zip(vectors, SPACE_SCALES, strict=False)]
    return np.hstack(scaled).astype(np.float32)


def ngrams(text: str) -> dict[int, float]:
    """Buckets of the character n-grams of a text's words with their share; the squares of all shares sum to 1."""
    counts: Counter[int] = Counter()
    for word in normalise(text).split():
        padded = f" {word} "
        for size in NGRAM_SIZES:
            for start in range(max(1, len(padded) - size + 1)):
                counts[crc32(padded[start : start + size].encode()) % BUCKETS] += 1
    length = sqrt(sum(count * count for count in counts.values()))
    return {bucket: count / length for bucket, count in sorted(counts.items())}


def ngram_score(text: str, weights: NDArray[np.float32]) -> float:
    """The linear score of a text's n-grams."""
    return float(sum(float(weights[bucket]) * share for bucket, share in ngrams(text).items())) + float(weights[-1])


def reader(name: str, embedders: Sequence[Embedder], folder: Path = FOLDER) -> Reader | None:
    """The classifier of this name for the most of these encoders that one was trained for; None where none was.

    Raises:
        ModelError: its files are damaged.
    """
    for count in range(len(embedders), 0, -1):
        chosen = embedders[:count]
        found = load(f"{name}.{'+'.join(embedder.space for embedder in chosen)}", folder)
        if found is None:
            continue
        if found.blend.provenance.get("models") == {item.space: item.model for item in chosen}:
            return Reader(found, chosen)
        log.warning("The classifier %s is for another version of the encoder: rules alone are used.", name)
    return None


@lru_cache
def load(name: str, folder: Path = FOLDER) -> TextClassifier | None:
    """What was learnt under a name; None where nothing was. Raises ModelError where its files are damaged."""
    if not (folder / f"{name}.yaml").is_file() and not (folder / f"{name}.npz").is_file():
        return None
    try:
        return _read(name, folder)
    except (OSError, ValueError, KeyError, EOFError, yaml.YAMLError, zipfile.BadZipFile, ValidationError) as error:
        raise ModelError(
            f"{name}: the files of the classifier are damaged or do not belong together ({type(error).__name__}). "
            f"Restore them, or run `anamnesis train {name.split('.')[0]}`."
        ) from None


def save(name: str, found: TextClassifier, folder: Path = FOLDER) -> None:
    """Write both files; equal classifiers give equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    arrays: dict[str, Any] = {
        **found.kernel.arrays("kernel"),
        "ngrams": found.ngrams.astype(np.float16),
        "kinds": found.kind_weights.astype(np.float16),
    }
    np.savez(content, **arrays)
    (folder / f"{name}.npz").write_bytes(content.getvalue())
    blend = found.blend.model_copy(update={"arrays": hashlib.sha256(content.getvalue()).hexdigest()})
    text = yaml.safe_dump(blend.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    load.cache_clear()


def _read(name: str, folder: Path) -> TextClassifier:
    blend = Blend.model_validate(yaml.safe_load((folder / f"{name}.yaml").read_text(encoding="utf-8")))
    content = (folder / f"{name}.npz").read_bytes()
    if hashlib.sha256(content).hexdigest() != blend.arrays or set(blend.weights) != set(PARTS):
        raise ValueError("hash")
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays: Mapping[str, NDArray[Any]] = {key: np.asarray(stored[key]) for key in stored.files}
    kernel = KernelClassifier.read(dict(arrays), "kernel")
    weights, kinds = arrays["ngrams"].astype(np.float32), arrays["kinds"].astype(np.float32)
    if weights.shape != (BUCKETS + 1,) or kinds.shape != (kernel.support.shape[1] + 1, len(blend.kinds)):
        raise ValueError("shape")
    if not np.isfinite(weights).all() or not np.isfinite(kinds).all():
        raise ValueError("numbers")
    return TextClassifier(blend, kernel, weights, kinds)
