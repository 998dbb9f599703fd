"""A change of models is prepared beside what serves, goes on where it was interrupted, and is made at once."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import numpy as np
import pytest
import sqlalchemy as sa

from engine.knowledge.corpus import CorpusDocument, load_corpus
from engine.knowledge.reembedding import reembed
from engine.knowledge.seeding import SeedReport, corpus_hash, seed
from engine.storage import waits
from engine.storage.corpus_store import CorpusState, read_state
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.migrate import owner_connection
from engine.storage.staging_store import only_one
from tests.knowledge.support import NAMES, CountingEmbedder, dimensions, empty, stored, tables, write, write_corpus
from tests.storage.personal import add_documents
from tests.storage.scratch import scratch_database

ROOT = Path(__file__).parents[2]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


@pytest.fixture(scope="module")
def place(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    with scratch_database(urls, "reembedding") as other:
        yield other


@pytest.fixture
def database(place: ConnectionUrls, corpus: Path) -> str:
    """The administrator's connection to a database that is seeded with the model count/1."""
    empty(place.admin)
    seed(place.admin, load_corpus(corpus), [CountingEmbedder()])
    return place.admin


def newer() -> CountingEmbedder:
    """The next version of the model, with longer vectors."""
    return CountingEmbedder("count/2", dimension=5)


def change(database: str, corpus: Path, *embedders: CountingEmbedder) -> SeedReport:
    return reembed(database, lambda: load_corpus(corpus), embedders)


def state(database: str) -> CorpusState:
    with owner_connection(database) as connection:
        found = read_state(connection)
    assert found is not None
    return found


def staged(database: str) -> int:
    """Documents whose vectors wait."""
    with owner_connection(database) as connection:
        count = connection.execute(sa.text("SELECT count(DISTINCT document) FROM knowledge.staged_vector"))
        return int(count.scalar_one())


def former_model_serves(database: str) -> None:
    assert state(database).models == {"count4": "count/1"}
    assert stored(database) == dict.fromkeys(NAMES, 5)
    assert dimensions(database) == {4}


def new_model_serves(database: str, corpus: Path) -> None:
    documents = load_corpus(corpus)
    assert state(database) == CorpusState(corpus_hash(documents), 4, 20, ["count4"], {"count4": "count/2"})
    assert stored(database) == dict.fromkeys(NAMES, 5)
    assert dimensions(database) == {5}
    assert tables(database) == {"embedding_count4", "sentence_count4"}
    assert staged(database) == 0
    assert seed(database, documents, [newer()]).unchanged == 4


def test_another_version_of_a_model_takes_the_place_of_the_former(database: str, corpus: Path) -> None:
    assert change(database, corpus, newer()) == SeedReport(0, 4, 0, 0, 20)
    new_model_serves(database, corpus)


def test_a_version_can_be_changed_again_and_again(database: str, corpus: Path) -> None:
    """Tables that were renamed leave names of indexes and constraints behind; they must be in nobody's way."""
    for version in (2, 3, 2):
        embedder = CountingEmbedder(f"count/{version}", dimension=3 + version)
        assert change(database, corpus, embedder).changed == 4
        assert dimensions(database) == {3 + version}
    new_model_serves(database, corpus)


def test_a_model_with_a_space_of_its_own_takes_the_place_of_the_former(database: str, corpus: Path) -> None:
    other = CountingEmbedder("other/1", "other6", 6)
    assert change(database, corpus, other).changed == 4
    assert state(database).models == {"other6": "other/1"}
    assert stored(database, "other6") == dict.fromkeys(NAMES, 5)
    assert tables(database) == {"embedding_other6", "sentence_other6"}
    assert seed(database, load_corpus(corpus), [other]).unchanged == 4


def test_a_model_that_joins_another_leaves_its_vectors_alone(database: str, corpus: Path) -> None:
    present, joining = CountingEmbedder(), CountingEmbedder("other/1", "other6", 6)
    change(database, corpus, present, joining)
    assert present.texts == []
    assert joining.calls == 2 * 4
    assert stored(database) == stored(database, "other6") == dict.fromkeys(NAMES, 5)
    assert state(database).spaces == ["count4", "other6"]
    change(database, corpus, CountingEmbedder())
    assert tables(database) == {"embedding_count4", "sentence_count4"}


def test_models_that_do_not_change_are_embedded_anew(database: str, corpus: Path) -> None:
    embedder = CountingEmbedder()
    assert change(database, corpus, embedder) == SeedReport(0, 4, 0, 0, 20)
    assert embedder.calls == 2 * 4
    former_model_serves(database)


def test_an_empty_database_is_seeded(place: ConnectionUrls, corpus: Path) -> None:
    empty(place.admin)
    assert change(place.admin, corpus, newer()) == SeedReport(4, 0, 0, 0, 20)
    new_model_serves(place.admin, corpus)


def test_a_fault_leaves_the_former_model_and_only_the_rest_is_embedded_then(database: str, corpus: Path) -> None:
    failing, embedder = newer(), newer()
    failing.fail_after = 2 * 2
    with pytest.raises(RuntimeError, match="no model"):
        change(database, corpus, failing)
    former_model_serves(database)
    assert staged(database) == 2
    seen: list[tuple[int, int]] = []
    report = reembed(database, lambda: load_corpus(corpus), [embedder], progress=lambda *said: seen.append(said))
    assert report == SeedReport(0, 4, 0, 0, 20, resumed=2)
    assert seen == [(2, 4), (3, 4), (4, 4)]
    assert embedder.calls == 2 * 2
    new_model_serves(database, corpus)


@pytest.mark.parametrize(("moment", "embedded"), [("0", 0), ("1", 1), ("3", 3), ("switch", 4)])
def test_a_killed_process_leaves_the_former_model_and_what_it_embedded(
    database: str, corpus: Path, moment: str, embedded: int
) -> None:
    killed = subprocess.run(
        [sys.executable, "-m", "tests.knowledge.dying", str(corpus), moment],
        input=database, text=True, cwd=ROOT, timeout=120, check=False,
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    former_model_serves(database)
    assert staged(database) == embedded
    assert seed(database, load_corpus(corpus), [CountingEmbedder()]).unchanged == 4
    embedder = newer()
    assert change(database, corpus, embedder).resumed == embedded
    assert embedder.calls == 2 * (4 - embedded)
    new_model_serves(database, corpus)


def test_a_lock_that_somebody_holds_for_long_costs_the_switch_and_no_vector(
    database: str, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "LOCK_SECONDS", 1)
    with owner_connection(database) as dump:
        dump.exec_driver_sql("LOCK TABLE knowledge.chunk IN ACCESS SHARE MODE")
        with pytest.raises(StorageError, match="holds a lock"):
            change(database, corpus, newer())
    former_model_serves(database)
    embedder = newer()
    assert change(database, corpus, embedder).resumed == 4
    assert embedder.calls == 0
    new_model_serves(database, corpus)


def test_only_one_process_prepares_a_change(database: str, corpus: Path) -> None:
    embedder = newer()
    with only_one(database), pytest.raises(StorageError, match="Another `anamnesis reembed`"):
        change(database, corpus, embedder)
    assert embedder.texts == []
    change(database, corpus, embedder)


def test_another_model_than_the_interrupted_one_takes_none_of_its_vectors(database: str, corpus: Path) -> None:
    failing, third = newer(), CountingEmbedder("count/3", dimension=5)
    failing.fail_after = 2 * 2
    with pytest.raises(RuntimeError, match="no model"):
        change(database, corpus, failing)
    assert change(database, corpus, third).resumed == 0
    assert third.calls == 2 * 4
    assert state(database).models == {"count4": "count/3"}
    assert staged(database) == 0


@pytest.mark.parametrize("vectors", [np.eye(4), np.zeros((5, 5)), np.full((5, 5), np.nan)])
def test_vectors_that_cannot_be_searched_are_not_kept_for_later(
    database: str, corpus: Path, vectors: np.ndarray
) -> None:
    broken = newer()
    broken.passages = lambda texts: vectors.astype(np.float32)[[0] * len(texts)]  # type: ignore[method-assign]
    with pytest.raises(StorageError):
        change(database, corpus, broken)
    former_model_serves(database)
    assert staged(database) == 0


def test_what_changed_on_disk_before_comes_with_the_change_and_is_resumed_too(database: str, corpus: Path) -> None:
    write(corpus, "iron", "en", "Another text about iron.")
    (corpus / "en" / "zinc.md").unlink()
    write(corpus, "copper", "en", "Copper.")
    failing, embedder = newer(), newer()
    failing.fail_after = 2 * 3
    with pytest.raises(RuntimeError, match="no model"):
        change(database, corpus, failing)
    former_model_serves(database)
    assert change(database, corpus, embedder) == SeedReport(1, 3, 1, 0, 20, resumed=3)
    assert embedder.calls == 2
    assert stored(database) == dict.fromkeys(["copper.en", "iron.en", "iron.ru", "zinc.ru"], 5)
    assert seed(database, load_corpus(corpus), [newer()]).unchanged == 4


def test_what_changes_on_disk_meanwhile_is_embedded_before_the_switch(database: str, corpus: Path) -> None:
    embedder = newer()

    def edit(done: int, total: int) -> None:
        if done == 3:
            write(corpus, "iron", "en", "Another text about iron.")

    reembed(database, lambda: load_corpus(corpus), [embedder], progress=edit)
    assert embedder.calls == 2 * (4 + 1)
    new_model_serves(database, corpus)
    assert contents(database, "iron.en") == {"Another text about iron."}


def test_what_is_seeded_with_the_former_model_meanwhile_is_not_lost(database: str, corpus: Path) -> None:
    """An older deployment starts while the change is prepared; its documents are those on disk by then."""
    former, embedder = CountingEmbedder(), newer()

    def seed_other(done: int, total: int) -> None:
        if done == 2:
            write(corpus, "iron", "en", "Another text about iron.")
            assert seed(database, load_corpus(corpus), [former]).changed == 1

    reembed(database, lambda: load_corpus(corpus), [embedder], progress=seed_other)
    new_model_serves(database, corpus)
    assert contents(database, "iron.en") == {"Another text about iron."}


def test_what_is_seeded_between_the_last_look_and_the_switch_is_not_lost(database: str, corpus: Path) -> None:
    embedder, loads = newer(), 0

    def load() -> list[CorpusDocument]:
        nonlocal loads
        documents, loads = load_corpus(corpus), loads + 1
        if loads == 2:  # all is embedded; the switch comes next
            write(corpus, "iron", "en", "Another text about iron.")
            seed(database, load_corpus(corpus), [CountingEmbedder()])
        return list(documents)

    reembed(database, load, [embedder])
    assert loads > 3
    new_model_serves(database, corpus)
    assert contents(database, "iron.en") == {"Another text about iron."}


def contents(database: str, name: str) -> set[str]:
    with owner_connection(database) as connection:
        found = connection.execute(
            sa.text(
                "SELECT c.content FROM knowledge.chunk c JOIN knowledge.document d ON d.id = c.document_id "
                "WHERE d.name = :name"
            ),
            {"name": name},
        )
        return set(found.scalars())


def own_chunks_and_vectors(database: str, user: object) -> tuple[int, int]:
    with owner_connection(database) as connection:
        counts = connection.execute(
            sa.text(
                "SELECT (SELECT count(*) FROM knowledge.chunk WHERE user_id = :user), "
                "       (SELECT count(*) FROM knowledge.embedding_count4 WHERE user_id = :user)"
            ),
            {"user": user},
        ).one()
    return counts[0], counts[1]


def test_users_own_vectors_stay_with_a_model_and_go_with_it_counted(database: str, corpus: Path) -> None:
    user = uuid4()
    with owner_connection(database) as connection:
        add_documents(connection, user, documents=2, chunks=3, space="count4", dimension=4, model="count/1")
    assert change(database, corpus, CountingEmbedder()).own_vectors == 0
    assert own_chunks_and_vectors(database, user) == (6, 6)
    assert change(database, corpus, newer()).own_vectors == 6
    assert own_chunks_and_vectors(database, user) == (6, 0)
