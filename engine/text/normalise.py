"""One form for stored text and for search queries, and plain hygiene for input."""

from __future__ import annotations

import re
import unicodedata

from engine.text.characters import INVISIBLE, UNCLEAN
from engine.text.lookalikes import fold_tokens

_SPACES = re.compile(r"\s+")
_DECIMAL_COMMA = re.compile(r"(?<=[0-9]),(?=[0-9])")
_YO = re.compile("[\u0451\u0435]\u0308*")


def clean(text: str) -> str:
    """Without NUL, lone surrogates and control characters; all else, line breaks and tabs too, stays."""
    return UNCLEAN.sub("", text)


def normalise(text: str) -> str:
    """The form in which the lexical search stores and asks. Idempotent.

    NFC, casefolded, ё → е, invisible characters out, spaces plain and single, decimal comma → point,
    look-alike letters of mixed tokens in one script; «В12» and «витамин С» in Latin.
    """
    before = None
    while text != before:
        before = text
        text = _once(text)
    return text


def _once(text: str) -> str:
    text = INVISIBLE.sub("", UNCLEAN.sub("", text))
    text = unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())
    text = _SPACES.sub(" ", _YO.sub("е", text)).strip()
    return fold_tokens(_DECIMAL_COMMA.sub(".", text), singles=True)
