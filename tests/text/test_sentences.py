"""Where sentences end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Нет температуры. Сильная боль в груди", ["Нет температуры.", "Сильная боль в груди"]),
        ("нет температуры. сильная боль", ["нет температуры.", "сильная боль"]),
        ("нет.Сильная боль", ["нет.", "Сильная боль"]),
        ("Это т.е. то и т.д. и т.п. Потом другое.", ["Это т.е. то и т.д. и т.п.", "Потом другое."]),
        ("По 500 мг. в день", ["По 500 мг. в день"]),
        ("По 500 мг. Потом отдых", ["По 500 мг.", "Потом отдых"]),
        ("Dr. Smith saw e.g. me vs. you. Then left.", ["Dr. Smith saw e.g. me vs. you.", "Then left."]),
        ("Ферритин 3.5 низкий", ["Ферритин 3.5 низкий"]),
        ("А. С. Пушкин жил. Давно.", ["А. С. Пушкин жил.", "Давно."]),
        ("1. Сон\n2. Шаги", ["1. Сон", "2. Шаги"]),
        ("Правда?! Да… Нет", ["Правда?!", "Да…", "Нет"]),
        ("one\ntwo\r\nthree", ["one", "two", "three"]),
        ("one; two", ["one; two"]),
        ("Он сказал «нет.» Потом ушёл.", ["Он сказал «нет.»", "Потом ушёл."]),
        ("", []),
        (" \n ", []),
        ("...", ["..."]),
        ("нет.\u2066сильная боль", ["нет.", "\u2066сильная боль"]),
        ("one\x1ctwo", ["one", "two"]),
        ("example.com is a site", ["example.com is a site"]),
    ],
)
def test_splits(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in split_sentences(text)] == sentences


@given(st.text() | st.text(alphabet='aБ1 .!?…;\n"»)\u00a0\u200b'))
def test_spans_cover_the_text_and_do_not_overlap(text: str) -> None:
    spans = split_sentences(text)
    assert all(start < end for start, end in spans)
    assert all(one[1] <= other[0] for one, other in pairwise(spans))
    inside = {at for start, end in spans for at in range(start, end)}
    assert all(char.isspace() for at, char in enumerate(text) if at not in inside)


def test_a_semicolon_ends_a_sentence_where_it_is_asked_to() -> None:
    assert split_sentences("one; two", semicolons=True) == [(0, 4), (5, 8)]
