"""A question as both arms take it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from engine.models.base import Embedder
from engine.retrieval.vocabulary import readings
from engine.storage.vocabulary_store import Vocabulary
from engine.text.lexemes import Term, content_words, query_terms
from engine.text.normalise import clean, normalise

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True)
class Query:
    """The text as it is encoded, its terms and one vector a space."""

    text: str
    terms: tuple[Term, ...]
    vectors: dict[str, list[float]]


def has_topic(text: str) -> bool:
    """Whether there is anything to look for: at least one word that is not a function word alone."""
    return bool(content_words(text))


def build_query(text: str, vocabulary: Vocabulary, embedders: Sequence[Embedder]) -> Query:
    """Read a question's words by the corpus' vocabulary and encode it once for all arms.

    Raises:
        ValueError: the text names no topic.
    """
    words = content_words(text)
    if not words:
        raise ValueError("A question needs a word that names something.")
    read = {word: readings(word, vocabulary) for word in words}
    corrected = respelt(text, read)
    vectors = {embedder.space: embedder.queries([corrected])[0].tolist() for embedder in embedders}
    return Query(corrected, tuple(query_terms([read[word] for word in words])), vectors)


def respelt(text: str, read: dict[str, tuple[str, ...]]) -> str:
    """The cleaned text with the reading of each word that the corpus does not know: encoders stumble over slips too."""

    def word(match: re.Match[str]) -> str:
        written = match.group()
        reading = read.get(normalise(written), (written,))[0]
        return written if reading == normalise(written) else reading

    return _WORD.sub(word, clean(text).strip())
