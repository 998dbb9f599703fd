"""Letters that look alike in the Latin and the Cyrillic alphabet, and which of the two a token means.

Works on casefolded text. Capital letters decide what looks alike («В» and "B", «Н» and "H").
"""

from __future__ import annotations

import re

_CYRILLIC = "авекмнорстухіјѕһԁԛԝӏ"
_LATIN = "abekmhopctyxijshdqwl"
_RARE = frozenset("іјѕһԁԛԝӏ")  # never a Russian letter: its presence says nothing about the script

TO_LATIN: dict[str, str] = dict(zip(_CYRILLIC, _LATIN, strict=True))
TO_CYRILLIC: dict[str, str] = {
    latin: cyrillic for latin, cyrillic in zip(_LATIN, _CYRILLIC, strict=True) if cyrillic not in _RARE
}
_LATIN_TABLE = str.maketrans(TO_LATIN)
_CYRILLIC_TABLE = str.maketrans(TO_CYRILLIC)

_TOKEN = re.compile(r"[0-9a-z\u0430-\u045f\u04bb\u04cf\u0501\u051b\u051d]+")
_LATIN_LETTER = re.compile(r"[a-z]")
_CYRILLIC_LETTER = re.compile(r"[\u0430-\u045f\u04bb\u04cf\u0501\u051b\u051d]")
_ONLY_LATIN = re.compile(f"[a-z](?<![{''.join(TO_CYRILLIC)}])")
_ONLY_CYRILLIC = re.compile(f"[\u0430-\u045f](?<![{_CYRILLIC}])")
_DIGIT = re.compile(r"[0-9]")
_ZEROS = re.compile(r"[0-9]+[oо]{2,}[0-9]*")


def _mixed(token: str) -> str:
    """The token in the script that most of its telling letters have."""
    latin, cyrillic = len(_ONLY_LATIN.findall(token)), len(_ONLY_CYRILLIC.findall(token))
    if latin == cyrillic:
        latin, cyrillic = len(_LATIN_LETTER.findall(token)), len(_CYRILLIC_LETTER.findall(token))
    return token.translate(_LATIN_TABLE if latin >= cyrillic else _CYRILLIC_TABLE)


def _is_ambiguous(token: str) -> bool:
    return not _ONLY_LATIN.search(token) and not _ONLY_CYRILLIC.search(token)


def fold_token(token: str, script: str | None = None) -> str:
    """One casefolded token in one script; same length.

    A mixed token goes to its majority's script. Letters and digits together that could be either
    («В12») become Latin. A token that could be either as a whole goes to `script` if one is given.
    """
    has_latin, has_cyrillic = bool(_LATIN_LETTER.search(token)), bool(_CYRILLIC_LETTER.search(token))
    if has_cyrillic and _DIGIT.search(token) and _is_ambiguous(token):
        return token.translate(_LATIN_TABLE)
    if has_latin and has_cyrillic:
        token = _mixed(token)
        if _ONLY_LATIN.search(token) or _ONLY_CYRILLIC.search(token):
            return token
    if script and (has_latin or has_cyrillic) and _is_ambiguous(token):
        return token.translate(_LATIN_TABLE if script == "latin" else _CYRILLIC_TABLE)
    return token


def fold_tokens(text: str, *, singles: bool) -> str:
    """Folds the look-alikes of casefolded text; the length stays the same.

    With `singles` a one-letter token becomes Latin («витамин С» and "витамин C" meet), whatever stands
    around it. Without, a token that could be either takes the script of its line, if that has only one.
    """
    if singles:
        return _TOKEN.sub(lambda m: fold_token(m[0], "latin" if len(m[0]) == 1 else None), text)
    if not _CYRILLIC_LETTER.search(text):
        return _zeros(text)
    return _zeros("".join(_fold_line(line) for line in text.splitlines(keepends=True)))


def _fold_line(line: str) -> str:
    latin, cyrillic = bool(_ONLY_LATIN.search(line)), bool(_ONLY_CYRILLIC.search(line))
    script = None if latin == cyrillic else ("latin" if latin else "cyrillic")
    if not _LATIN_LETTER.search(line) and not _DIGIT.search(line):
        return line
    return _TOKEN.sub(lambda m: fold_token(m[0], script), line)


def _zeros(text: str) -> str:
    """The letter O for the digit zero inside a number: "5OO"."""
    return _ZEROS.sub(lambda m: m[0].translate({0x6F: "0", 0x43E: "0"}), text)
