"""Searches go on while models are changed: none fails, none comes back empty, none mixes two models."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.knowledge.corpus import load_corpus
from engine.knowledge.reembedding import reembed
from engine.knowledge.seeding import seed
from engine.storage.corpus_store import read_state
from engine.storage.embedded import ConnectionUrls
from engine.storage.search_store import search
from engine.storage.sessions import Database
from engine.text.lexemes import Term
from tests.knowledge.support import CountingEmbedder, write, write_corpus
from tests.storage.scratch import scratch_database

CHUNKS = 20
TERMS = [Term("iron", "=iron", 0)]


@pytest.fixture
def place(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    with scratch_database(urls, "reembed_searches") as other:
        yield other


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


class Slow(CountingEmbedder):
    """Takes its time, as an encoder does, so that many searches fall into a change."""

    def passages(self, texts):  # type: ignore[no-untyped-def]
        time.sleep(0.05)
        return super().passages(texts)


class Searcher(threading.Thread):
    """Searches until it is stopped, each time with the model that is in force."""

    def __init__(self, url: str, models: dict[str, CountingEmbedder]) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.error: BaseException | None = None
        self.slowest = 0.0
        self._url, self._models = url, models
        self._stop_asked = threading.Event()

    def run(self) -> None:
        try:
            asyncio.run(self._search())
        except BaseException as error:
            self.error = error

    async def _search(self) -> None:
        database = Database(self._url, pool_size=1)
        try:
            while not self._stop_asked.is_set():
                began = time.monotonic()
                await self._once(database)
                self.slowest = max(self.slowest, time.monotonic() - began)
        finally:
            await database.close()

    async def _once(self, database: Database) -> None:
        async with database.transaction() as connection:
            # No switch can come between the look at the models and the search with them.
            await connection.exec_driver_sql("LOCK TABLE knowledge.chunk IN ACCESS SHARE MODE")
            state = await connection.run_sync(read_state)
            assert state is not None
            vectors = {space: self._models[model].queries(["iron"])[0] for space, model in state.models.items()}
            rows = await search(connection, "global", vectors, TERMS, 50)
        assert len(rows) == CHUNKS
        assert all(None not in row.cosine + row.sentence_cosine for row in rows)
        self.found["+".join(sorted(state.models.values()))] += 1

    def stop(self) -> None:
        self._stop_asked.set()
        self.join(60)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error


@contextmanager
def searching(url: str, *embedders: CountingEmbedder) -> Iterator[list[Searcher]]:
    """Three at once."""
    threads = [Searcher(url, {embedder.model: embedder for embedder in embedders}) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield threads
        time.sleep(0.3)
    finally:
        for thread in threads:
            thread.stop()


def test_searches_go_on_while_one_model_takes_the_place_of_another(place: ConnectionUrls, corpus: Path) -> None:
    first = CountingEmbedder()
    second = Slow("count/2", dimension=5)
    third = Slow("other/1", "other6", 6)
    fourth = Slow("count/4", dimension=7)
    seed(place.admin, load_corpus(corpus), [first])
    with searching(place.engine, first, second, third, fourth) as threads:
        for embedders in ([second], [third], [third, fourth], [first]):
            reembed(place.admin, lambda: load_corpus(corpus), embedders)
    for thread in threads:
        assert {"count/1", "count/2", "other/1", "count/4+other/1"} <= set(thread.found)
        # A search waits for the switch alone, and for no encoder: four documents of 0.1 s each lie before it.
        assert thread.slowest < 10


def test_searches_go_on_while_a_model_embeds_its_own_space_anew(place: ConnectionUrls, corpus: Path) -> None:
    """The engine's own way: no lock, no look at the models."""
    embedder = Slow()
    seed(place.admin, load_corpus(corpus), [embedder])
    faults: list[BaseException] = []
    counts: list[int] = []
    done = threading.Event()

    async def search_on() -> None:
        database = Database(place.engine, pool_size=1)
        while not done.is_set():
            async with database.transaction() as connection:
                rows = await search(connection, "global", {"count4": embedder.queries(["iron"])[0]}, TERMS, 50)
            assert all(None not in row.cosine + row.sentence_cosine for row in rows)
            counts.append(len(rows))
        await database.close()

    def run() -> None:
        try:
            asyncio.run(search_on())
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    write(corpus, "iron", "en", "Another text about iron.")
    reembed(place.admin, lambda: load_corpus(corpus), [embedder])
    done.set()
    thread.join(60)
    assert faults == []
    assert len(counts) > 5
    assert set(counts) == {CHUNKS}
