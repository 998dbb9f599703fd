"""The relevance score of a chunk: a similarity score, not a cross-encoder's.

Mean of passage cosine and best-sentence cosine over the active encoders, and a small share for how much of the
question's rarity the chunk covers. The gate looks at it alone; the order adds the lexical arm at a small weight.
"""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import yaml
from pydantic import BaseModel, ConfigDict, Field

from engine.storage.search_store import Candidate

SHORT_QUESTION = 3
"""Terms up to which a single unknown word weighs against the whole question."""

_CALIBRATION = Path(__file__).with_name("relevance.yaml")


class Calibration(BaseModel):
    """Weights and threshold for a set of spaces, with where they come from."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    floors: dict[str, float]
    """Cosine of unrelated texts in a space: it is mapped to 0, and 1 stays 1."""
    coverage_weight: float = Field(ge=0)
    unknown_penalty: float = Field(ge=0)
    """Taken off the score of a short question with a word that the corpus does not know."""
    lexical_weight: float = Field(ge=0)
    lexical_half: float = Field(gt=0)
    """Lexical score at which the lexical part reaches a half."""
    threshold: float = Field(ge=0, le=1)
    provenance: str


class Relevance(NamedTuple):
    """`score` is gated, `order` ranks, `similarity` is what the encoders alone say."""

    score: float
    order: float
    similarity: float


@lru_cache
def calibration(spaces: tuple[str, ...]) -> Calibration:
    """The calibration of a set of spaces; one that was never calibrated has floors of 0 and a guessed threshold."""
    raw = _calibrations()
    found = raw.get("+".join(spaces)) or {**raw["uncalibrated"], "floors": dict.fromkeys(spaces, 0.0)}
    return Calibration.model_validate(found)


def has_calibration(spaces: tuple[str, ...]) -> bool:
    """Whether a set of spaces was calibrated; the threshold of any other is a guess."""
    return "+".join(spaces) in _calibrations()


def _calibrations() -> Mapping[str, dict[str, object]]:
    found: Mapping[str, dict[str, object]] = yaml.safe_load(_CALIBRATION.read_text(encoding="utf-8"))
    return found


def relevance(candidate: Candidate, spaces: Sequence[str], settings: Calibration) -> Relevance:
    """Score one candidate; a cosine that is missing or not finite counts as unrelated."""
    parts = [
        value
        for space, chunk, sentence in zip(spaces, candidate.cosine, candidate.sentence_cosine, strict=True)
        for value in (
            stretched(chunk, settings.floors[space]),
            stretched(sentence if sentence is not None else chunk, settings.floors[space]),
        )
    ]
    similarity = sum(parts) / len(parts)
    weight = settings.coverage_weight
    named = (similarity + weight * candidate.coverage) / (1 + weight)
    # "What is a troponin test?" is close to every text on a test: its one telling word is what is missing.
    stranger = candidate.unknown > 0 and candidate.terms <= SHORT_QUESTION
    score = min(1.0, max(0.0, named - settings.unknown_penalty * stranger))
    lexical = candidate.lexical or 0.0
    return Relevance(score, score + settings.lexical_weight * lexical / (lexical + settings.lexical_half), similarity)


def stretched(cosine: float | None, floor: float) -> float:
    """The cosine with its floor at 0 and 1 at 1; one that is missing or not finite counts as unrelated."""
    if cosine is None or not math.isfinite(cosine):
        return 0.0
    return (cosine - floor) / (1 - floor)
