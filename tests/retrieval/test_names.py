"""Names of topics in questions: whole names only, the longest first, in every form of their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.names import MAX_NAME, named_topics, possible_names
from engine.retrieval.query import build_query
from engine.storage.vocabulary_store import Vocabulary
from engine.text.lexemes import content_words, name_key, stem

NAMES = {
    "холестерин": ["total"],
    "плохой холестерин": ["ldl"],
    "холестерин низкой плотности": ["ldl"],
    "bad cholesterol": ["ldl"],
    "cholesterol": ["total"],
    "ТГ": ["triglycerides"],
    "test": ["basics", "urine"],
}
KEYS = {name_key(content_words(name)): topics for name, topics in NAMES.items()}


def named(text: str) -> dict[str, set[str]]:
    """The words by which a question names each topic."""
    words = content_words(text)
    spans = possible_names([[word] for word in words])
    found = named_topics(spans, {key: KEYS[key] for key in spans if key in KEYS})
    return {topic: {words[at] for at in places} for topic, places in found.items()}


@pytest.mark.parametrize(
    ("question", "topics"),
    [
        ("Что такое плохой холестерин?", {"ldl"}),
        ("у мужа повышен холестерин низкой плотности", {"ldl"}),
        ("холестерин и плохой холестерин", {"total", "ldl"}),
        ("what is bad cholesterol", {"ldl"}),
        ("cholesterol and how bad it is", {"total"}),
        ("расскажи, пожалуйста, про ТГ", {"triglycerides"}),
        ("a test", {"basics", "urine"}),
        ("плотность костей", set()),
        ("", set()),
    ],
)
def test_the_longest_whole_name_is_meant(question: str, topics: set[str]) -> None:
    assert set(named(question)) == topics


def test_only_the_names_own_words_count() -> None:
    assert named("мой плохой холестерин упал") == {"ldl": {"плохой", "холестерин"}}


def test_a_word_alone_is_a_name_by_each_of_its_readings() -> None:
    spans = possible_names([["ttg", "тг"], ["bad"], ["cholesterol", "тг"]])
    assert spans[name_key(["тг"])] == [(0, 1), (2, 3)]
    assert spans[name_key(["bad", "cholesterol"])] == [(1, 3)]


def test_a_query_knows_the_slots_of_the_names_in_it() -> None:
    words = ["cholesterol", "bad", "cholesterol"]
    query = build_query(" ".join(words), Vocabulary({"=" + word: 1 for word in words}, {}))
    spans = possible_names(query.words)
    found = query.naming(spans, {key: KEYS[key] for key in spans if key in KEYS}).named
    slots = {term.stem: term.slot for term in query.terms}
    assert found == {
        "ldl": frozenset({slots[stem("bad")], slots[stem("cholesterol")]}),
        "total": frozenset({slots[stem("cholesterol")]}),
    }


@given(st.lists(st.sampled_from(["bad", "cholesterol", "холестерин", "плохой", "тг", "и"]), max_size=60))
def test_every_place_of_a_name_is_within_the_question(words: list[str]) -> None:
    spans = possible_names([[word] for word in words])
    assert all(0 <= start < end <= len(words) and end - start <= MAX_NAME for at in spans.values() for start, end in at)
    found = named_topics(spans, {key: KEYS[key] for key in spans if key in KEYS})
    assert all(0 <= at < len(words) for places in found.values() for at in places)
