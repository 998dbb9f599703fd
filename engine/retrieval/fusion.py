"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

RRF_K = 60
"""The constant of the paper; it damps the weight of the first ranks."""
LEXICAL_SHARE = 0.5
"""Weight of the lexical arm beside 1 of the dense arm where arms are weighted."""
VOTING_COVERAGE = 0.5
"""Share of the query's rarity that some chunk must cover before the lexical arm votes at all."""

Key = TypeVar("Key", bound=Hashable)


def ranks(ordered: Sequence[Key]) -> dict[Key, int]:
    """Rank from 1 of each item, its best where it stands more than once."""
    found: dict[Key, int] = {}
    for item in ordered:
        found.setdefault(item, len(found) + 1)
    return found


def reciprocal_rank_fusion(
    arms: Sequence[Mapping[Key, int]], weights: Sequence[float] | None = None
) -> dict[Key, float]:
    """Sum of weight / (60 + rank) over the arms that hold an item; every weight is 1 where none is given."""
    fused: dict[Key, float] = {}
    for arm, weight in zip(arms, weights or [1.0] * len(arms), strict=True):
        for item, rank in arm.items():
            fused[item] = fused.get(item, 0.0) + weight / (RRF_K + rank)
    return fused
