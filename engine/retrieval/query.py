"""A question as both arms take it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from engine.retrieval.names import Span, named_topics
from engine.retrieval.vocabulary import readings
from engine.storage.vocabulary_store import Vocabulary
from engine.text.lexemes import Term, content_words, query_terms, stem
from engine.text.normalise import clean, normalise

_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")


@dataclass(frozen=True)
class Query:
    """The text as it is encoded, and its terms."""

    text: str
    terms: tuple[Term, ...]
    written: tuple[str, ...]
    """Its content words."""
    words: tuple[tuple[str, ...], ...]
    """The readings of each."""
    named: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Slots of the words by which a topic is named."""
    naming_words: frozenset[str] = frozenset()
    """Stems of these words as they were written."""

    def naming(self, spans: Mapping[str, Sequence[Span]], topics: Mapping[str, Sequence[str]]) -> "Query":
        """The same question with the topics that it names; see `engine.retrieval.names`."""
        slots = {term.stem: term.slot for term in self.terms if not term.pair}
        places = named_topics(spans, topics)
        return replace(
            self,
            named={topic: frozenset(slots[stem(self.words[at][0])] for at in of) for topic, of in places.items()},
            naming_words=frozenset(stem(self.written[at]) for of in places.values() for at in of),
        )


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
    terms = tuple(query_terms([read[word] for word in words]))
    return Query(respelt(text, read), terms, tuple(words), tuple(read[word] for word in words))


def respelt(text: str, read: dict[str, tuple[str, ...]]) -> str:
    """The cleaned text with the reading of each word that the corpus does not know: encoders stumble over slips too."""

    def word(match: re.Match[str]) -> str:
        written = match.group()
        reading = read.get(normalise(written), (written,))[0]
        return written if reading == normalise(written) else reading

    return _WORD.sub(word, clean(text).strip())
