"""Seeding writes what has changed, and only that."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import sqlalchemy as sa

from engine.knowledge.corpus import CorpusError, load_corpus
from engine.knowledge.seeding import SeedReport, SpaceMismatchError, corpus_hash, seed
from engine.models.base import Vectors
from engine.storage.corpus_store import CorpusState, read_state
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.migrate import owner_connection
from engine.storage.sessions import Database
from tests.storage.personal import add_documents
from tests.storage.scratch import scratch_database

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
        return np.eye(self.dimension, dtype=np.float32)[[len(text) % 4 for text in texts]]

    queries = passages


@pytest.fixture
def database(urls: ConnectionUrls) -> Iterator[str]:
    """The administrator's connection to a database of its own."""
    with scratch_database(urls, "seeding") as other:
        yield other.admin


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


def test_another_version_of_a_model_is_refused_until_everything_is_embedded_anew(database: str, corpus: Path) -> None:
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    newer = CountingEmbedder()
    newer.model, newer.dimension = "count/2", 5
    with pytest.raises(SpaceMismatchError, match=r"count4 \(count/1\).*count4 \(count/2\).*reembed.*former version"):
        seed(database, load_corpus(corpus), [newer])
    assert newer.texts == []
    assert seed(database, load_corpus(corpus), [newer], reembed=True).changed == 4
    assert seed(database, load_corpus(corpus), [newer]).unchanged == 4
    assert stored(database) == dict.fromkeys(["iron.en", "iron.ru", "zinc.en", "zinc.ru"], 5)
    with owner_connection(database) as connection:
        dimensions = connection.execute(
            sa.text("SELECT vector_dims(embedding) FROM knowledge.embedding_count4 UNION "
                    "SELECT vector_dims(embedding) FROM knowledge.sentence_count4")
        ).scalars()  # fmt: skip
        assert list(dimensions) == [5]


def test_a_fault_while_a_space_is_replaced_leaves_the_former_model(database: str, corpus: Path) -> None:
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    newer = CountingEmbedder()
    newer.model, newer.dimension = "count/2", 3  # the vectors it makes have another length
    newer.passages = lambda texts: np.eye(4, dtype=np.float32)[[0] * len(texts)]  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        seed(database, load_corpus(corpus), [newer], reembed=True)
    assert seed(database, load_corpus(corpus), [CountingEmbedder()]).unchanged == 4
    assert stored(database) == dict.fromkeys(["iron.en", "iron.ru", "zinc.en", "zinc.ru"], 5)


def test_a_space_of_the_same_model_keeps_what_others_stored_there(database: str, corpus: Path) -> None:
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    user = uuid4()
    with owner_connection(database) as connection:
        add_documents(connection, user, documents=1, chunks=2, space="count4", dimension=4, model="count/1")
    seed(database, load_corpus(corpus), [CountingEmbedder()], reembed=True)
    with owner_connection(database) as connection:
        kept = connection.execute(
            sa.text("SELECT count(*) FROM knowledge.embedding_count4 WHERE user_id = :user"), {"user": user}
        ).scalar_one()
    assert kept == 2


async def test_the_engine_reads_the_state_with_the_model_of_each_space(urls: ConnectionUrls, corpus: Path) -> None:
    other = CountingEmbedder()
    other.space, other.model = "other4", "other/7"
    documents = load_corpus(corpus)
    with scratch_database(urls, "seeding_state") as place:
        database = Database(place.engine)
        async with database.transaction() as connection:
            assert await connection.run_sync(read_state) is None
        seed(place.admin, documents, [CountingEmbedder(), other])
        async with database.transaction() as connection:
            state = await connection.run_sync(read_state)
        await database.close()
    models = {"count4": "count/1", "other4": "other/7"}
    assert state == CorpusState(corpus_hash(documents), 4, 20, ["count4", "other4"], models)


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
