"""Other ways to write a word that nobody knows: the other alphabet, the other keyboard, one slip of the hand."""

from collections.abc import Iterable
from itertools import product

MIN_SPELLED = 5
"""Letters from which one edit is taken for a slip: of four letters it more often makes another word."""
MAX_TRANSLITERATIONS = 24
"""Most ways that a word's ambiguous letters are tried in."""

# How people type Russian in Latin letters (several systems side by side); the longest match counts.
_TO_CYRILLIC: dict[str, tuple[str, ...]] = {
    "shch": ("щ",), "sch": ("щ", "сч"), "zh": ("ж",), "kh": ("х",), "ts": ("ц", "тс"), "ch": ("ч",), "sh": ("ш",),
    "yu": ("ю",), "ju": ("ю",), "iu": ("ю",), "ya": ("я",), "ja": ("я",), "ia": ("ия", "я"), "yo": ("е",), "jo": ("е",),
    "ye": ("е",), "ph": ("ф",), "th": ("т",), "ck": ("к",), "iy": ("ий",), "yy": ("ый",), "a": ("а",), "b": ("б",),
    "c": ("ц", "к", "с"), "d": ("д",), "e": ("е", "э"), "f": ("ф",), "g": ("г",), "h": ("х", "г"), "i": ("и",),
    "j": ("й", "ж"), "k": ("к",), "l": ("л",), "m": ("м",), "n": ("н",), "o": ("о",), "p": ("п",), "q": ("к",),
    "r": ("р",), "s": ("с",), "t": ("т",), "u": ("у",), "v": ("в",), "w": ("в", "ш"), "x": ("х", "кс"), "y": ("й", "ы"),
    "z": ("з", "ц"),
}  # fmt: skip
_TO_LATIN: dict[str, tuple[str, ...]] = {
    "а": ("a",), "б": ("b",), "в": ("v", "b"), "г": ("g", "h"), "д": ("d",), "е": ("e",), "ж": ("zh", "g"),
    "з": ("z",), "и": ("i",), "й": ("i", "y"), "к": ("k", "c"), "л": ("l",), "м": ("m",), "н": ("n",), "о": ("o",),
    "п": ("p",), "р": ("r",), "с": ("s", "c"), "т": ("t",), "у": ("u",), "ф": ("f",), "х": ("h",), "ц": ("c", "ts"),
    "ч": ("ch",), "ш": ("sh",), "щ": ("sch",), "ъ": ("",), "ы": ("y",), "ь": ("",), "э": ("e", "a"), "ю": ("u", "yu"),
    "я": ("ya", "a"),
}  # fmt: skip
_LONGEST = max(map(len, _TO_CYRILLIC))

_QWERTY = "qwertyuiop[]asdfghjkl;'zxcvbnm,."
_JCUKEN = "йцукенгшщзхъфывапролджэячсмитьбю"
_TO_JCUKEN = dict(zip(_QWERTY, _JCUKEN, strict=True))
_TO_QWERTY = dict(zip(_JCUKEN, _QWERTY, strict=True))


def transliterations(token: str) -> list[str]:
    """The token in the other alphabet, the likeliest ways first; empty where it is no word of one alphabet."""
    if token and all("a" <= char <= "z" for char in token):
        return _spelled(_pieces(token, _TO_CYRILLIC))
    if token and all("а" <= char <= "я" for char in token):
        return _spelled([_TO_LATIN[char] for char in token])
    return []


def _pieces(token: str, table: dict[str, tuple[str, ...]]) -> list[tuple[str, ...]]:
    pieces, at = [], 0
    while at < len(token):
        size = next((n for n in range(_LONGEST, 0, -1) if token[at : at + n] in table), 1)
        piece = token[at : at + size]
        pieces.append(table.get(piece, (piece,)))
        at += size
    return pieces


def _spelled(pieces: list[tuple[str, ...]]) -> list[str]:
    found: dict[str, None] = {}
    for letters in product(*pieces):
        found.setdefault("".join(letters))
        if len(found) == MAX_TRANSLITERATIONS:
            break
    return list(found)


def other_keyboard(token: str) -> str | None:
    """What the same keys give in the other layout; None where a key has no letter there."""
    for table in (_TO_JCUKEN, _TO_QWERTY):
        if all(char in table for char in token):
            return "".join(table[char] for char in token)
    return None


def deletions(word: str) -> list[str]:
    """The word itself and the word less each of its letters: two words one edit apart share one of these."""
    return list(dict.fromkeys([word, *(word[:at] + word[at + 1 :] for at in range(len(word)))]))


def one_edit_apart(one: str, other: str) -> bool:
    """Whether one letter added, left out, taken for another, or two neighbours exchanged make one word of the other."""
    if len(one) > len(other):
        one, other = other, one
    start = next((at for at, char in enumerate(one) if other[at] != char), len(one))
    if len(other) == len(one) + 1:
        return one[start:] == other[start + 1 :]
    if len(other) != len(one) or one == other:
        return False
    if one[start + 1 :] == other[start + 1 :]:
        return True
    swapped = one[start : start + 2]
    return other[start : start + 2] == swapped[::-1] and one[start + 2 :] == other[start + 2 :]


def other_writings(token: str) -> list[str]:
    """The token in the other alphabet and on the other keyboard."""
    keyboard = other_keyboard(token)
    return list(dict.fromkeys([*transliterations(token), *([keyboard] if keyboard else [])]))


def spellings(forms: Iterable[str]) -> list[str]:
    """All deletions of the forms that are long enough to be misspelt."""
    return list(dict.fromkeys(part for form in forms if len(form) >= MIN_SPELLED for part in deletions(form)))
