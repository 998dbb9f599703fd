"""Words whose letters were pulled apart: "i g n o r e   t h i s", "i-g-n-o-r-e"."""

from __future__ import annotations

import re

_LETTER = "[a-z\u0430-\u045f]"
# At least four single letters in a row, with one kind of joint; spaces may be wider between words.
_SPACED = re.compile(rf"(?<![^\s]){_LETTER}(?: +{_LETTER}){{3,}}(?![^\s.,;:!?])")
_PUNCTUATED = re.compile(rf"(?<![^\W_])(?:{_LETTER}([-._*·|/])){{1}}(?:{_LETTER}\1){{2,}}{_LETTER}(?![^\W_])")
_JOINT = re.compile(r"[-._*·|/]")
_SPACES = re.compile(" +")
_ONE_LETTER_WORDS = frozenset("авиоксуяжбa i".replace(" ", ""))


def spaced_gaps(text: str) -> list[tuple[int, int]]:
    """The spans to take out of casefolded text so that pulled-apart words close up."""
    gaps: list[tuple[int, int]] = []
    for match in _SPACED.finditer(text):
        if set(match[0]) <= _ONE_LETTER_WORDS | {" "}:
            continue
        for gap in _SPACES.finditer(text, match.start(), match.end()):
            # the wider gap between two words stays as one space
            gaps.append(gap.span() if len(gap[0]) == 1 else (gap.start() + 1, gap.end()))
    for match in _PUNCTUATED.finditer(text):
        gaps.extend(gap.span() for gap in _JOINT.finditer(text, match.start(), match.end()))
    gaps.sort()
    return gaps
