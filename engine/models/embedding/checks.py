"""What every encoder refuses and repairs before it sees a text."""

from collections.abc import Sequence

from engine.text.normalise import clean


def ready(texts: Sequence[str]) -> list[str]:
    """Texts without NUL and lone surrogates.

    Raises:
        ValueError: a text is empty; the encoders would return a unit vector for it, close to anything.
    """
    cleaned = [clean(text).strip() for text in texts]
    if not all(cleaned):
        raise ValueError("An empty text has no embedding.")
    return cleaned
