"""Candidates for tests of pure ranking."""

from engine.storage.search_store import Candidate


def candidate(topic: str, lang: str = "en", **given: object) -> Candidate:
    """A candidate of two spaces that nothing speaks for, unless given."""
    ordinal = given.pop("ordinal", 0)
    fields: dict[str, object] = {
        "chunk": f"{topic}.{lang}.{ordinal}",
        "document": f"{topic}.{lang}",
        "topic": topic,
        "lang": lang,
        "title": topic,
        "source": (),
        "ordinal": ordinal,
        "section": "",
        "content": "",
        "cosine": (0.0, 0.7),
        "sentence_cosine": (None, None),
        "lexical": None,
        "coverage": 0.0,
        "terms": 2,
        "unknown": 0,
        "covered": (),
        "rarity": (1.0, 3.0),
    }
    return Candidate(**(fields | given))  # type: ignore[arg-type]
