"""One form for stored text and queries."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.normalise import clean, normalise

ALPHABET = "abcеёйоcС0123456789.,  \u00a0\u200b\u00ad\u0306\u0308\u0301ßİﬁ½½\n\tАВЕКМНОРСТУХ"


@given(st.text() | st.text(alphabet=ALPHABET))
def test_idempotent(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("витамин C", "витамин С"),
        ("B12", "В12"),
        ("Hb", "Нb"),
        ("мёд", "мед"),
        ("вита\u00adмин", "витамин"),
        ("вита\u200bмин", "витамин"),
        ("8,5 ммоль", "8.5 ммоль"),
        ("Нopма", "норма"),
        ("a\u202fb\u2003c", "a b c"),
        (unicodedata.normalize("NFD", "йод"), "йод"),
        ("\ufeffкашель", "кашель"),
        ("Straße", "STRASSE"),
        ("a\x00b", "ab"),
        ("a\ud800b", "ab"),
    ],
)
def test_two_spellings_meet(one: str, other: str) -> None:
    assert normalise(one) == normalise(other)


def test_numbers_lists_and_words_stay() -> None:
    assert normalise("Ферритин 15, гемоглобин 120") == "ферритин 15, гемоглобин 120"
    assert normalise("сон") == "сон"
    assert normalise("ЛПНП и LDL") == "лпнп и ldl"


def test_clean_takes_out_only_what_breaks_machines() -> None:
    assert clean("a\x00b\ud800c\x1b\x85d\n\té\u200bё") == "abc\x85d\n\té\u200bё"


@given(st.text())
def test_cleaned_text_can_be_stored(text: str) -> None:
    assert "\x00" not in clean(text)
    clean(text).encode("utf-8")
