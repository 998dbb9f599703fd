"""Inline citations: `repair` brings an answer's markers to the one form `[n]`, `neutralise_markers` takes
them out of a source before it enters a prompt.

The rule, form by form:

- A marker is a bracket pair (`[]`, `［］`, `【】`, `〔〕`, `〖〗`) around numbers: alone, in a group (`1, 2`,
  `1; 2`, `1 и 2`, `1 and 2`), in a range (`1-3`), with or without a label (`source 1`, `источник 2`, `^1`,
  `#1`) or a tail (`1†source`). Groups and ranges expand in the written order; doubled brackets come off.
- A number outside 1..sources is removed; a marker of which nothing is left goes with at most one ordinary
  space before it. A reversed range, zero and a negative number are invalid; too long a range is clamped.
- No marker: a number of four digits (a year), anything with a unit, a decimal or a slash, `[B12]`,
  `[n = 12]`, `(1)`, a Markdown link `[1](url)` (see `drop_links`), inline and fenced code, and brackets that
  the text around shows to be an index (`x[1] = 3`), a value (`y = [1, 2]`) or a reference range
  (`норма [60-100]`, `[3-5] ммоль/л`).

Everything runs in linear time; nothing here raises on any string.
"""

import re
from dataclasses import dataclass, field

from engine.guardrails.markers import PAIRS, Marker, is_text, parse, segments, split

_BRACKET = re.compile(r"[\[\]［］【】〔〕〖〗]")
_INNERMOST = re.compile(r"[\[［【〔〖]([^\[\]［］【】〔〕〖〗]*)[\]］】〕〗]")
_LINK = re.compile(r"!?\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\((?:[^()\s]|\([^()\s]*\))*(?:\s+\"[^\"\n]*\")?\)")
_DEFINITION = re.compile(
    r"^[ \t]{0,3}\[[^\[\]\n]+\]:[ \t]*<?[a-z][a-z0-9+.-]*://[^\n]*(?:\n|\Z)", re.IGNORECASE | re.MULTILINE
)
_PASSES = 8


@dataclass(frozen=True)
class Repaired:
    """An answer with repaired markers; `cited` and `removed` are unique, in the order of first appearance.

    Of a clamped range `removed` names the numbers that were cut off, of a very long one only its ends.
    """

    text: str
    cited: tuple[int, ...]
    removed: tuple[int, ...]


def repair(text: str, sources: int) -> Repaired:
    """Bring every citation to `[n]` with 1 ≤ n ≤ sources and take the impossible ones out.

    A removal can, in contrived texts, join two pieces into a new marker or a new code fence; so the pass is
    repeated until nothing changes.
    """
    removed: list[int] = []
    one_pass = _Pass(text, sources)
    for _ in range(_PASSES):
        one_pass = _Pass(text, sources)
        removed += one_pass.removed
        if one_pass.result == text:
            break
        text = one_pass.result
    return Repaired(text, tuple(dict.fromkeys(one_pass.cited)), tuple(dict.fromkeys(removed)))


def neutralise_markers(text: str) -> str:
    """Rewrite everything that `repair` could read as a marker with round brackets: `[3]` becomes `(3)`.

    A source's own bibliography numbers must not be copied by a model as if they pointed into our list of
    sources. Code and links are no exception here: in a prompt they are just as copyable.
    """

    def rounded(match: re.Match[str]) -> str:
        content = match.group(1)
        return match.group() if parse(content) is None else f"({content.strip().lstrip('^')})"

    return _INNERMOST.sub(rounded, text)


def drop_links(text: str) -> str:
    """Take the targets out of Markdown links and images outside code: the label stays, a number as `[n]`.

    An answer's link targets come from our own table of sources and from nowhere else. `repair` leaves links
    alone; whoever shows a model's text calls this before it.
    """

    def label(match: re.Match[str]) -> str:
        inner = match.group(1)
        return f"[{inner}]" if parse(inner) is not None else inner

    def bare(piece: str) -> str:
        piece = _DEFINITION.sub("", piece)
        for _ in range(_PASSES):  # a linked image is a link in a link
            piece, count = _LINK.subn(label, piece)
            if not count:
                break
        return piece

    return "".join(piece if is_code else bare(piece) for piece, is_code in segments(text))


@dataclass
class _Frame:
    """An open bracket: where its piece stands in the output and where it stood in the text."""

    piece: int
    start: int
    closer: str
    plain: bool = True
    touched: bool = False  # a marker inside was kept or removed


@dataclass
class _Pass:
    """One pass: brackets are closed on a stack, so that nesting costs nothing."""

    text: str
    sources: int
    out: list[str] = field(default_factory=list)
    cited: list[int] = field(default_factory=list)
    removed: list[int] = field(default_factory=list)
    result: str = ""

    def __post_init__(self) -> None:
        self._open: list[_Frame] = []
        position = 0
        for piece, is_code in segments(self.text):
            if is_code:
                self._spoil()
                self.out.append(piece)
            else:
                self._plain(piece, position)
            position += len(piece)
        self.result = "".join(self.out)

    def _spoil(self) -> None:
        """What stands here is no part of a marker: the open brackets are text."""
        if self._open:
            self._open[-1].plain = False

    def _plain(self, piece: str, offset: int) -> None:
        done = 0
        for match in _BRACKET.finditer(piece):
            if match.start() > done:
                self.out.append(piece[done : match.start()])
            done = match.end()
            sign = match.group()
            if sign in PAIRS:
                self._open.append(_Frame(len(self.out), offset + match.start(), PAIRS[sign]))
                self.out.append(sign)
            elif self._open and self._open[-1].closer == sign:
                self._close(self._open.pop(), sign, offset + match.end())
            else:
                self._spoil()
                self.out.append(sign)
        self.out.append(piece[done:])

    def _close(self, frame: _Frame, sign: str, end: int) -> None:
        marker = self._read(frame)
        if marker is None or is_text(self.text, frame.start, end, marker, self.sources):
            self._spoil()
            self.out.append(sign)
            return
        kept, lost = split(marker, self.sources)
        self.removed += lost
        self.cited += kept
        del self.out[frame.piece :]
        if kept:
            self.out.append("".join(f"[{n}]" for n in kept))
        elif self.out and self.out[-1].endswith(" ") and self.text[frame.start - 1] == " ":
            self.out[-1] = self.out[-1][:-1]
        if self._open:
            self._open[-1].touched = True

    def _read(self, frame: _Frame) -> Marker | None:
        if not frame.plain:
            return None
        content = "".join(self.out[frame.piece + 1 :])
        if not frame.touched:
            return parse(content)
        flat = ", ".join(filter(None, (p.strip(" ,;") for p in re.split(r"[\[\]]", content))))
        return parse(flat) if flat else Marker(())
