"""Patterns of rules: macros, what is refused, and one compiled form over one-byte text.

Folded text is encoded in a code page of one byte a character (windows-1251 holds both alphabets), so a
byte offset is a character offset and RE2 runs on its small tables. What the code page lacks is one dead byte.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import re2

_LETTER = "a-zа-яіїєґ"
_WORD = f"{_LETTER}0-9_"
BUILT_IN: dict[str, str] = {
    "w": f"(?:^|$|[^{_WORD}])",
    "s": "(?:[ \n]+)",
    "l": f"(?:[{_LETTER}]*)",
    "d": "[0-9]",
    "n": "(?:[0-9]+(?:[.,][0-9]+)?)",
    "start": "^",
    "end": "$",
}
# Outside a sentence its borders are somewhere in the text: the first look must not insist on them.
_LOOSE = {**BUILT_IN, "start": "", "end": ""}
_MACRO = re.compile(r"\{([a-z_][a-z0-9_]*)(?::([0-9]+))?\}")
_FORBIDDEN = re.compile(r"\\[bBwWdDsSAzZpPCQE]")
_UNBOUNDED = re.compile(r"(?<!\\)\.[*+]|\.\{[0-9]+,\}")
_ANCHOR = re.compile(r"(?<![\\\[])\^|(?<!\\)\$")
_FLAGS = re.compile(r"\(\?[a-z-]+[:)]")
_DEPTH = 8


class PatternError(ValueError):
    """A pattern that may not or cannot be compiled; the text says why."""


def _one_byte(error: UnicodeError) -> tuple[bytes, int]:
    assert isinstance(error, UnicodeEncodeError)
    return b"\x01" * (error.end - error.start), error.end


codecs.register_error("anamnesis.one_byte", _one_byte)


def encode(folded: str) -> bytes:
    """Folded text, one byte a character."""
    return folded.encode("cp1251", errors="anamnesis.one_byte")


def check(source: str) -> None:
    """Refuses what does not mean here what it seems to mean."""
    if found := _FORBIDDEN.search(source):
        raise PatternError(f"{found[0]} does not know Cyrillic; use {{w}}, {{l}}, {{d}}, {{s}}")
    if found := _UNBOUNDED.search(source):
        raise PatternError(f"unbounded {found[0]}; use {{gap:N}} or .{{0,N}}")
    if _ANCHOR.search(source):
        raise PatternError("a bare ^ or $; use {start}, {end} or {w}")
    if (found := _FLAGS.search(source)) and found[0] != "(?:":
        raise PatternError(f"flags {found[0]} are not for rules: text is folded to lower case")
    if source != source.casefold() or "ё" in source:
        raise PatternError("capitals and «ё» never match: text is folded to lower case and «е»")


def expand(source: str, macros: Mapping[str, str], *, loose: bool = False) -> str:
    """The pattern with its macros filled in; `loose` drops {start} and {end}."""
    built_in = _LOOSE if loose else BUILT_IN

    def fill(match: re.Match[str]) -> str:
        name, count = match[1], match[2]
        if name == "gap" and count is not None:
            # up to N words between two words
            return f"(?:(?:[^{_WORD}]+[{_WORD}]+){{0,{count}}}[^{_WORD}]+)"
        if count is None and name in built_in:
            return built_in[name]
        if count is None and name in macros:
            return f"(?:{macros[name]})"
        raise PatternError(f"unknown macro {match[0]}")

    for _ in range(_DEPTH):
        filled = _MACRO.sub(fill, source)
        if filled == source:
            return filled
        source = filled
    raise PatternError("macros that never end")


@lru_cache(maxsize=8192)
def compile_pattern(expanded: str) -> Any:
    """The compiled pattern over `encode`d text."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    options.dot_nl = True
    options.never_capture = True
    try:
        source = expanded.encode("cp1251")
    except UnicodeEncodeError as error:
        raise PatternError(f"{expanded[error.start]!r} never occurs in folded text") from error
    try:
        return re2._Regexp(source, options)
    except re2.error as error:
        detail = error.args[0] if error.args else error
        text = detail.decode("cp1251", "replace") if isinstance(detail, bytes) else str(detail)
        raise PatternError(text) from error
