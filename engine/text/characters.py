"""What one character means once its dress is taken off: the table behind `normalise` and `folding`."""

from __future__ import annotations

import re
import unicodedata

LINE_BREAKS = "\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"
BREVE = "\u0306"

_FILLERS = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180e\u180f\u3164\uffa0\ufe00-\ufe0f\U000e0100-\U000e01ef"
_FORMAT = (
    "\u00ad\u0600-\u0605\u061c\u06dd\u070f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e007f"
)
INVISIBLE_CLASS = _FILLERS + _FORMAT
"""The inside of a character class: what shows nothing and takes no room."""
INVISIBLE = re.compile(f"[{INVISIBLE_CLASS}]+")
UNCLEAN = re.compile("[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f\ud800-\udfff]+")

_PUNCTUATION = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2043\ufe58\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u02b9\u2032\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
    **dict.fromkeys("\u2044\u2215", "/"),
}


def plain(char: str) -> str:
    """The character as rules see it: compatibility form, casefolded, no marks but the breve of «й».

    Empty for what has no meaning of its own; "\\n" for each kind of line break, " " for each kind of space.
    """
    if char in LINE_BREAKS:
        return "\n"
    if char.isspace():
        return " "
    if INVISIBLE.match(char) or UNCLEAN.match(char):
        return ""
    if char in _PUNCTUATION:
        return _PUNCTUATION[char]
    out: list[str] = []
    for part in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", char).casefold()):
        if part == BREVE and out and out[-1] == "и":
            out[-1] = "й"
        elif unicodedata.category(part) not in ("Mn", "Me"):
            out.append(" " if part.isspace() else _PUNCTUATION.get(part, part))
    return "".join(out)
