"""Reciprocal rank fusion (Cormack, Clarke and Buettcher, SIGIR 2009)."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

RRF_K = 60
"""The constant of the paper; it damps the weight of the first ranks."""

Key = TypeVar("Key", bound=Hashable)


def ranks(ordered: Sequence[Key]) -> dict[Key, int]:
    """Rank from 1 of each item, its best where it stands more than once."""
    found: dict[Key, int] = {}
    for item in ordered:
        found.setdefault(item, len(found) + 1)
    return found


def reciprocal_rank_fusion(arms: Sequence[Mapping[Key, int]]) -> dict[Key, float]:
    """Sum of 1 / (60 + rank) over the arms that hold an item."""
    fused: dict[Key, float] = {}
    for arm in arms:
        for item, rank in arm.items():
            fused[item] = fused.get(item, 0.0) + 1.0 / (RRF_K + rank)
    return fused
