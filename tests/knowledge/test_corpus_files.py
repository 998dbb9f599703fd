"""A corpus file that cannot be used is named, with what is wrong with it."""

import re
from pathlib import Path

import pytest

from engine.knowledge.corpus import MAX_BYTES, MAX_SENTENCE, CorpusError, load_corpus, load_document
from tests.knowledge.support import write_corpus


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("reviewed: 2026-01-01", "reviewed: 2026-13-45", "not valid YAML .month must be in"),
        ("reviewed: 2026-01-01", "reviewed: [", "not valid YAML .line"),
        ("version: 1", 'version: 1\naliases: ["", " "]', "aliases.0: it has neither letters nor digits"),
        ("version: 1", "version: 99999999999999", "version: Input should be less than or equal to"),
        ("version: 1", "version: true", "version: Input should be a valid integer"),
        ("title: iron title", 'title: "   "', "title: String should have at least 3 characters"),
        ("title: iron title", 'title: "🙂🙂🙂"', "title: it has neither letters nor digits"),
    ],
)
def test_front_matter_that_cannot_be_used(corpus: Path, old: str, new: str, fault: str) -> None:
    path = corpus / "en" / "iron.md"
    change(path, old, new)
    with pytest.raises(CorpusError, match=rf"^{re.escape(str(path))}: .*{fault}"):
        load_corpus(corpus)


@pytest.mark.parametrize("said", ["", "…  —", "🙂🙂"])
def test_a_section_without_words_is_named(corpus: Path, said: str) -> None:
    path = corpus / "en" / "iron.md"
    change(path, "## What it measures\n\nЖелезо. Iron.", f"## What it measures\n\n{said}")
    with pytest.raises(CorpusError, match=rf"{re.escape(str(path))}: section 'What it measures': it has no text"):
        load_document(path)


def test_a_sentence_that_no_encoder_reads_to_its_end_is_refused(corpus: Path) -> None:
    path = corpus / "en" / "iron.md"
    change(path, "## What it measures\n\nЖелезо. Iron.", f"## What it measures\n\n{'iron ' * MAX_SENTENCE}")
    with pytest.raises(CorpusError, match=r"iron\.md: section 'What it measures': a sentence has 9,999 characters"):
        load_document(path)


def test_a_file_that_is_too_large_is_refused(corpus: Path) -> None:
    path = corpus / "en" / "iron.md"
    path.write_text("Iron. " * MAX_BYTES, encoding="utf-8")
    with pytest.raises(CorpusError, match=r"iron\.md: a document has at most 100,000 bytes"):
        load_corpus(corpus)


def test_what_is_no_text_file_is_named(corpus: Path) -> None:
    path = corpus / "en" / "a.md"
    path.mkdir()
    with pytest.raises(CorpusError, match=r"a\.md: no file"):
        load_corpus(corpus)
    path.rmdir()
    path.symlink_to("nowhere")
    with pytest.raises(CorpusError, match=r"a\.md: no file"):
        load_corpus(corpus)
    path.unlink()
    path.write_bytes(b"\xff\xfe\x80\x00")
    with pytest.raises(CorpusError, match=r"a\.md: the text is not UTF-8"):
        load_corpus(corpus)


def test_line_ends_of_another_system_are_read(corpus: Path) -> None:
    path = corpus / "en" / "iron.md"
    before = load_document(path)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_document(path) == before
