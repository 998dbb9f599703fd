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


def has_topic(text: str) -> bool:
    """Whether there is anything to look for: at least one word that is not a function word alone."""
    return bool(query_terms(text))


def build_query(text: str, embedders: Sequence[Embedder]) -> Query:
    """Encode a question once for all arms; the vectors are reused by whoever needs them.

    Raises:
        ValueError: the text names no topic.
    """
    terms = query_terms(text)
    if not terms:
        raise ValueError("A question needs a word that names something.")
    cleaned = clean(text).strip()
    vectors = {embedder.space: embedder.queries([cleaned])[0].tolist() for embedder in embedders}
    return Query(cleaned, tuple(terms), vectors)
