"""Seeding writes what has changed, and only that."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from engine.knowledge.corpus import CorpusError, load_corpus
from engine.knowledge.seeding import SeedReport, SpaceMismatchError, seed
from engine.models.base import Vectors
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import bootstrap, migrate, owner_connection

BODY = {
    "en": ["What it is", "What it measures", "High or low level", "What influences it", "When to see a doctor"],
    "ru": ["Что это такое", "Что показывает", "Высокий и низкий уровень", "Что влияет", "Когда обратиться к врачу"],
}


class CountingEmbedder:
    """Counts what it is asked to embed; a fault can be set off."""

    space, model, dimension, sentence_vectors = "count4", "count/1", 4, True

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.fail = False

    def passages(self, texts: Sequence[str]) -> Vectors:
        if self.fail:
            raise RuntimeError("no model")
        self.texts += texts
        return np.eye(4, dtype=np.float32)[[len(text) % 4 for text in texts]]

    queries = passages


@pytest.fixture
def database(urls: ConnectionUrls) -> Iterator[str]:
    """A second database of the same server, migrated and empty."""
    admin = sa.create_engine(urls.admin, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    name = "seeding"
    other = [sa.engine.make_url(url).set(database=name).render_as_string(False) for url in vars(urls).values()]
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE IF EXISTS {name}")
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    bootstrap(*other)
    migrate(other[0])
    yield other[0]
    with admin.connect() as connection:
        connection.exec_driver_sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    for lang in BODY:
        (tmp_path / lang).mkdir()
        for topic in ("iron", "zinc"):
            write(tmp_path, topic, lang, "Железо. Iron.")
    return tmp_path


def write(root: Path, topic: str, lang: str, text: str) -> None:
    sections = "\n\n".join(f"## {heading}\n\n{text}" for heading in BODY[lang])
    meta = f"title: {topic} title\nlang: {lang}\ntopic: {topic}\nsource: [https://example.org/]"
    meta += "\nversion: 1\nreviewed: 2026-01-01"
    (root / lang / f"{topic}.md").write_text(f"---\n{meta}\n---\n{sections}\n", encoding="utf-8")


def stored(admin_url: str) -> dict[str, int]:
    with owner_connection(admin_url) as connection:
        rows = connection.execute(
            sa.text(
                "SELECT d.name, count(e.chunk_id) FROM knowledge.document d "
                "JOIN knowledge.chunk c ON c.document_id = d.id "
                "LEFT JOIN knowledge.embedding_count4 e ON e.chunk_id = c.id GROUP BY d.name"
            )
        )
        return dict(rows.all())


def test_a_second_seeding_embeds_nothing(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    assert seed(database, load_corpus(corpus), [embedder]) == SeedReport(4, 0, 0, 0, 20)
    embedder.texts.clear()
    assert seed(database, load_corpus(corpus), [embedder]) == SeedReport(0, 0, 0, 4, 20)
    assert embedder.texts == []
    assert stored(database) == dict.fromkeys(["iron.en", "iron.ru", "zinc.en", "zinc.ru"], 5)


def test_a_changed_document_is_replaced_and_a_removed_one_disappears(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    seed(database, load_corpus(corpus), [embedder])
    write(corpus, "iron", "en", "Another text about iron.")
    (corpus / "en" / "zinc.md").unlink()
    embedder.texts.clear()
    assert seed(database, load_corpus(corpus), [embedder]) == SeedReport(0, 1, 1, 2, 15)
    assert all("iron" in text for text in embedder.texts)
    with owner_connection(database) as connection:
        contents = connection.execute(
            sa.text("SELECT DISTINCT c.content FROM knowledge.chunk c "
                    "JOIN knowledge.document d ON d.id = c.document_id "
                    "WHERE d.name = 'iron.en'")
        ).scalars()  # fmt: skip
        assert list(contents) == ["Another text about iron."]
    assert set(stored(database)) == {"iron.en", "iron.ru", "zinc.ru"}


def test_a_fault_while_embedding_leaves_the_corpus_as_it_was(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    seed(database, load_corpus(corpus), [embedder])
    write(corpus, "iron", "en", "Another text.")
    embedder.fail = True
    with pytest.raises(RuntimeError, match="no model"):
        seed(database, load_corpus(corpus), [embedder])
    assert stored(database) == dict.fromkeys(["iron.en", "iron.ru", "zinc.en", "zinc.ru"], 5)


def test_other_models_are_refused_until_everything_is_embedded_anew(database: str, corpus: Path) -> None:
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    other = CountingEmbedder()
    other.space = "other4"
    with pytest.raises(SpaceMismatchError, match="reembed"):
        seed(database, load_corpus(corpus), [other])
    assert seed(database, load_corpus(corpus), [other], reembed=True).changed == 4
    assert seed(database, load_corpus(corpus), [other]).unchanged == 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("topic: iron", "topic: Iron!"), "topic"),
        (lambda text: text.replace("lang: en", "lang: de"), "lang"),
        (lambda text: text.replace("https://example.org/", "nowhere"), "source"),
        (lambda text: text.replace("## What it is", "## What"), "exactly these sections"),
        (lambda text: text.replace("---\n", "", 1), "front matter"),
        (lambda text: text.replace("title: ", "title: [", 1), "YAML"),
        (lambda text: text.replace("lang: en", "lang: ru"), "must stand at"),
    ],
)
def test_a_broken_document_is_named_with_its_fault(corpus: Path, change, message: str) -> None:  # type: ignore[no-untyped-def]
    path = corpus / "en" / "iron.md"
    path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(CorpusError, match=message) as caught:
        load_corpus(corpus)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_empty_directory_is_no_corpus(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="No corpus documents"):
        load_corpus(tmp_path)
