"""A question as both arms take it."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.models.base import Embedder
from engine.text.lexemes import Term, query_terms
from engine.text.normalise import clean


@dataclass(frozen=True)
class Query:
    """The cleaned text, its terms and one vector a space."""

    text: str
    terms: tuple[Term, ...]
    vectors: dict[str, list[float]]


def has_words(text: str) -> bool:
    """Whether there is anything to look for: a letter or a digit."""
    return any(character.isalnum() for character in text)


def build_query(text: str, embedders: Sequence[Embedder]) -> Query:
    """Encode a question once for all arms; the vectors are reused by whoever needs them.

    Raises:
        ValueError: the text holds no letter and no digit.
    """
    text = clean(text).strip()
    if not has_words(text):
        raise ValueError("A question needs a letter or a digit.")
    vectors = {embedder.space: embedder.queries([text])[0].tolist() for embedder in embedders}
    return Query(text, tuple(query_terms(text)), vectors)
