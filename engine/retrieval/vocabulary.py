"""A word that the corpus does not know, read as one that it does: other alphabet, other keyboard, one slip."""

from collections.abc import Iterable, Sequence

from engine.storage.vocabulary_store import Vocabulary
from engine.text.lexemes import stem
from engine.text.variants import MIN_SPELLED, one_edit_apart, other_writings, spellings, transliterations

MAX_WRITINGS = 3
"""Most readings of one word that are searched for."""
ABBREVIATION = 4
"""Letters up to which a known word is also read in the other alphabet: `ttg` is both a coeliac antibody and ТТГ."""
MAX_STRANGERS = 24
"""Unknown words of one question that are read."""
SPELLED_FORMS = 6
"""Writings in the other alphabet that are tried with a slip in them."""


def known_lookups(tokens: Iterable[str]) -> list[str]:
    """The lexemes that tell which tokens are known, and whether an abbreviation has a twin in the other alphabet."""
    terms: dict[str, None] = {}
    for token in dict.fromkeys(tokens):
        terms |= {"=" + token: None, stem(token): None}
        if len(token) <= ABBREVIATION:
            terms |= {"=" + form: None for form in transliterations(token)}
    return list(terms)


def strangers(tokens: Iterable[str], vocabulary: Vocabulary) -> list[str]:
    """Words that the corpus does not know, the first of them: a question that is all strangers has no topic here."""
    found = [token for token in dict.fromkeys(tokens) if token.isalpha() and not _known(token, vocabulary)]
    return found[:MAX_STRANGERS]


def stranger_lookups(tokens: Iterable[str]) -> tuple[list[str], list[str]]:
    """The lexemes and the deletions that `readings` wants to know of words that are not known."""
    terms: dict[str, None] = {}
    deletions: dict[str, None] = {}
    for token in dict.fromkeys(tokens):
        for form in other_writings(token):
            terms |= {"=" + form: None, stem(form): None}
        deletions |= dict.fromkeys(spellings(_forms(token)))
    return list(terms), list(deletions)


def readings(token: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The words that a token may stand for, itself first where it is known; an unknown one that resembles none stays.

    Numbers and words of mixed letters and digits are never corrected: a slip in a figure cannot be told.
    """
    if _known(token, vocabulary):
        return (token, *_abbreviated(token, vocabulary))[:MAX_WRITINGS]
    if not token.isalpha():
        return (token,)
    written = [form for form in other_writings(token) if _known(form, vocabulary)]
    return tuple(_most_common(written, vocabulary) or _misspelt(token, vocabulary) or [token])[:MAX_WRITINGS]


def _abbreviated(token: str, vocabulary: Vocabulary) -> list[str]:
    if len(token) > ABBREVIATION or not token.isalpha():
        return []
    return _most_common([form for form in transliterations(token) if "=" + form in vocabulary.documents], vocabulary)


def _misspelt(token: str, vocabulary: Vocabulary) -> list[str]:
    words = {
        word
        for form in _forms(token)
        for deletion in spellings([form])
        for word, _ in vocabulary.spelled.get(deletion, ())
        if one_edit_apart(form, word)
    }
    counts = {word: count for words_ in vocabulary.spelled.values() for word, count in words_}
    ordered = sorted(words, key=lambda word: (-counts[word], word))
    # Forms of one word are one reading.
    first_of_stem = {stem(word): word for word in reversed(ordered)}
    return [word for word in ordered if first_of_stem[stem(word)] == word]


def _forms(token: str) -> list[str]:
    forms = [token, *transliterations(token)[:SPELLED_FORMS]] if token.isalpha() else []
    return [form for form in forms if len(form) >= MIN_SPELLED]


def _known(token: str, vocabulary: Vocabulary) -> bool:
    return "=" + token in vocabulary.documents or stem(token) in vocabulary.documents


def _most_common(words: Sequence[str], vocabulary: Vocabulary) -> list[str]:
    def documents(word: str) -> int:
        return max(vocabulary.documents.get("=" + word, 0), vocabulary.documents.get(stem(word), 0))

    return sorted(dict.fromkeys(words), key=lambda word: (-documents(word), word))
