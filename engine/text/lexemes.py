"""Lexemes of a text for the lexical arm: the same function for what is stored and for what is asked.

An exact lexeme is the normalised token with `=` before it, a stem stands as it is, a pair of neighbouring stems is
joined by `_`, so that the three never meet. Building them here, and not in a text-search configuration, keeps both
sides equal and leaves no input that could be a syntax error.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import snowballstemmer

from engine.text.normalise import normalise
from engine.text.stopwords import STOPWORDS

MAX_TOKEN = 64
"""Longer tokens are cut: nobody searches for them, and a lexeme has a limit of its own."""
MAX_TOKENS = 4_000
"""Tokens of a text that are indexed; a tsvector has a size limit."""
MAX_POSITION = 16_383
"""Postgres' own limit of a lexeme's position."""

LETTERED = frozenset({"vitamin", "витамин", "hepat", "гепатит", "group", "групп"})
"""Stems of words that a single letter follows as a name."""

_TOKEN = re.compile(r"\d+(?:\.\d+)+|[^\W_]+(?:-[^\W_]+)*")
_CYRILLIC = re.compile("[а-яё]")

Weight = str
"""Label of a tsvector position: A (title) to D (body)."""


@dataclass(frozen=True)
class Term:
    """One reading of a query word: its stem and its exact lexeme; or a pair of neighbours, which has no exact form."""

    stem: str
    exact: str
    slot: int
    """Which word of the query it is; readings of one word have the same."""
    pair: bool = False


@lru_cache(maxsize=65_536)
def stem(token: str) -> str:
    """The Snowball stem, Russian for Cyrillic tokens, English for others."""
    language = "russian" if _CYRILLIC.search(token) else "english"
    return _stemmer(language)(token) or token


@lru_cache(maxsize=2)
def _stemmer(language: str):  # type: ignore[no-untyped-def]
    return snowballstemmer.stemmer(language).stemWord


def tokens(text: str) -> list[str]:
    """Normalised tokens in order; a hyphenated word gives itself and its parts."""
    found: list[str] = []
    for match in _TOKEN.finditer(normalise(text)):
        token = match.group()[:MAX_TOKEN]
        found.append(token)
        if "-" in token:
            found.extend(part for part in token.split("-") if part)
        if len(found) >= MAX_TOKENS:
            break
    return found


def content_words(text: str) -> list[str]:
    """Tokens that carry a topic. A single letter is one only after a word that letters name (vitamin C, витамин В):
    elsewhere it is a preposition or an article, and the look-alike «с» is the same letter as "c"."""
    found: list[str] = []
    before = ""
    for token in tokens(text):
        if token not in STOPWORDS and (len(token) > 1 or token.isdigit() or stem(before) in LETTERED):
            found.append(token)
        before = token
    return found


def name_key(words: Iterable[str]) -> str:
    """What a name of these content words is found by: their stems in order. Empty where there are none."""
    return " ".join(stem(word) for word in words)


def query_terms(words: Sequence[Sequence[str]]) -> list[Term]:
    """Distinct terms of a question's content words, each by its readings, then the pairs of their first readings."""
    terms: dict[str, Term] = {}
    slot = 0  # without gaps: the search returns a rarity for each, in order
    for readings in words:
        before = len(terms)
        for token in readings:
            terms.setdefault(stem(token), Term(stem(token), "=" + token, slot))
        slot += len(terms) > before
    for pair in dict.fromkeys(_pairs([stem(readings[0]) for readings in words])):
        terms[pair] = Term(pair, pair, slot, pair=True)
        slot += 1
    return list(terms.values())


def tsvector(parts: Iterable[tuple[str, Weight]]) -> str:
    """A tsvector literal of weighted texts, for example the title (A) and the body (D) of a chunk."""
    positions: dict[str, list[str]] = {}
    at = 0
    for text, weight in parts:
        words = content_words(text)
        stems = [stem(token) for token in words]
        for lexemes in zip(stems, ["=" + token for token in words], ["", *_pairs(stems)], strict=False):
            at = min(at + 1, MAX_POSITION)
            for lexeme in filter(None, lexemes):
                positions.setdefault(lexeme, []).append(f"{at}{weight}")
    return " ".join(f"'{lexeme}':{','.join(places[:255])}" for lexeme, places in sorted(positions.items()))


def _pairs(stems: Sequence[str]) -> list[str]:
    """Neighbours joined: what is said together («sugar over three months») means more than its words apart."""
    return [f"{one}_{two}" for one, two in pairwise(stems)]
