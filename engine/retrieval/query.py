"""A question as both arms take it."""

import re
from dataclasses import dataclass

from engine.retrieval.vocabulary import readings
from engine.storage.vocabulary_store import Vocabulary
from engine.text.lexemes import Term, content_words, query_terms
from engine.text.normalise import clean, normalise

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True)
class Query:
    """The text as it is encoded, and its terms."""

    text: str
    terms: tuple[Term, ...]


def has_topic(text: str) -> bool:
    """Whether there is anything to look for: at least one word that is not a function word alone."""
    return bool(content_words(text))


def build_query(text: str, vocabulary: Vocabulary) -> Query:
    """Read a question's words by the corpus' vocabulary.

    Raises:
        ValueError: the text names no topic.
    """
    words = content_words(text)
    if not words:
        raise ValueError("A question needs a word that names something.")
    read = {word: readings(word, vocabulary) for word in words}
    return Query(respelt(text, read), tuple(query_terms([read[word] for word in words])))


def respelt(text: str, read: dict[str, tuple[str, ...]]) -> str:
    """The cleaned text with the reading of each word that the corpus does not know: encoders stumble over slips too."""

    def word(match: re.Match[str]) -> str:
        written = match.group()
        reading = read.get(normalise(written), (written,))[0]
        return written if reading == normalise(written) else reading

    return _WORD.sub(word, clean(text).strip())
