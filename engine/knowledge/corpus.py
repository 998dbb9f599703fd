"""The curated corpus on disk: one Markdown file a document, front matter and five sections."""

import datetime as dt
import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, HttpUrl, StringConstraints, ValidationError

from engine.knowledge.chunking import Section
from engine.text.normalise import clean
from engine.text.sentences import split_sentences

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

MAX_BYTES = 100_000
"""Of a file: sixteen times the longest real one. Encoding a book as one document would block whoever seeds."""
MAX_SENTENCE = 2_000
"""Characters of a sentence, which is never cut: six times the longest real one."""
MAX_VERSION = 1_000_000

_FRONT_MATTER = re.compile(r"\A---\n(.*?)\n---\n(.*)\Z", re.DOTALL)


class CorpusError(ValueError):
    """A corpus file that breaks the format; the text names the file and the fault."""


def says_something(text: str) -> bool:
    """Whether there is a letter or a digit: marks and emoji alone have no meaning to encode or to look for."""
    return any(character.isalnum() for character in text)


def _named(text: str) -> str:
    if not says_something(text):
        raise ValueError("it has neither letters nor digits")
    return text


Name = Annotated[str, StringConstraints(strip_whitespace=True, max_length=200), AfterValidator(_named)]
Title = Annotated[str, StringConstraints(strip_whitespace=True, min_length=3, max_length=200), AfterValidator(_named)]


class FrontMatter(BaseModel):
    """What stands above a document."""

    model_config = ConfigDict(extra="forbid")

    title: Title
    lang: Literal["ru", "en"]
    topic: str = Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")
    aliases: list[Name] = []
    source: list[HttpUrl] = Field(min_length=1)
    version: int = Field(ge=1, le=MAX_VERSION, strict=True)
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
        CorpusError: the file cannot be read, or front matter or sections break the format.
    """
    text = clean(_text(path))
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


def _text(path: Path) -> str:
    if not path.is_file():
        raise CorpusError(f"{path}: no file, but a folder or a link that leads nowhere.")
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise CorpusError(f"{path}: a document has at most {MAX_BYTES:,} bytes.")
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise CorpusError(f"{path}: cannot be read ({error.strerror or type(error).__name__}).") from None
    except UnicodeDecodeError:
        raise CorpusError(f"{path}: the text is not UTF-8.") from None


def _front_matter(path: Path, block: str) -> FrontMatter:
    try:
        raw: Any = yaml.safe_load(block)
        return FrontMatter.model_validate(raw)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(str(part) for part in fault["loc"]) or "front matter"
        raise CorpusError(f"{path}: {where}: {fault['msg'].removeprefix('Value error, ')}.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # a date such as 2026-13-45 is a ValueError
        raise CorpusError(f"{path}: the front matter is not valid YAML{_place(error)}.") from error


def _place(error: Exception) -> str:
    """What is wrong where, as far as it is known."""
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return f" (line {mark.line + 2})"  # counted from 0, and the line of --- stands above
    return f" ({error})" if type(error) is ValueError else ""


def _sections(path: Path, body: str, lang: str) -> tuple[Section, ...]:
    blocks = re.split(r"^## +(.+)$", body, flags=re.MULTILINE)
    headings = tuple(heading.strip() for heading in blocks[1::2])
    if blocks[0].strip() or headings != SECTIONS[lang]:
        raise CorpusError(f"{path}: the body has exactly these sections: {', '.join(SECTIONS[lang])}.")
    found = tuple(
        Section(heading, tuple(" ".join(part.split()) for part in text.split("\n\n") if part.strip()))
        for heading, text in zip(headings, blocks[2::2], strict=True)
    )
    for section in found:
        _check(path, section)
    return found


def _check(path: Path, section: Section) -> None:
    where = f"{path}: section {section.heading!r}"
    if not any(map(says_something, section.paragraphs)):
        raise CorpusError(f"{where}: it has no text.")
    lengths = (end - start for paragraph in section.paragraphs for start, end in split_sentences(paragraph))
    if (longest := max(lengths)) > MAX_SENTENCE:
        raise CorpusError(f"{where}: a sentence has {longest:,} characters; at most {MAX_SENTENCE:,} are taken.")
