"""Cut a document into chunks that never cut a sentence, nor a paragraph that fits."""

import re
from dataclasses import dataclass

from engine.text.sentences import split_sentences

CHUNK_SIZE = 500
"""Target size of a chunk in characters (K3)."""
OVERLAP = 80
"""Characters of the previous chunk that are repeated, snapped to sentence borders (K3)."""

_BLANK_LINE = re.compile(r"\n\s*\n")


@dataclass(frozen=True)
class Section:
    """A heading and its paragraphs."""

    heading: str
    paragraphs: tuple[str, ...]


@dataclass(frozen=True)
class Chunk:
    """A piece of one section, whole sentences only."""

    ordinal: int
    section: str
    content: str


def chunk_sections(sections: list[Section], size: int = CHUNK_SIZE, overlap: int = OVERLAP) -> list[Chunk]:
    """Chunks of a document in reading order; a chunk never spans two sections."""
    chunks: list[Chunk] = []
    for section in sections:
        for content in _pack(_units(section.paragraphs, size), size, overlap):
            chunks.append(Chunk(len(chunks), section.heading, content))
    return chunks


def chunk_text(text: str, size: int = CHUNK_SIZE, overlap: int = OVERLAP) -> list[Chunk]:
    """Chunks of a text without headings."""
    paragraphs = tuple(part.strip() for part in _BLANK_LINE.split(text) if part.strip())
    return chunk_sections([Section("", paragraphs)], size, overlap)


@dataclass(frozen=True)
class _Unit:
    """What is never cut: a paragraph that fits, or one sentence of a longer one."""

    text: str
    joiner: str
    """What stands between this unit and the one before it."""


def _units(paragraphs: tuple[str, ...], size: int) -> list[_Unit]:
    units: list[_Unit] = []
    for paragraph in paragraphs:
        if len(paragraph) <= size:
            units.append(_Unit(paragraph, "\n\n"))
            continue
        last = 0
        for start, end in split_sentences(paragraph):
            units.append(_Unit(paragraph[start:end], paragraph[last:start] if last else "\n\n"))
            last = end
    return units


def _pack(units: list[_Unit], size: int, overlap: int) -> list[str]:
    packed: list[str] = []
    current = ""
    for unit in units:
        if current and len(current) + len(unit.joiner) + len(unit.text) > size:
            packed.append(current)
            tail = _tail(current, overlap)
            fits = tail and len(tail) + len(unit.joiner) + len(unit.text) <= size
            current = tail + unit.joiner + unit.text if fits else unit.text
        else:
            current = current + unit.joiner + unit.text if current else unit.text
    if current:
        packed.append(current)
    return packed


def _tail(text: str, overlap: int) -> str:
    """The last whole sentences of a chunk, about `overlap` characters, never more than twice that."""
    start = len(text)
    for begin, _ in reversed(split_sentences(text)):
        if len(text) - begin > 2 * overlap:
            break
        start = begin
        if len(text) - begin >= overlap:
            break
    return text[start:].strip()
