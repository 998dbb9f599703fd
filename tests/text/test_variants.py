"""Other writings of a word: alphabets, keyboards, slips."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.variants import (
    MAX_TRANSLITERATIONS,
    deletions,
    one_edit_apart,
    other_keyboard,
    other_writings,
    transliterations,
)

WORDS = st.text(st.sampled_from("абвг"), min_size=1, max_size=7)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("ttg", "ттг"), ("srb", "срб"), ("saxar", "сахар"), ("schitovidka", "щитовидка"), ("zhelezo", "железо"),
     ("davlenie", "давление"), ("ферритин", "ferritin"), ("лдл", "ldl"), ("тсх", "tsh")],
)  # fmt: skip
def test_a_word_is_found_in_the_other_alphabet(typed: str, meant: str) -> None:
    assert meant in transliterations(typed)


@pytest.mark.parametrize(("typed", "meant"), [("nnu", "ттг"), ("cf[fh", "сахар"), ("ауккшешт", "ferritin")])
def test_a_word_is_found_on_the_other_keyboard(typed: str, meant: str) -> None:
    assert other_keyboard(typed) == meant


@pytest.mark.parametrize("token", ["12", "5.6", "b12", "т3", ""])
def test_what_is_no_plain_word_of_one_alphabet_has_no_transliteration(token: str) -> None:
    assert transliterations(token) == []


@given(st.text(st.characters(min_codepoint=97, max_codepoint=122), min_size=1, max_size=40))
def test_the_number_of_ways_is_bounded_whatever_is_typed(token: str) -> None:
    assert 1 <= len(transliterations(token)) <= MAX_TRANSLITERATIONS
    assert len(other_writings(token)) <= MAX_TRANSLITERATIONS + 1


def _edited(word: str, data: st.DataObject) -> str:
    at = data.draw(st.integers(0, len(word) - 1))
    letter = data.draw(st.sampled_from("абвг"))
    swapped = word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]
    return data.draw(
        st.sampled_from([word[:at] + word[at + 1 :], word[:at] + letter + word[at:],
                         word[:at] + letter + word[at + 1 :], swapped])
    )  # fmt: skip


@given(WORDS, st.data())
def test_one_edit_is_recognised_from_both_sides_and_shares_a_deletion(word: str, data: st.DataObject) -> None:
    other = _edited(word, data)
    if other == word:
        assert not one_edit_apart(word, other)
        return
    assert one_edit_apart(word, other)
    assert one_edit_apart(other, word)
    assert set(deletions(word)) & set(deletions(other))


@pytest.mark.parametrize(
    ("one", "other"), [("сахар", "сахар"), ("сахар", "захары"), ("абвг", "бавгд"), ("abcd", "badc"), ("ab", "ба")]
)
def test_two_edits_are_not_one(one: str, other: str) -> None:
    assert not one_edit_apart(one, other)
