"""Rank metrics of one case, all out of the same list of at most ten documents.

A hit is a document and it is right when its topic is one of the case's. A topic counts once: the engine shows
the language twins of a topic once, and a list that repeated a topic must not score higher for it.

No value is ever undefined: an empty list, a list without a right document and a case without a topic all
score 0.0.
"""

from collections.abc import Collection, Iterable, Sequence

from engine.wire.metrics import NONE_METRICS, PRECISION_AT, RECALL_AT

DEPTH = 10
"""Length of the one list that all metrics are read from."""
PROPORTIONS = frozenset({*(f"recall@{k}" for k in RECALL_AT), *NONE_METRICS, "false_abstention"})
"""Metrics that are 0 or 1 for a case, so that their mean is a share."""


def right_places(ranked: Iterable[str | None], topics: Collection[str]) -> tuple[bool, ...]:
    """For every place of the list, best first, whether a right document stands there."""
    left = set(topics)
    places = []
    for topic in ranked:
        places.append(topic in left)
        left.discard(topic or "")
    return tuple(places)


def recall_at(places: Sequence[bool], k: int) -> float:
    """1.0 when an expected source stands among the first k, else 0.0.

    One source is enough to answer a question, so a case that names several topics asks for any of them.
    """
    return float(any(places[:k]))


def precision_at(places: Sequence[bool], k: int) -> float:
    """Share of right documents among the first k places; the denominator is k also for a shorter list.

    With one right topic the best precision@3 is 1/3: the value compares runs, it is no share of a full mark.
    """
    return sum(places[:k]) / k


def reciprocal_rank(places: Sequence[bool]) -> float:
    """1 / rank of the first right document; 0.0 when none is in the list."""
    return next((1 / rank for rank, right in enumerate(places, start=1) if right), 0.0)


def rank_scores(places: Sequence[bool]) -> dict[str, float]:
    """Every rank metric of one case under its name."""
    return {
        **{f"recall@{k}": recall_at(places, k) for k in RECALL_AT},
        **{f"precision@{k}": precision_at(places, k) for k in PRECISION_AT},
        "mrr": reciprocal_rank(places),
    }
