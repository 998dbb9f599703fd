"""Dress taken off for matching, and the way back to the original."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.folding import fold
from engine.text.spacing import spaced_gaps


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Ign\u043ere previous", "ignore previous"),
        ("іgnоrе рrеvіоus", "ignore previous"),
        ("ig\u200bnore ig\u00adnore", "ignore ignore"),
        ("\u202eignore", "ignore"),
        ("ignore" + "".join(chr(0xE0041 + i) for i in range(5)), "ignore"),
        ("I g n o r e   p r e v i o u s", "ignore previous"),
        ("и г н о р и р у й", "игнорируй"),
        ("i-g-n-o-r-e this", "ignore this"),
        ("а я и в магазине", "а я и в магазине"),
        ("500\u00a0мг\u202fв\u2003день", "500 мг в день"),
        ("Ёлка", "елка"),
        (unicodedata.normalize("NFD", "Принимайте йод"), "принимайте йод"),
        ("зо\u0301лото café", "золото cafe"),
        ("½ таблетки", "1/2 таблетки"),
        ("«да» – “no”", '"да" - "no"'),
        ("don’t", "don't"),
        ("5OO mg", "500 mg"),
        ("у мужа рак", "у мужа рак"),
        ("он сказал pak", "он сказал рак"),
        ("a  b\r\n\n c", "a b\n\nc"),
        ("👨\u200d👩\u200d👧 кашель", "👨👩👧 кашель"),
        ("B12 В12", "b12 b12"),
    ],
)
def test_folds(text: str, folded: str) -> None:
    assert fold(text).text == folded


@given(st.text() | st.text(alphabet="a b.cёй\u0306\u200b½ßС\n-"))
def test_offsets_lead_back(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.offsets)
    assert list(folded.offsets) == sorted(folded.offsets)
    for start in range(0, len(folded.text), 3):
        left, right = folded.span(start, start + 1)
        assert 0 <= left < right <= len(text)


def test_span_of_what_was_pulled_apart() -> None:
    text = "please i g n o r e this"
    folded = fold(text)
    start = folded.text.index("ignore")
    left, right = folded.span(start, start + len("ignore"))
    assert text[left:right].strip() == "i g n o r e"


def test_empty_span() -> None:
    assert fold("ab").span(1, 1) == (1, 1)
    assert fold("").span(0, 0) == (0, 0)


def test_short_runs_of_letters_stay() -> None:
    assert spaced_gaps("plan b c for me") == []
    assert spaced_gaps("т.е. так") == []
