"""Text and query are cut into the same lexemes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.lexemes import Term, content_words, query_terms, stem, tokens, tsvector


def asked(text: str) -> list[Term]:
    return query_terms([[word] for word in content_words(text)])


def stems(text: str) -> set[str]:
    return {term.stem for term in asked(text) if not term.pair}


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("мёд", "мед"),
        ("Пётр", "Петр"),
        ("при головных болях", "головная боль"),
        ("и\u0306од", "йод"),
        ("вита\u200bмин", "витамин"),
        ("8,5", "8.5"),
        ("витамин С", "витамин C"),
        ("В12", "B12"),
        ("dog,cat", "dog cat"),
        ("COVID-19", "covid-19"),
        ("омега-3", "Омега 3"),
        ("glucose levels", "glucose level"),
        ("HbA1c", "hba1c"),
    ],
)
def test_what_is_stored_is_found_by_what_is_asked(stored: str, asked: str) -> None:
    assert stems(asked) <= {stem(token) for token in tokens(stored)}


def test_function_words_are_no_terms() -> None:
    assert asked("что такое и как это") == []
    assert asked("What is the") == []


def test_a_single_letter_is_a_term_only_where_it_is_a_name() -> None:
    assert stems("витамин С в крови и с едой") == {"витамин", "c", "кров", "ед"}
    assert stems("hepatitis B, a test") == {"hepat", "b", "test"}


def test_a_dash_or_a_word_for_or_negates_nothing() -> None:
    assert stems("головная боль - причины") == {"головн", "бол", "причин"}
    assert stems("кашель или насморк") == {"кашел", "насморк"}


def test_neighbours_make_pairs_over_function_words() -> None:
    assert [term.stem for term in asked("сахар за три месяца") if term.pair] == ["сахар_три", "три_месяц"]
    assert "'сахар_три':2D" in tsvector([("сахар за три месяца", "D")])


@given(st.text())
def test_any_text_gives_a_literal_of_letters_digits_and_weights(text: str) -> None:
    literal = tsvector([(text, "A")])
    for item in literal.split(" ") if literal else []:
        lexeme, places = item.rsplit(":", 1)
        assert lexeme.startswith("'")
        assert lexeme.endswith("'")
        assert "'" not in lexeme[1:-1]
        assert "\\" not in lexeme
        assert all(place[-1] == "A" and 0 < int(place[:-1]) <= 16383 for place in places.split(","))


def test_a_huge_text_stays_within_the_limits_of_a_tsvector() -> None:
    literal = tsvector([(" ".join(f"word{number}" for number in range(60_000)), "D")])
    assert len(literal) < 1_000_000


def test_slots_have_no_gaps_where_a_word_is_said_twice() -> None:
    terms = asked("fasting blood sugar and random blood sugar in diabetes")
    words = [term.slot for term in terms if not term.pair]
    assert words == list(range(len(words)))
    assert [term.stem for term in terms if not term.pair][-1] == stem("diabetes")
    pairs = [term.slot for term in terms if term.pair]
    assert pairs == list(range(len(words), len(words) + len(pairs)))
