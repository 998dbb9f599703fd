"""Where the clauses of a sentence begin and end: how far a "no", a "but" or an "if" reaches."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

_CONTRAST = (
    "but|however|yet|though|although|except|still|whereas|instead|"
    "но|однако|зато|хотя|только|а|притом|причем|тем не менее|все равно|все же|все-таки|"
    "and now|and then|и теперь|и сейчас|и вдруг|и тут|а теперь|а сейчас|"
    "a|no i|no u menya|odnako|zato"
)
# "a" is Russian «а» in Latin letters only after a comma; as an article it opens nothing.
_BORDER = re.compile(r"(?<![0-9]),|,(?![0-9])|[;:()\n]| - |(?<=\s)(?:" + _CONTRAST.replace("|a|", "|") + r")(?=[\s,])")


@dataclass(frozen=True)
class Clauses:
    """The borders of one folded sentence; a clause runs from one border's end to the next one's start."""

    length: int
    borders: tuple[tuple[int, int], ...]

    def start_of(self, position: int) -> int:
        """Where the clause that holds this position begins."""
        at = bisect_right(self.borders, (position, position))
        return min(self.borders[at - 1][1], position) if at else 0

    def end_of(self, position: int) -> int:
        """Where the clause that holds this position ends."""
        at = bisect_right(self.borders, (position, -1))
        return self.borders[at][0] if at < len(self.borders) else self.length


def split_clauses(sentence: str) -> Clauses:
    """The clauses of a folded sentence: commas, colons, dashes, brackets and words of contrast part them."""
    return Clauses(len(sentence), tuple(m.span() for m in _BORDER.finditer(sentence)))
