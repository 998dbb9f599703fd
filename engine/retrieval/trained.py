"""What `anamnesis train retrieval` learnt for a set of embedding spaces: a topic head, an order and a gate.

All three are linear over frozen vectors and scores: deterministic, quick, and open to inspection. They are made for the
embedded encoders and the shipped corpus; spaces without a file here are ranked by similarity alone.
"""

import hashlib
import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from engine.models.base import ModelError
from engine.models.kernel import KernelClassifier
from engine.retrieval.evidence import FEATURES, Evidence

FOLDER = Path(__file__).with_name("trained_models")

GATE_FEATURES = (
    *FEATURES,
    "margin",  # order score less that of the best other topic
    "off_corpus",  # how far the question lies among those about nothing in the corpus, by its vectors
    "unknown",  # share of the question's words that no document holds
    "length",  # logarithm of 1 + number of words
)


class Coefficients(BaseModel):
    """The part that a person can read, with where it comes from."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    spaces: tuple[str, ...]
    floors: tuple[float, ...]
    order: dict[str, float]
    """Weight of each feature in the order score."""
    gate: dict[str, float]
    """Weight of each gate feature in the log-odds that the document answers the question."""
    gate_intercept: float
    threshold: float = Field(ge=0, le=1)
    arrays: str = ""
    """SHA-256 of the file of arrays that belongs to these numbers, in hexadecimal."""
    provenance: dict[str, Any]

    @field_validator("order")
    @classmethod
    def _names_each_feature(cls, order: dict[str, float]) -> dict[str, float]:
        if set(order) != set(FEATURES):
            raise ValueError("the features of the order are others")
        return order

    @field_validator("gate")
    @classmethod
    def _names_each_gate_feature(cls, gate: dict[str, float]) -> dict[str, float]:
        if set(gate) != set(GATE_FEATURES):
            raise ValueError("the features of the gate are others")
        return gate


@dataclass(frozen=True)
class Projection:
    """Query vectors to topics: shapes (dimension, topics) and (topics,); `off_corpus` is a classifier of its own."""

    topics: tuple[str, ...]
    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: NDArray[np.float32]
    off_corpus: KernelClassifier

    def features(self, vectors: Mapping[str, Sequence[float]], spaces: Sequence[str]) -> NDArray[np.float32]:
        """All vectors of a question side by side, centred and scaled."""
        joined = np.concatenate([np.asarray(vectors[space], np.float32) for space in spaces])
        return np.asarray((joined - self.centre) * self.scale, np.float32)

    def log_probabilities(self, features: NDArray[np.float32]) -> dict[str, float]:
        """Log-probability of each topic."""
        logits = np.asarray(features @ self.weights + self.bias, np.float64)
        logits -= logits.max()
        logits -= np.log(np.exp(logits).sum())
        return dict(zip(self.topics, logits.tolist(), strict=True))


@dataclass(frozen=True)
class TrainedModel:
    """Head, order and gate of a set of spaces."""

    coefficients: Coefficients
    projection: Projection

    def order(self, evidence: Evidence) -> NDArray[np.float64]:
        """Order score of each topic; higher is better."""
        return np.asarray(evidence.values @ _vector(self.coefficients.order, FEATURES), np.float64)

    def scores(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Probability that each document answers, 0 to 1, of rows of gate features."""
        logits = rows @ _vector(self.coefficients.gate, GATE_FEATURES) + self.coefficients.gate_intercept
        return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits, -50, 50))), np.float64)


def gate_rows(
    evidence: Evidence, order: NDArray[np.float64], off_corpus: float, words: int, unknown: int
) -> NDArray[np.float64]:
    """A row of gate features for each topic. `words`: the question's words; `unknown`: those that no document holds."""
    count = len(evidence.topics)
    margin = np.zeros(count)
    if count > 1:
        best, second = np.sort(order)[::-1][:2]
        margin = np.where(order == best, best - second, order - best)
    constants = [off_corpus, unknown / max(1, words), float(np.log1p(words))]
    return np.column_stack([evidence.values, margin, np.tile(constants, (count, 1))])


def _vector(weights: Mapping[str, float], names: Sequence[str]) -> NDArray[np.float64]:
    return np.asarray([weights[name] for name in names], np.float64)


@lru_cache
def trained_model(spaces: tuple[str, ...], folder: Path = FOLDER) -> TrainedModel | None:
    """What was learnt for these spaces; None where nothing was.

    Raises:
        ModelError: a file is damaged, or the two files of a model do not belong together.
    """
    name = "+".join(spaces)
    try:
        return _read(spaces, folder, name)
    except (OSError, ValueError, KeyError, EOFError, yaml.YAMLError, zipfile.BadZipFile, ValidationError) as error:
        raise ModelError(
            f"{name}: the files of the trained model are damaged or do not belong together ({type(error).__name__}). "
            "Restore them, or run `anamnesis train retrieval`."
        ) from None


def _read(spaces: tuple[str, ...], folder: Path, name: str) -> TrainedModel | None:
    path = folder / f"{name}.yaml"
    if not path.is_file() and not path.with_suffix(".npz").is_file():
        return None
    coefficients = Coefficients.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    content = (folder / f"{name}.npz").read_bytes()
    if hashlib.sha256(content).hexdigest() != coefficients.arrays:
        raise ValueError("hash")
    with np.load(io.BytesIO(content), allow_pickle=False) as stored:
        arrays = {key: np.asarray(stored[key]) for key in stored.files}
    projection = Projection(
        topics=tuple(str(topic) for topic in arrays["topics"]),
        centre=arrays["centre"].astype(np.float32),
        scale=arrays["scale"].astype(np.float32),
        weights=arrays["weights"].astype(np.float32),
        bias=arrays["bias"].astype(np.float32),
        off_corpus=KernelClassifier.read(arrays, "off_corpus"),
    )
    if coefficients.spaces != spaces or len(coefficients.floors) != len(spaces) or not _whole(projection):
        raise ValueError("shape")
    return TrainedModel(coefficients, projection)


def _whole(part: Projection) -> bool:
    """Whether the arrays fit each other and hold numbers only."""
    dimension, topics = len(part.centre), len(part.topics)
    shapes = {
        part.scale.shape == (dimension,),
        part.weights.shape == (dimension, topics),
        part.bias.shape == (topics,),
        part.off_corpus.support.shape[1:] == (dimension,),
    }
    arrays = (part.centre, part.scale, part.weights, part.bias)
    return shapes == {True} and all(bool(np.isfinite(array).all()) for array in arrays)


def save(model: TrainedModel, folder: Path = FOLDER) -> None:
    """Write both files; equal models give equal files."""
    folder.mkdir(parents=True, exist_ok=True)
    name, part = "+".join(model.coefficients.spaces), model.projection
    content = io.BytesIO()
    arrays: dict[str, Any] = {
        "topics": np.asarray(part.topics),
        "centre": part.centre,
        "scale": part.scale,
        "weights": part.weights.astype(np.float16),
        "bias": part.bias,
        **part.off_corpus.arrays("off_corpus"),
    }
    np.savez(content, **arrays)
    (folder / f"{name}.npz").write_bytes(content.getvalue())
    learnt = model.coefficients.model_copy(update={"arrays": hashlib.sha256(content.getvalue()).hexdigest()})
    text = yaml.safe_dump(learnt.model_dump(mode="json"), sort_keys=False, allow_unicode=True)
    (folder / f"{name}.yaml").write_text(text, encoding="utf-8")
    trained_model.cache_clear()
