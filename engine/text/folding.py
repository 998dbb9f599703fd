"""Text as rules see it, with the way back to the original: evasion by dress is undone here."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field

from engine.text.characters import BREVE, plain
from engine.text.lookalikes import fold_tokens
from engine.text.spacing import spaced_gaps

_RUNS = re.compile(r"(?<= ) +|(?<=\n)[ ]+|[ ]+(?=\n)")


@dataclass(frozen=True)
class Folded:
    """Folded text; `offsets[i]` is where in the original the folded character i begins."""

    text: str
    original: str = field(repr=False)
    offsets: array[int] = field(repr=False)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original that a span of the folded text stands for."""
        if start >= end:
            at = self.offsets[start] if start < len(self.offsets) else len(self.original)
            return at, at
        after = self.offsets[end] if end < len(self.offsets) else len(self.original)
        return self.offsets[start], max(after, self.offsets[end - 1] + 1)


def fold(text: str) -> Folded:
    """Folds text for matching, in linear time. See `characters.plain` and `lookalikes` for what is undone."""
    folded, offsets = _characters(text)
    folded, offsets = _cut(folded, offsets, spaced_gaps(folded))
    folded, offsets = _cut(folded, offsets, [m.span() for m in _RUNS.finditer(folded)])
    return Folded(fold_tokens(folded, singles=False), text, offsets)


def _characters(text: str) -> tuple[str, array[int]]:
    table: dict[str, str] = {}
    out: list[str] = []
    offsets: array[int] = array("I")
    add, note = out.append, offsets.append
    for at, char in enumerate(text):
        known = table.get(char)
        if known is None:
            known = table[char] = plain(char)
        if len(known) == 1:
            if known == "\n" and char == "\n" and at and text[at - 1] == "\r":
                continue
            add(known)
            note(at)
        elif known:
            out.extend(known)
            offsets.extend([at] * len(known))
        elif char == BREVE and out and out[-1] == "и":
            out[-1] = "й"
    return "".join(out), offsets


def _cut(text: str, offsets: array[int], gaps: list[tuple[int, int]]) -> tuple[str, array[int]]:
    """Without the given spans (in order, apart)."""
    if not gaps:
        return text, offsets
    parts: list[str] = []
    kept: array[int] = array("I")
    at = 0
    for start, end in gaps:
        parts.append(text[at:start])
        kept.extend(offsets[at:start])
        at = end
    parts.append(text[at:])
    kept.extend(offsets[at:])
    return "".join(parts), kept
