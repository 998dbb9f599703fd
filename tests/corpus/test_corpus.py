"""The written corpus: its format (K1, K2), its wording, and the agreement of its two languages."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from engine.knowledge.chunking import CHUNK_SIZE, chunk_sections
from engine.knowledge.corpus import DEFAULT_CORPUS, SECTIONS, CorpusDocument, load_corpus, load_document
from engine.text.sentences import split_sentences

FEWEST_DOCUMENTS = 34
BODY_LENGTH = range(1500, 3001)
PARAGRAPH_LIMIT = 480
SOURCE_RUN = 8
"""Words in a row that may not stand in a source."""
HABIT_RUN = 6
"""Words in a row that may not stand in more than `HABIT_DOCUMENTS` documents."""
HABIT_DOCUMENTS = 5

PATHS = sorted(DEFAULT_CORPUS.glob("*/*.md"))
each_document = pytest.mark.parametrize("path", PATHS, ids=[f"{path.parent.name}/{path.stem}" for path in PATHS])

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_READER = {
    "en": re.compile(r"\b(?:you|your|yours|yourself)\b", re.IGNORECASE),
    "ru": re.compile(r"\b(?:вы|вас|вам|вами|ваш(?:а|е|и|его|ему|ей|им|их|у)?)\b", re.IGNORECASE),
}
_ASSERTION = re.compile(
    r"\byou (?:have|suffer|are (?:ill|sick))\b|\bthis means (?:that )?(?:you|diabetes|cancer)\b"
    r"|\bу вас\b|\bвы больны\b|\bэто (?:значит|означает), что (?:у вас|вы)\b",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"[\[\]|`<>]|\*\*|__|https?://|^\s*(?:[-*+•]|\d+[.)])\s|^#{3,}", re.MULTILINE)


@cache
def document_at(path: Path) -> CorpusDocument:
    return load_document(path)


def paragraphs(document: CorpusDocument) -> list[str]:
    return [paragraph for section in document.sections for paragraph in section.paragraphs]


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def runs(text: str, length: int) -> Iterator[str]:
    """All runs of `length` words, in lower case and without punctuation."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    for index in range(len(words) - length + 1):
        yield " ".join(words[index : index + length])


# Format (K1)


def test_the_corpus_is_large_enough_and_every_topic_stands_once_in_both_languages() -> None:
    documents = load_corpus(DEFAULT_CORPUS)
    assert len(documents) >= FEWEST_DOCUMENTS
    names = [document.name for document in documents]
    assert len(set(names)) == len(names)
    topics = {lang: sorted(document.topic for document in documents if document.lang == lang) for lang in SECTIONS}
    assert topics["ru"] == topics["en"]
    assert all(len(set(listed)) == len(listed) for listed in topics.values())


def test_titles_are_unique_within_a_language() -> None:
    titles = [(document.lang, document.title.casefold()) for document in load_corpus(DEFAULT_CORPUS)]
    assert len(set(titles)) == len(titles)


@each_document
def test_a_document_has_the_five_sections_and_each_says_something(path: Path) -> None:
    document = document_at(path)
    assert tuple(section.heading for section in document.sections) == SECTIONS[document.lang]
    assert all(section.paragraphs for section in document.sections)


@each_document
def test_no_source_is_named_twice(path: Path) -> None:
    document = document_at(path)
    assert len(set(document.source)) == len(document.source)


@each_document
def test_body_and_paragraphs_keep_their_length(path: Path) -> None:
    document = document_at(path)
    assert len(document.body) in BODY_LENGTH
    long = {paragraph[:60]: len(paragraph) for paragraph in paragraphs(document) if len(paragraph) >= PARAGRAPH_LIMIT}
    assert not long


@each_document
def test_the_body_is_plain_paragraphs(path: Path) -> None:
    assert not _MARKUP.findall(document_at(path).body)


# Chunks (K2, K3)


@each_document
def test_no_chunk_cuts_a_sentence_or_a_paragraph(path: Path) -> None:
    document = document_at(path)
    chunks = chunk_sections(list(document.sections))
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    assert all(len(chunk.content) <= CHUNK_SIZE for chunk in chunks)
    for section in document.sections:
        contents = [chunk.content for chunk in chunks if chunk.section == section.heading]
        whole = {sentence for paragraph in section.paragraphs for sentence in sentences(paragraph)}
        pieces = {sentence for content in contents for sentence in sentences(content)}
        assert pieces == whole
        cut = [paragraph for paragraph in section.paragraphs if not any(paragraph in content for content in contents)]
        assert not cut


@each_document
def test_every_sentence_has_an_end(path: Path) -> None:
    unfinished = [
        paragraph[-60:] for paragraph in paragraphs(document_at(path)) if not paragraph.endswith((".", "!", "?", "…"))
    ]
    assert not unfinished


# Wording


@each_document
def test_nothing_is_said_about_the_reader(path: Path) -> None:
    document = document_at(path)
    assert not _ASSERTION.findall(document.body)
    assert not _READER[document.lang].findall(document.body)


@each_document
def test_numbers_and_quotes_are_written_as_the_language_writes_them(path: Path) -> None:
    document = document_at(path)
    if document.lang == "ru":
        assert not re.findall(r"\d\.\d", document.body)
        assert '"' not in document.body
    else:
        assert not re.findall(r"\d,\d{1,2}(?![\d-])", document.body)
        assert "«" not in document.body


@pytest.mark.parametrize("lang", list(SECTIONS))
def test_no_run_of_words_becomes_a_habit(lang: str) -> None:
    where: dict[str, set[str]] = defaultdict(set)
    for document in load_corpus(DEFAULT_CORPUS):
        if document.lang == lang:
            for paragraph in paragraphs(document):
                for run in runs(paragraph, HABIT_RUN):
                    where[run].add(document.topic)
    assert not {run: sorted(topics) for run, topics in where.items() if len(topics) > HABIT_DOCUMENTS}


def sources_directory() -> Path:
    named = os.environ.get("ANAMNESIS_SOURCES")
    return Path(named) if named else DEFAULT_CORPUS.parents[1] / "shared" / "sources"


def source_texts(files: Iterable[Path]) -> Iterator[str]:
    for file in files:
        with file.open(encoding="utf-8") as lines:
            for line in lines:
                record = json.loads(line)
                yield record.get("summary") or ""
                yield from (section["text"] for section in record.get("sections") or [])


def test_no_run_of_words_is_copied_from_a_source() -> None:
    directory = sources_directory()
    files = sorted(directory.glob("*.jsonl")) if directory.is_dir() else []
    if not files:
        pytest.skip(f"the source texts are not here: set ANAMNESIS_SOURCES to their directory (tried {directory})")
    ours: dict[str, set[str]] = defaultdict(set)
    for document in load_corpus(DEFAULT_CORPUS):
        for paragraph in paragraphs(document):
            for run in runs(paragraph, SOURCE_RUN):
                ours[run].add(document.name)
    copied = {run for text in source_texts(files) for run in runs(text, SOURCE_RUN) if run in ours}
    assert not {run: sorted(ours[run]) for run in copied}


# Twins


def numbers(document: CorpusDocument) -> set[str]:
    """The numbers of a text with a decimal point, without those that are part of a name (B12, 25-OH, HbA1c)."""
    text = document.body
    ordinal, comma, point = (
        (r"-(?:го|й|я|е|м|х|му|ми|ю)\b", r"(?<=\d),(?=\d)", ".")
        if document.lang == "ru"
        else (r"(?:st|nd|rd|th)\b", r"(?<=\d),(?=\d{3}(?!\d))", "")
    )
    text = re.sub(rf"(?<=\d){ordinal}", "", text)
    text = re.sub(r"\d[\d.,]*-(?=[^\W\d_])", " ", text)
    text = re.sub(r"(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d))", "", text)
    text = re.sub(comma, point, text)
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![^\W_])", text))


TOPICS = sorted({path.stem for path in PATHS})


@pytest.mark.parametrize("topic", TOPICS)
def test_twins_carry_the_same_numbers_and_sources(topic: str) -> None:
    ru, en = (document_at(DEFAULT_CORPUS / lang / f"{topic}.md") for lang in ("ru", "en"))
    only_ru, only_en = sorted(numbers(ru) - numbers(en)), sorted(numbers(en) - numbers(ru))
    assert (only_ru, only_en) == ([], []), f"only in ru: {only_ru}; only in en: {only_en}"
    assert ru.source == en.source
    assert (ru.version, ru.reviewed) == (en.version, en.reviewed)
