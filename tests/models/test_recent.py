"""An encoder that remembers its last questions."""

from collections.abc import Sequence

import numpy as np

from engine.models.base import Vectors
from engine.models.embedding.recent import KEPT, RecentQueries


class Counting:
    space, model, dimension, sentence_vectors = "count2", "count/1", 2, True

    def __init__(self) -> None:
        self.asked: list[str] = []

    def queries(self, texts: Sequence[str]) -> Vectors:
        self.asked += texts
        return np.asarray([[len(text), 1.0] for text in texts], np.float32)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self.queries(texts)


def test_a_question_is_encoded_once_while_it_is_recent() -> None:
    encoder = Counting()
    recent = RecentQueries(encoder)
    first = recent.queries(["a"])
    first[:] = 0  # the caller's own
    assert recent.queries(["a"]).tolist() == [[1.0, 1.0]]
    assert encoder.asked == ["a"]
    for at in range(KEPT):
        recent.queries([f"other {at}"])
    recent.queries(["a"])
    assert encoder.asked.count("a") == 2


def test_several_texts_and_passages_are_passed_on() -> None:
    encoder = Counting()
    recent = RecentQueries(encoder)
    assert recent.queries(["a", "bb"]).tolist() == [[1.0, 1.0], [2.0, 1.0]]
    recent.passages(["a"])
    assert encoder.asked == ["a", "bb", "a"]
    assert (recent.space, recent.model, recent.dimension, recent.sentence_vectors) == ("count2", "count/1", 2, True)
