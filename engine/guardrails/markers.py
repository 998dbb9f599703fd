"""What a citation marker looks like: `parse` reads the inside of a bracket pair, `is_text` looks at what
stands around it, `segments` tells code from text. The written rule stands in `citations`.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from engine.text.characters import INVISIBLE

PAIRS = {"[": "]", "［": "］", "【": "】", "〔": "〕", "〖": "〗"}
_CLOSERS = frozenset(PAIRS.values())
_LONGEST_MARKER = 2000
_LONGEST_RANGE = 100
_HUGE = 10**18
_TELLING = frozenset("_=:—–- \n")

_LABEL = re.compile(
    r"(?:\^|#|(?:sources?|src|refs?|references?|citations?|documents?|docs?"
    r"|источник(?:и|а|ов)?|ист|ссылк[аи]|документы?|док|no|n)(?:\.|(?=[\s:#\d])))\s*[:#]?\s*(?:no\.?\s*)?"
)
_SEPARATOR = re.compile(r"[,;&、]|\s(?:и|and|или|or)\s|(?<=\d)\s+(?=\d)")
_NUMBER = re.compile(r"[-−–]?\d+")
_RANGE = re.compile(r"(\d+)\s*[-‐‑‒–—−]\s*(\d+)")

_LINK_AFTER = re.compile(
    r"[\]］】〕〗]*\((?:[a-z][a-z0-9+.-]*:|//?|#|www\.|<|[^\s()]*(?:\s+\"[^\"]*\")?\))", re.IGNORECASE
)
_INDEX_BEFORE = re.compile(r"(?<![^\W_])(?:[fijmnpq-z]|arr|argv?s?|df|buf|tmp|idx)$")
_NAME_BEFORE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*$")
_ASSIGNED_NAME = re.compile(r"=\s*[A-Za-z_][A-Za-z0-9_]*$")
_ASSIGNMENT_AFTER = re.compile(r"[ \t]*[-+*/|&]?=(?!>)")
_VALUE_BEFORE = re.compile(r"(?:=|\":)\s*$")
_UNIT_AFTER = re.compile(
    r"\s?(?:%|‰|°|(?:[мmкkµμн]?(?:г|кг|g|kg|l|л|мл|ml|моль|mol|мкг|mcg|ме|iu|ед|u)|дл|dl|мм|mm|см|cm"
    r"|уд|bpm|лет|год|years?|yrs?|дн|days?|час|hours?|мин|min|нед|weeks?|мес|months?)(?![^\W\d_])|ммоль|mmol)",
    re.IGNORECASE,
)
_CONFIDENCE_BEFORE = re.compile(r"(?:ди|мки|ci|iqr)\s?[:=]?\s?$", re.IGNORECASE)
_RANGE_BEFORE = re.compile(
    r"(?:норм[аеыу]|диапазон\w{0,3}|интервал\w{0,3}|предел\w{0,3}|границ\w{0,3}|значени\w{0,3}"
    r"|ranges?|normal|interval|limits?)\s?(?:is|of|от|в|:|=|—|–|-)?\s?$",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Marker:
    """The numbers of a marker in written order, as closed ranges (a single number stands twice)."""

    numbers: tuple[tuple[int, int], ...]

    @property
    def single(self) -> bool:
        """Whether it is one number and neither a group nor a range."""
        return len(self.numbers) == 1 and self.numbers[0][0] == self.numbers[0][1]


def parse(content: str) -> Marker | None:
    """Read what stands between two brackets; None where it is no marker."""
    if content.isascii() and content.isdigit() and len(content) < 4:
        return Marker(((int(content), int(content)),))
    if not content or len(content) > _LONGEST_MARKER:
        return None
    plain = unicodedata.normalize("NFKC", INVISIBLE.sub("", content)).casefold().strip()
    if not any(c.isdecimal() for c in plain):
        return None
    if "†" in plain:  # 【1†source】; in 【4:0†source】 the first number does not count sources
        head = plain.partition("†")[0].strip()
        plain = f"-{head.partition(':')[0]}" if ":" in head else head
    ranges: list[tuple[int, int]] = []
    for item in _SEPARATOR.split(_LABEL.sub("", plain, count=1) if _LABEL.match(plain) else plain):
        bare = item.strip()
        label = _LABEL.match(bare)
        bounds = _bounds(bare[label.end() :] if label else bare)
        if bounds is None:
            return None
        ranges.append(bounds)
    return Marker(tuple(ranges))


def _bounds(item: str) -> tuple[int, int] | None:
    if _NUMBER.fullmatch(item):
        digits = item.lstrip("-−–")
        value = _value(digits)
        if value is None:
            return None
        return (value, value) if digits == item else (-value, -value)
    match = _RANGE.fullmatch(item)
    if match is None:
        return None
    first, last = _value(match.group(1)), _value(match.group(2))
    return None if first is None or last is None else (first, last)


def _value(digits: str) -> int | None:
    if len(digits) == 4:
        return None
    return int(digits) if len(digits) <= 18 else _HUGE


def split(marker: Marker, sources: int) -> tuple[list[int], list[int]]:
    """The numbers of a marker that exist and those that do not."""
    kept: list[int] = []
    lost: list[int] = []
    for first, last in marker.numbers:
        if first > last:
            lost += [first, last]
            continue
        low, high = max(first, 1), min(last, sources, max(first, 1) + _LONGEST_RANGE - 1)
        kept += range(low, high + 1)
        outside = last - first + 1 - max(0, high - low + 1)
        if outside > _LONGEST_RANGE:
            lost += [n for n in (first, last) if not low <= n <= high]
        else:
            lost += [n for n in range(first, last + 1) if not low <= n <= high]
    return kept, lost


def is_text(text: str, start: int, end: int, marker: Marker, sources: int) -> bool:
    """Whether the surroundings show a link, an index, a value or a reference range instead of a citation."""
    next_sign = text[end : end + 1]
    if next_sign in ("(", *_CLOSERS) and _LINK_AFTER.match(text[end : end + 200]):
        return True
    last_sign = text[start - 1 : start]
    before = text[max(0, start - 24) : start] if last_sign.isalnum() or last_sign in _TELLING else ""
    if before and (
        _VALUE_BEFORE.search(before)
        or _INDEX_BEFORE.search(before)
        or _ASSIGNED_NAME.search(before)
        or (_NAME_BEFORE.search(before) and _ASSIGNMENT_AFTER.match(text[end : end + 12]))
    ):
        return True
    if marker.single or not marker.numbers:
        return False
    if _UNIT_AFTER.match(text[end : end + 12]) or _CONFIDENCE_BEFORE.search(before):
        return True
    return max(map(max, marker.numbers)) > sources and bool(_RANGE_BEFORE.search(before))


# --- code: fences and inline spans ---

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(r"`+")


def segments(text: str) -> Iterator[tuple[str, bool]]:
    """Cut a text into pieces of plain text and of code (fences, inline spans), in order, without loss."""
    done = 0
    for start, end in _code(text):
        yield text[done:start], False
        yield text[start:end], True
        done = end
    yield text[done:], False


def _code(text: str) -> Iterator[tuple[int, int]]:
    fence = ""
    opened = paragraph = position = 0
    for line in text.splitlines(keepends=True) if "`" in text or "~" in text else ():
        after = position + len(line)
        match = _FENCE.match(line)
        if fence:
            if match and match.group(1).startswith(fence) and not match.group(2).strip():
                yield opened, after
                fence, paragraph = "", after
        elif match and not (match.group(1)[0] == "`" and "`" in match.group(2)):
            yield from _inline(text, paragraph, position)
            fence, opened = match.group(1), position
        elif not line.strip():
            yield from _inline(text, paragraph, position)
            paragraph = after
        position = after
    if fence:
        yield opened, len(text)
    else:
        yield from _inline(text, paragraph, position)


def _inline(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Code spans of one paragraph: a run of backticks up to the next run of the same length."""
    runs = [(m.start(), m.end()) for m in _TICKS.finditer(text, start, end)]
    by_length: dict[int, list[int]] = {}
    for index, (a, b) in enumerate(runs):
        by_length.setdefault(b - a, []).append(index)
    index = 0
    while index < len(runs):
        a, b = runs[index]
        same = by_length[b - a]
        later = bisect_right(same, index)
        if later < len(same):
            index = same[later]
            yield a, runs[index][1]
        index += 1
