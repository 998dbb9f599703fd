"""Text hidden in another form: encodings that can be undone without a key, and invisible Unicode tags."""

import base64
import binascii
import codecs
import html
import re
from collections.abc import Callable, Iterator
from urllib.parse import unquote

Piece = tuple[tuple[int, int], str]

_LETTERS = re.compile(r"[^\W\d_]")


def _base64(piece: str) -> str:
    plain = "".join(piece.split()).rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode()


def _hex(piece: str) -> str:
    return bytes.fromhex(re.sub(r"[\s:]|0x|\\x", "", piece)).decode()


def _rot13(piece: str) -> str:
    return codecs.decode(piece, "rot13")


_FORMS: tuple[tuple[re.Pattern[str], Callable[[str], str]], ...] = (
    (re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}"), _base64),
    # the same, wrapped at a fixed width
    (re.compile(r"(?<![A-Za-z0-9+/_-])(?:[A-Za-z0-9+/_-]{40,}[ \t]*\r?\n[ \t>]*)+[A-Za-z0-9+/_-]+={0,2}"), _base64),
    (re.compile(r"(?<![0-9A-Za-z])(?:(?:0x|\\x)?[0-9a-fA-F]{2}[ :]?){12,}(?![0-9A-Za-z])"), _hex),
    (re.compile(r"%[0-9A-Fa-f]{2}(?:%[0-9A-Fa-f]{2}|[\w.+-]){12,}"), unquote),
    (re.compile(r"(?:&#?[0-9A-Za-z]{1,8};[ ]?){6,}"), html.unescape),
    (re.compile(r"(?:\\u[0-9a-fA-F]{4}[ ]?){6,}"), lambda piece: codecs.decode(piece, "unicode_escape")),
    (re.compile(r"\b(?:vtaber|qvfertneq|sbetrg|birgevqr|erirny)\b[^\n.]{0,300}", re.IGNORECASE), _rot13),
)
_BLANK = re.compile(r"\s")
_TAGS = re.compile("[\U000e0020-\U000e007f]{4,}")


def decoded_pieces(text: str) -> Iterator[Piece]:
    """Pieces that decode to readable text, with that text."""
    for pattern, decode in _FORMS:
        for match in pattern.finditer(text):
            try:
                plain = decode(match.group())
            except (ValueError, binascii.Error):
                continue
            if _is_readable(plain) and plain != match.group():
                yield match.span(), plain


def tag_runs(text: str) -> Iterator[Piece]:
    """Runs of invisible tag characters with the ASCII that they spell; the flags of regions are none."""
    for match in _TAGS.finditer(text):
        if text[match.start() - 1 : match.start()] != "\U0001f3f4":
            yield match.span(), "".join(chr(ord(char) - 0xE0000) for char in match.group() if char != "\U000e007f")


def _is_readable(plain: str) -> bool:
    letters, blanks = len(_LETTERS.findall(plain)), len(_BLANK.findall(plain))
    return letters >= 6 and _BLANK.sub("", plain).isprintable() and letters + blanks > len(plain) * 0.7
