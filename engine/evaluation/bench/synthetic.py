"""Users who do not exist, with notes that nobody wrote: the same for the same seed.

A user has a few topics out of many, as a person has a few illnesses; a note lies near the middle of its topic in every
space, and half its words are the topic's. Sizes are skewed: a few users hold many times what most of them hold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

TOPICS = 120
TOPICS_OF_A_USER = 4
TOPIC_WORDS, COMMON_WORDS = 200, 3_000
WORDS = 44
"""Of a note that carry a topic: as many as a chunk of 500 characters has."""
CLOSENESS = 0.8
"""Cosine of a note and the middle of its topic."""
SKEW = 1.0
"""Of the sizes' logarithms."""
CHUNKS_OF_A_DOCUMENT = 10

_SYLLABLES = [consonant + vowel for consonant in "бвгдзклмнпрст" for vowel in "аеоу"]


@dataclass(frozen=True)
class Notes:
    """All chunks of one user, in the order of their ids' making."""

    user: UUID
    topics: tuple[int, ...]
    ids: tuple[UUID, ...]
    topic: NDArray[np.int64]
    """The topic of each chunk."""
    texts: tuple[str, ...]
    vectors: dict[str, Vectors]
    """One row a chunk, by space."""


@dataclass(frozen=True)
class Asked:
    """A question of a user's: its words and one vector a space."""

    user: int
    words: tuple[str, ...]
    vectors: dict[str, Vectors]


class Synthetic:
    """Users, their notes and their questions; nothing is kept, everything can be made again."""

    def __init__(self, spaces: dict[str, int], *, chunks: int, users: int, seed: int) -> None:
        """`spaces`: the dimension of each space by its name."""
        self._spaces = spaces
        self._seed = seed
        rng = np.random.default_rng([seed, 0])
        shares = rng.lognormal(0.0, SKEW, users)
        # Everybody has a note; the rest goes by the shares.
        self.sizes: list[int] = (1 + rng.multinomial(chunks - users, shares / shares.sum())).tolist()
        self._centres = {space: _directions(rng, TOPICS, dimension) for space, dimension in spaces.items()}

    def notes(self, user: int) -> Notes:
        """Everything that one user holds."""
        rng = np.random.default_rng([self._seed, 1, user])
        size = self.sizes[user]
        topics = rng.choice(TOPICS, TOPICS_OF_A_USER, replace=False)
        topic = rng.choice(topics, size)
        return Notes(
            user=_uuid(rng),
            topics=tuple(topics.tolist()),
            ids=tuple(_uuid(rng) for _ in range(size)),
            topic=topic,
            texts=tuple(" ".join(self._words(rng, int(number), WORDS)) for number in topic),
            vectors=self._near(rng, topic),
        )

    def questions(self, count: int, *, own_topic: bool) -> list[Asked]:
        """Questions of users drawn at random, on one of the user's topics or on one that the user has no note on."""
        rng = np.random.default_rng([self._seed, 2, int(own_topic)])
        return [self._question(rng, int(user), own_topic) for user in rng.integers(0, len(self.sizes), count)]

    def _question(self, rng: np.random.Generator, user: int, own_topic: bool) -> Asked:
        mine = np.unique(self.notes(user).topic)
        topics = mine if own_topic else np.setdiff1d(np.arange(TOPICS), mine)
        topic = rng.choice(topics, 1)
        words = self._words(rng, int(topic[0]), int(rng.integers(2, 9)))
        return Asked(user, tuple(words), self._near(rng, topic))

    def _near(self, rng: np.random.Generator, topic: NDArray[np.int64]) -> dict[str, Vectors]:
        """Vectors at a fixed angle from the middle of their topics, each in a direction of its own."""
        found = {}
        for space, dimension in self._spaces.items():
            centres = self._centres[space][topic]
            aside = rng.standard_normal((len(topic), dimension))
            aside -= (aside * centres).sum(axis=1, keepdims=True) * centres
            aside /= np.linalg.norm(aside, axis=1, keepdims=True)
            found[space] = (CLOSENESS * centres + np.sqrt(1 - CLOSENESS**2) * aside).astype(np.float32)
        return found

    def _words(self, rng: np.random.Generator, topic: int, count: int) -> list[str]:
        """Words as people use them: half of the topic's, half of everybody's, the first of each the most often."""
        own = rng.random(count) < 0.5
        of_topic = COMMON_WORDS + topic * TOPIC_WORDS + _zipf(rng, TOPIC_WORDS, count)
        return [self.vocabulary[number] for number in np.where(own, of_topic, _zipf(rng, COMMON_WORDS, count))]

    @cached_property
    def vocabulary(self) -> Sequence[str]:
        """All words, the common ones first."""
        return [_word(number) for number in range(COMMON_WORDS + TOPICS * TOPIC_WORDS)]


def _directions(rng: np.random.Generator, count: int, dimension: int) -> NDArray[np.float64]:
    vectors = rng.standard_normal((count, dimension))
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _zipf(rng: np.random.Generator, size: int, count: int) -> NDArray[np.int64]:
    """Ranks below `size`, of which the r-th is drawn about 1 / r as often as the first."""
    drawn = np.exp(rng.random(count) * np.log(size + 1)).astype(np.int64)
    return np.asarray(np.minimum(drawn - 1, size - 1))


def _word(number: int) -> str:
    """A word of four syllables, unlike any other; no stop word has as many letters of this kind."""
    letters = ""
    for _ in range(4):
        number, rest = divmod(number, len(_SYLLABLES))
        letters += _SYLLABLES[rest]
    return letters + "к"


def _uuid(rng: np.random.Generator) -> UUID:
    return UUID(bytes=rng.bytes(16), version=4)
