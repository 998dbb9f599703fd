"""A text in pieces that a classifier can judge: one alarming sentence must not drown in harmless ones."""

import re

from engine.text.sentences import split_sentences

LONG = 24
"""Words from which a sentence is also read in windows: people write without full stops."""
WINDOW, STEP = 16, 8
MOST = 60
"""Pieces of one text that are read, from its beginning."""

Span = tuple[int, int]
_WORD = re.compile(r"\S+")


def parts(text: str) -> list[Span]:
    """Spans of the whole text, of its sentences where it has several, and of windows in long ones, each once."""
    sentences = [span for span in split_sentences(text) if any(char.isalpha() for char in text[slice(*span)])]
    found: dict[Span, None] = {(0, len(text)): None}
    if len(sentences) > 1:
        found |= dict.fromkeys(sentences)
    for start, end in sentences:
        words = [(start + match.start(), start + match.end()) for match in _WORD.finditer(text[start:end])]
        if len(words) > LONG:
            for at in range(0, len(words) - WINDOW + STEP, STEP):
                found[words[at][0], words[min(at + WINDOW, len(words)) - 1][1]] = None
    return list(found)[:MOST]
