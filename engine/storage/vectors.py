"""Vectors as pgvector reads them."""

from collections.abc import Iterable


def to_literal(vector: Iterable[float]) -> str:
    """`[0.1,0.2]` with enough digits for single precision."""
    return "[" + ",".join(f"{value:.7g}" for value in vector) + "]"
