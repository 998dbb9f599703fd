"""In which of the two languages to answer."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["ru", "en"]

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CYRILLIC = re.compile(r"[\u0400-\u04ff]")
_LATIN = re.compile(r"[A-Za-z]")
# Names of tests and vitamins are no English: HbA1c, LDL, B12, pH.
_SYMBOL = re.compile(r"^(?:[A-Z]{1,6}|[A-Za-z]{0,6}[0-9][A-Za-z0-9]*|[a-z]{0,3}[A-Z][A-Za-z]{0,2}[A-Z0-9]+[a-z]?)$")
_SENTENCE_WORDS = frozenset({"I", "A", "IS", "MY", "HAVE", "WHAT", "HOW", "THE", "AM", "CAN", "DO", "IT"})
_TRANSLITERATED_WORDS = (
    "menya mne moi moya moy moego moei bolit bolyat bolela golova chto kak eto pochemu pomogite muzha zheny"
    " mama mamy rebenka rebenok grudi serdce skoro vrach vracha nado mozhno nuzhno ochen silno seichas"
    " sejchas tabletki davlenie temperatura zhivot nogi ruka ne ya ili esli uzhe vchera segodnya"
)
_TRANSLITERATED = frozenset(_TRANSLITERATED_WORDS.split())


def detect(text: str, default: Language = "ru") -> Language:
    """The language of a message; `default` where there is no word to go by.

    Each word counts for its script, names of tests ("LDL", "HbA1c") for none unless nothing else is there.
    Latin words that are Russian in Latin letters ("bolit v grudi") count as Russian.
    """
    russian = english = symbols = transliterated = 0
    for match in _WORD.finditer(text[:4000]):
        word = match[0]
        if _CYRILLIC.search(word):
            russian += 1
        elif _SYMBOL.match(word) and word not in _SENTENCE_WORDS:
            symbols += 1
        elif _LATIN.search(word):
            english += 1
            transliterated += word.lower() in _TRANSLITERATED
    if transliterated >= 2 or (transliterated and transliterated * 3 >= english):
        return "ru"
    if russian == english == 0:
        return "en" if symbols > 1 else default
    if russian == english:
        return default
    return "ru" if russian > english else "en"
