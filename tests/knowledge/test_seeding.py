"""Seeding writes what has changed, and only that."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa

from engine.knowledge.corpus import CorpusError, load_corpus
from engine.knowledge.reembedding import reembed
from engine.knowledge.seeding import RemovalError, SeedReport, SpaceMismatchError, corpus_hash, seed
from engine.models.base import Vectors
from engine.storage.corpus_store import CorpusState, read_state
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.migrate import owner_connection
from engine.storage.sessions import Database
from tests.knowledge.support import NAMES, CountingEmbedder, empty, stored, write, write_corpus
from tests.storage.scratch import scratch_database


@pytest.fixture(scope="module")
def place(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    with scratch_database(urls, "seeding") as other:
        yield other


@pytest.fixture
def database(place: ConnectionUrls) -> str:
    """The administrator's connection to an empty database."""
    empty(place.admin)
    return place.admin


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


def test_a_second_seeding_embeds_nothing(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    assert seed(database, load_corpus(corpus), [embedder]) == SeedReport(4, 0, 0, 0, 20)
    embedder.texts.clear()
    assert seed(database, load_corpus(corpus), [embedder]) == SeedReport(0, 0, 0, 4, 20)
    assert embedder.texts == []
    assert stored(database) == dict.fromkeys(NAMES, 5)


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


def test_half_of_the_corpus_goes_only_when_it_is_allowed(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    seed(database, load_corpus(corpus), [embedder])
    for path in (corpus / "en").iterdir():
        path.unlink()
    with pytest.raises(RemovalError, match="2 of the 4 stored documents"):
        seed(database, load_corpus(corpus), [embedder])
    with pytest.raises(RemovalError, match=r"reembed --allow-removal"):
        reembed(database, lambda: load_corpus(corpus), [embedder])
    assert stored(database) == dict.fromkeys(NAMES, 5)
    assert seed(database, load_corpus(corpus), [embedder], allow_removal=True).removed == 2
    assert set(stored(database)) == {"iron.ru", "zinc.ru"}


def test_a_fault_while_embedding_leaves_the_corpus_as_it_was(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    seed(database, load_corpus(corpus), [embedder])
    write(corpus, "iron", "en", "Another text.")
    embedder.fail_after = 0
    with pytest.raises(RuntimeError, match="no model"):
        seed(database, load_corpus(corpus), [embedder])
    assert stored(database) == dict.fromkeys(NAMES, 5)


def test_other_models_are_refused_before_anything_is_embedded(database: str, corpus: Path) -> None:
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    other = CountingEmbedder(space="other4")
    with pytest.raises(SpaceMismatchError, match="reembed"):
        seed(database, load_corpus(corpus), [other])
    newer = CountingEmbedder("count/2", dimension=5)
    with pytest.raises(SpaceMismatchError, match=r"count4 \(count/1\).*count4 \(count/2\).*reembed.*former version"):
        seed(database, load_corpus(corpus), [newer])
    assert other.texts == newer.texts == []


def test_models_that_were_changed_while_a_seeding_embeds_are_not_changed_back(database: str, corpus: Path) -> None:
    """Two deployments on one database: the one that seeds with the former models comes too late."""
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    write(corpus, "iron", "en", "Another text.")
    slow, other = CountingEmbedder(), CountingEmbedder(space="other4")

    def change_models(done: int, total: int) -> None:
        reembed(database, lambda: load_corpus(corpus), [other])

    with pytest.raises(SpaceMismatchError, match="other4"):
        seed(database, load_corpus(corpus), [slow], progress=change_models)
    assert seed(database, load_corpus(corpus), [other]).unchanged == 4


def test_the_planner_knows_what_was_seeded(database: str, corpus: Path) -> None:
    seed(database, load_corpus(corpus), [CountingEmbedder()])
    with owner_connection(database) as connection:
        counted = connection.execute(
            sa.text(
                "SELECT sum(reltuples) FROM pg_class WHERE relnamespace = 'knowledge'::regnamespace AND relkind = 'r' "
                "AND (relname ~ '^chunk_p' OR relname ~ '^embedding_count4_p') AND reltuples > 0"
            )
        ).scalar_one()
    assert counted == 2 * 20


@pytest.mark.parametrize("vectors", [np.eye(3), np.zeros((4, 4)), np.full((4, 4), np.nan)])
def test_vectors_that_cannot_be_searched_are_refused(database: str, corpus: Path, vectors: Vectors) -> None:
    embedder = CountingEmbedder()
    embedder.passages = lambda texts: vectors.astype(np.float32)[[0] * len(texts)]  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        seed(database, load_corpus(corpus), [embedder])
    with owner_connection(database) as connection:
        assert read_state(connection) is None


async def test_the_engine_reads_the_state_with_the_model_of_each_space(place: ConnectionUrls, corpus: Path) -> None:
    empty(place.admin)
    other = CountingEmbedder("other/7", "other4")
    documents = load_corpus(corpus)
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
