"""What speaks for a topic as the answer to a question: numbers from both arms and the topic head, one row a topic."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.retrieval.relevance import stretched
from engine.storage.search_store import Candidate

LEXICAL_HALF = 3.0
"""Lexical score at which its evidence reaches a half."""
HEAD_FLOOR = -9.0
"""Log-probability below which the topic head says no more than `no`."""

NAMED = 0.99
"""Cosine of a sentence, a title or an alias from which the question is that very text. Then the head is not asked: it
learnt from questions, not from names."""

FEATURES = (
    "first_chunk",  # cosine of the question and the best chunk in the first space
    "first_sentence",  # and of the best sentence
    "second_chunk",  # cosine of the best chunk in the second space, stretched from its floor to 1
    "lexical",  # the lexical arm's score, saturated
    "coverage",  # share of the question's rarity that the best chunk covers
    "document_coverage",  # and that all chunks of one document cover together
    "head",  # log-probability of the topic by the head
    "named",  # share of the question's rarity in names of the topic that stand whole in it
    "names_other",  # and in names of other topics alone
)

Row = NDArray[np.float64]


@dataclass(frozen=True)
class Evidence:
    """Topics and their evidence: `values` has a row a topic and a column a feature."""

    topics: tuple[str, ...]
    values: Row


def gather(
    candidates: Sequence[Candidate],
    floors: Sequence[float],
    head: Mapping[str, float],
    named: Mapping[str, frozenset[int]],
) -> Evidence:
    """The best of each kind of evidence over a topic's chunks, in whichever language they are.

    `floors`: cosine of unrelated texts, one a space. `head`: log-probabilities by topic; a topic it does not know gets
    the chance of one among all. `named`: slots of the question's words that name a topic.
    """
    unknown = -math.log(len(head)) if head else 0.0
    by_topic: dict[str, list[Candidate]] = {}
    for candidate in candidates:
        by_topic.setdefault(candidate.topic or candidate.document, []).append(candidate)
    topics = tuple(sorted(by_topic))
    any_named = frozenset().union(*named.values())
    rows = []
    for topic in topics:
        own, rarity = named.get(topic, frozenset()), by_topic[topic][0].rarity
        rows.append(
            [
                *_row(by_topic[topic], floors, max(HEAD_FLOOR, head.get(topic, unknown))),
                share(own, rarity),
                share(any_named - own, rarity),
            ]
        )
    return Evidence(topics, np.asarray(rows, np.float64).reshape(len(topics), len(FEATURES)))


def _row(chunks: Sequence[Candidate], floors: Sequence[float], head: float) -> list[float]:
    arms = _arms(chunks, floors)
    named = arms[FEATURES.index("first_sentence")] >= NAMED
    return [*arms, 0.0 if named else head]


def _arms(chunks: Sequence[Candidate], floors: Sequence[float]) -> list[float]:
    lexical = max(chunk.lexical or 0.0 for chunk in chunks)
    first = [stretched(chunk.cosine[0], floors[0]) for chunk in chunks]
    sentence = [stretched(chunk.sentence_cosine[0], floors[0]) for chunk in chunks]
    second = [stretched(chunk.cosine[1], floors[1]) for chunk in chunks] if len(floors) > 1 else [0.0]
    return [
        max(first),
        max(*first, *sentence),
        max(second),
        lexical / (lexical + LEXICAL_HALF),
        max(chunk.coverage for chunk in chunks),
        document_coverage(chunks),
    ]


def document_coverage(chunks: Sequence[Candidate]) -> float:
    """Share of the question's rarity that the chunks of one document cover together, of the best document."""
    covered: dict[str, set[int]] = {}
    for chunk in chunks:
        covered.setdefault(chunk.document, set()).update(chunk.covered)
    return max(share(slots, chunks[0].rarity) for slots in covered.values())


def share(slots: Collection[int], rarity: Sequence[float]) -> float:
    """Share of a question's rarity that some of its slots have; 0 where it has none."""
    total = sum(rarity)
    return sum(rarity[slot] for slot in sorted(slots)) / total if total else 0.0
