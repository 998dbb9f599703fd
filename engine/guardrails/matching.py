"""One sentence against one rule: every match is tried, an exception excuses only the match it belongs to."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.guardrails.clauses import Clauses, split_clauses
from engine.guardrails.patterns import encode

Where = Literal["overlap", "before", "after", "lead", "trail", "clause", "sentence"]

_REACH = 200  # how far before, after, lead and trail look
_CLOSE_LOOK = 256  # excused matches of one pattern in one sentence after which the search no longer overlaps


class Sentence:
    """A folded sentence, its one-byte form and its clauses (found only if asked for)."""

    __slots__ = ("_clauses", "data", "start", "text")

    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.start = start
        self.data = encode(text)
        self._clauses: Clauses | None = None

    @property
    def clauses(self) -> Clauses:
        """The sentence's clauses."""
        if self._clauses is None:
            self._clauses = split_clauses(self.text)
        return self._clauses


@dataclass(frozen=True)
class Excuse:
    """A compiled exception."""

    pattern: Any
    where: Where
    unless: Any | None = None
    unless_anywhere: Any | None = None


@dataclass(frozen=True)
class Cue:
    """A compiled pattern, and what else must be somewhere in the sentence for it to count."""

    pattern: Any
    others: tuple[Any, ...] = ()


@dataclass
class Matcher:
    """A compiled rule: a first look over any text, the patterns, the exceptions."""

    look: Any
    cues: tuple[Cue, ...]
    excuses: tuple[Excuse, ...]

    def may_hit(self, data: bytes) -> bool:
        """False only where no sentence of this text can hit."""
        return self.look.search(data) is not None

    def find(self, sentence: Sentence) -> tuple[int, int] | None:
        """The first match that nothing excuses, as a span of the sentence."""
        trial = _Trial(sentence, self.excuses)
        for cue in self.cues:
            if not all(trial.anywhere(other) for other in cue.others):
                continue
            for span in _matches(cue.pattern, sentence):
                if not trial.excused(span):
                    return span
        return None


def _matches(pattern: Any, sentence: Sentence) -> Iterator[tuple[int, int]]:
    position, count, last = 0, 0, len(sentence.data)
    while position <= last and (match := pattern.search(sentence.data, position)) is not None:
        start, end = match.span()
        yield _core(sentence.text, start, end)
        count += 1
        position = start + 1 if count < _CLOSE_LOOK else max(end, start + 1)


def _core(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without the borders that {w} took in."""
    while start < end and not text[start].isalnum():
        start += 1
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return start, end


@dataclass
class _Trial:
    sentence: Sentence
    excuses: tuple[Excuse, ...]
    _spans: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    _found: dict[int, bool] = field(default_factory=dict)

    def excused(self, span: tuple[int, int]) -> bool:
        return any(self._holds(number, excuse, span) for number, excuse in enumerate(self.excuses))

    def _holds(self, number: int, excuse: Excuse, span: tuple[int, int]) -> bool:
        if excuse.where in ("overlap", "sentence"):
            if not self._overlaps(number, excuse, span) or self.anywhere(excuse.unless):
                return False
        else:
            start, end = self._region(excuse.where, span)
            region = self.sentence.data[start:end]
            if not excuse.pattern.search(region) or (excuse.unless and excuse.unless.search(region)):
                return False
        return not self.anywhere(excuse.unless_anywhere)

    def anywhere(self, pattern: Any | None) -> bool:
        """Whether the pattern is anywhere in the sentence; looked for once."""
        if pattern is None:
            return False
        found = self._found.get(id(pattern))
        if found is None:
            found = self._found[id(pattern)] = pattern.search(self.sentence.data) is not None
        return found

    def _overlaps(self, number: int, excuse: Excuse, span: tuple[int, int]) -> bool:
        spans = self._spans.get(number)
        if spans is None:
            found = (match.span() for match in excuse.pattern.finditer(self.sentence.data))
            spans = self._spans[number] = [_core(self.sentence.text, *one) for one in found]
        if excuse.where == "sentence":
            return bool(spans)
        at = bisect_left(spans, (span[1], 0))
        return at > 0 and spans[at - 1][1] > span[0]

    def _region(self, where: Where, span: tuple[int, int]) -> tuple[int, int]:
        start, end = span
        if where == "lead":
            return max(0, start - _REACH), start
        if where == "trail":
            return end, end + _REACH
        clauses = self.sentence.clauses
        if where == "before":
            return max(clauses.start_of(start), start - _REACH), start
        if where == "after":
            return end, min(clauses.end_of(end), end + _REACH)
        return max(clauses.start_of(start), start - _REACH), min(clauses.end_of(end), end + _REACH)
