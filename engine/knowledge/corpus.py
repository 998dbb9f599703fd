"""The curated corpus on disk: one Markdown file a document, front matter and five sections."""

import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError

from engine.knowledge.chunking import Section
from engine.text.normalise import clean

SECTIONS: dict[str, tuple[str, ...]] = {
    "en": (
        "What it is",
        "What it measures",
        "High or low level",
        "What influences it",
        "When to see a doctor",
    ),
    "ru": (
        "Что это такое",
        "Что показывает",
        "Высокий и низкий уровень",
        "Что влияет",
        "Когда обратиться к врачу",
    ),
}
"""The five sections of a document (K1), in order."""

DEFAULT_CORPUS = Path(__file__).resolve().parents[2] / "corpus"

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)


class CorpusError(ValueError):
    """A corpus file that breaks the format; the text names the file and the fault."""


class FrontMatter(BaseModel):
    """What stands above a document."""

    model_config = ConfigDict(extra="forbid")

    title: str = Field(min_length=3)
    lang: Literal["ru", "en"]
    topic: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    aliases: list[str] = []
    source: list[HttpUrl] = Field(min_length=1)
    version: int = Field(ge=1)
    reviewed: dt.date


@dataclass(frozen=True)
class CorpusDocument:
    """A document as written; `name` is the file's stem with its language, for example `hba1c.ru`."""

    name: str
    topic: str
    lang: Literal["ru", "en"]
    title: str
    aliases: tuple[str, ...]
    """Other names that people use; they are searched with the first chunk."""
    source: tuple[str, ...]
    version: int
    reviewed: dt.date
    sections: tuple[Section, ...]
    body: str
    content_hash: str


def load_corpus(root: Path) -> list[CorpusDocument]:
    """All documents of `root/ru` and `root/en` in the order of their names.

    Raises:
        CorpusError: a file breaks the format, two files have the same text, or the corpus is empty.
    """
    files = sorted(path for lang in SECTIONS for path in (root / lang).glob("*.md"))
    if not files:
        raise CorpusError(f"No corpus documents in {root}: expected {root}/ru/*.md and {root}/en/*.md.")
    documents = [load_document(path) for path in files]
    first: dict[str, str] = {}
    for document in documents:
        if document.body in first:
            raise CorpusError(f"{document.name} and {first[document.body]} have the same text. Keep one of them.")
        first[document.body] = document.name
    return documents


def load_document(path: Path) -> CorpusDocument:
    """Read and check one file.

    Raises:
        CorpusError: front matter or sections break the format.
    """
    text = clean(path.read_text(encoding="utf-8"))
    parts = _FRONT_MATTER.match(text)
    if not parts:
        raise CorpusError(f"{path}: a document starts with front matter between two lines of ---.")
    meta = _front_matter(path, parts.group(1))
    body = parts.group(2).strip()
    if (path.parent.name, path.stem) != (meta.lang, meta.topic):
        raise CorpusError(f"{path}: the file must stand at {meta.lang}/{meta.topic}.md.")
    return CorpusDocument(
        name=f"{meta.topic}.{meta.lang}",
        topic=meta.topic,
        lang=meta.lang,
        title=meta.title,
        aliases=tuple(meta.aliases),
        source=tuple(str(url) for url in meta.source),
        version=meta.version,
        reviewed=meta.reviewed,
        sections=_sections(path, body, meta.lang),
        body=body,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
    )


def _front_matter(path: Path, block: str) -> FrontMatter:
    try:
        raw: Any = yaml.safe_load(block)
        return FrontMatter.model_validate(raw)
    except yaml.YAMLError as error:
        raise CorpusError(f"{path}: the front matter is not valid YAML.") from error
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"]) or "front matter"
        raise CorpusError(f"{path}: {where}: {fault['msg']}.") from error


def _sections(path: Path, body: str, lang: str) -> tuple[Section, ...]:
    blocks = re.split(r"^## +(.+)$", body, flags=re.MULTILINE)
    headings = tuple(heading.strip() for heading in blocks[1::2])
    if blocks[0].strip() or headings != SECTIONS[lang]:
        raise CorpusError(f"{path}: the body has exactly these sections: {', '.join(SECTIONS[lang])}.")
    return tuple(
        Section(heading, tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip()))
        for heading, text in zip(headings, blocks[2::2], strict=True)
    )
