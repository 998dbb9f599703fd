"""Where sentences begin and end, in Russian and in English."""

from __future__ import annotations

import re

from engine.text.characters import INVISIBLE_CLASS, LINE_BREAKS

_BREAK = re.compile(rf"[.!?…]+[\"'»”’)\]]*|[{LINE_BREAKS}]+|[;]")
_GAP = re.compile(rf"[\s{INVISIBLE_CLASS}]")
_OPENING = re.compile(rf"[\"'«“(\[\s{INVISIBLE_CLASS}]*")
_LAST_TOKEN = re.compile(r"[^\s(\[«\"“]*$")
# Never the end of a sentence.
_TITLE_WORDS = (
    "т.е т.к т.н т.ч т.о т.наз напр например см ср им ул проф доц акад гр г-н г-жа гос"
    " e.g i.e eg ie vs dr mr mrs ms prof approx ca cf fig no viz incl resp"
)
_TITLES = frozenset(_TITLE_WORDS.split())
# The end only when a new sentence visibly begins.
_UNIT_WORDS = (
    "г гг мг мкг кг мл л см мм ч час мин сек нед мес тыс млн руб стр рис табл таб капс ед рт ст уд"
    " т.д т.п т.ж др пр etc al mg ml mcg kg lb lbs oz hr hrs min mins sec tab tabs cap caps wk wks"
    " a.m p.m am pm st ave in jan feb mar apr jun jul aug sep sept oct nov dec approx max"
)
_UNITS = frozenset(_UNIT_WORDS.split())
_INITIAL = re.compile(r"^(?:[А-ЯЁA-Z]\.?){1,3}$")
_LIST_NUMBER = re.compile(r"^(?:[0-9]{1,2}|[a-zа-я])$")


def split_sentences(text: str, *, semicolons: bool = False) -> list[tuple[int, int]]:
    """Spans of the sentences in order: all that is not space is in one of them, none overlap.

    A line break always ends a sentence; a full stop of an abbreviation, an initial, a decimal or a list number
    does not. With `semicolons` a semicolon ends one too, which suits rules; a quoted sentence is whole without.
    """
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        if match[0] == ";":
            if not semicolons:
                continue
        elif not (match[0][0] in LINE_BREAKS or _ends(text, start, match)):
            continue
        _add(spans, text, start, match.end())
        start = match.end()
    _add(spans, text, start, len(text))
    return spans


def _add(spans: list[tuple[int, int]], text: str, start: int, end: int) -> None:
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    if left < right:
        spans.append((start + left, start + right))


def _ends(text: str, start: int, match: re.Match[str]) -> bool:
    after = text[match.end() : match.end() + 1]
    if not after:
        return True
    mark = match[0].rstrip("\"'»”’)]")
    spaced = bool(_GAP.match(after))
    if not spaced:
        # "нет.Сильная": a missing space; "3.5", "e.g", "sub.domain" are not ends
        before = text[match.start() - 1 : match.start()]
        glued = mark != "." or (before.islower() and after.isupper())
        return glued and after not in ",;:)]»”"
    if mark != ".":
        return True
    return _full_stop_ends(text, start, match)


def _full_stop_ends(text: str, start: int, match: re.Match[str]) -> bool:
    window = text[max(start, match.start() - 16) : match.start()]
    found = _LAST_TOKEN.search(window)
    token = found[0] if found else ""
    opening = _OPENING.match(text, match.end(), match.end() + 8)
    at = opening.end() if opening else match.end()
    following = text[at : at + 1]
    low = token.casefold()
    if low in _TITLES:
        return False
    if low in _UNITS:
        return following.isupper()
    if _INITIAL.match(token) and len(low.replace(".", "")) == 1:
        return not following.isupper()
    is_first = not text[start : match.start() - len(token)].strip()
    return not (is_first and _LIST_NUMBER.match(low))
