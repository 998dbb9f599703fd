"""Evidence of topics: the best of each kind over their chunks, whatever the order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.evidence import FEATURES, HEAD_FLOOR, gather
from engine.retrieval.relevance import stretched
from tests.retrieval.candidates import candidate

FLOORS = (0.0, 0.7)


def value(found, topic: str, feature: str) -> float:
    return float(found.values[found.topics.index(topic), FEATURES.index(feature)])


def test_each_kind_is_the_best_of_the_topics_chunks_in_any_language() -> None:
    found = gather(
        [
            candidate("iron", "en", cosine=(0.2, 0.85), lexical=3.0, coverage=0.25, covered=(0,)),
            candidate("iron", "ru", cosine=(0.6, 0.7), sentence_cosine=(0.8, None), coverage=0.0),
        ],
        FLOORS,
        {"iron": -0.5, "zinc": -1.0},
        {},
    )
    assert found.topics == ("iron",)
    assert value(found, "iron", "first_chunk") == 0.6
    assert value(found, "iron", "first_sentence") == 0.8
    assert value(found, "iron", "second_chunk") == pytest.approx(0.5)
    assert value(found, "iron", "lexical") == 0.5
    assert value(found, "iron", "head") == -0.5


def test_chunks_of_one_document_cover_together_and_those_of_its_twin_apart() -> None:
    chunks = [
        candidate("iron", "en", ordinal=0, covered=(0,)),
        candidate("iron", "en", ordinal=1, covered=(1,)),
        candidate("zinc", "en", covered=(0,)),
        candidate("zinc", "ru", covered=(1,)),
    ]
    found = gather(chunks, FLOORS, {}, {})
    assert value(found, "iron", "document_coverage") == 1.0
    assert value(found, "zinc", "document_coverage") == 0.75


def test_a_topic_that_the_head_does_not_know_gets_the_chance_of_one_among_all() -> None:
    found = gather([candidate("new")], FLOORS, {"iron": -0.1, "zinc": -20.0}, {})
    assert value(found, "new", "head") == pytest.approx(-math.log(2))
    assert value(gather([candidate("zinc")], FLOORS, {"iron": 0.0, "zinc": -20.0}, {}), "zinc", "head") == HEAD_FLOOR


def test_a_question_that_is_a_topics_own_name_does_not_ask_the_head() -> None:
    named = candidate("iron", sentence_cosine=(1.0, None))
    near = candidate("zinc", sentence_cosine=(0.95, None))
    found = gather([named, near], FLOORS, {"iron": -4.0, "zinc": -0.1}, {})
    assert value(found, "iron", "head") == 0.0
    assert value(found, "zinc", "head") == -0.1


@pytest.mark.parametrize("cosine", [None, math.nan, math.inf, -math.inf])
def test_a_cosine_that_is_none_or_not_finite_counts_as_unrelated(cosine: float | None) -> None:
    assert stretched(cosine, 0.7) == 0.0


def test_without_a_known_word_nothing_is_covered() -> None:
    assert value(gather([candidate("iron", rarity=())], FLOORS, {}, {}), "iron", "document_coverage") == 0.0


def test_a_name_counts_by_the_rarity_of_its_words_for_its_topic_and_against_the_others() -> None:
    chunks = [candidate(topic, rarity=(1.0, 2.0, 5.0)) for topic in ("ldl", "total", "zinc")]
    found = gather(chunks, FLOORS, {}, {"ldl": frozenset({1, 2}), "total": frozenset({2})})
    assert [value(found, "ldl", name) for name in ("named", "names_other")] == [7 / 8, 0.0]
    assert [value(found, "total", name) for name in ("named", "names_other")] == [5 / 8, 2 / 8]
    assert [value(found, "zinc", name) for name in ("named", "names_other")] == [0.0, 7 / 8]


@given(st.permutations(range(6)))
def test_the_order_of_candidates_does_not_matter(order: list[int]) -> None:
    chunks = [
        candidate(topic, lang, cosine=(at / 10, 0.7 + at / 30), lexical=float(at), covered=(at % 2,))
        for at, (topic, lang) in enumerate([(t, lang) for t in ("a", "b", "c") for lang in ("ru", "en")])
    ]
    one, other = gather(chunks, FLOORS, {"a": -1.0}, {}), gather([chunks[at] for at in order], FLOORS, {"a": -1.0}, {})
    assert one.topics == other.topics
    assert np.array_equal(one.values, other.values)
