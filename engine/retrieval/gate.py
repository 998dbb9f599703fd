"""The relevance gate: what is close enough to answer from."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.retrieval.rank import RankedDocument


@dataclass(frozen=True)
class Gated:
    """Documents over the threshold, in order, and how many were cut."""

    kept: tuple[RankedDocument, ...]
    cut: int

    @property
    def abstain(self) -> bool:
        return not self.kept


def gate(documents: Sequence[RankedDocument], threshold: float) -> Gated:
    """Keep what scores at least the threshold; a score that is not finite never passes, any other passes 0.0."""
    kept = tuple(item for item in documents if math.isfinite(item.score) and item.score >= threshold)
    return Gated(kept, len(documents) - len(kept))
