"""Searches go on while models are changed: none fails, none comes back empty, none mixes two models."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.knowledge.corpus import load_corpus
from engine.knowledge.reembedding import reembed
from engine.knowledge.seeding import seed
from engine.models.base import Vectors
from engine.storage.corpus_store import read_state
from engine.storage.embedded import ConnectionUrls
from engine.storage.search_store import search
from engine.storage.sessions import Database
from engine.text.lexemes import Term
from tests.knowledge.support import CountingEmbedder, write, write_corpus
from tests.storage.scratch import scratch_database

CHUNKS = 20
SECONDS = 60
TERMS = [Term("iron", "=iron", 0)]


@pytest.fixture
def place(urls: ConnectionUrls) -> Iterator[ConnectionUrls]:
    with scratch_database(urls, "reembed_searches") as other:
        yield other


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_corpus(tmp_path)


class Searcher(threading.Thread):
    """Searches until it is stopped, each time with the model that is in force."""

    def __init__(self, url: str, models: dict[str, CountingEmbedder]) -> None:
        super().__init__()
        self.found: Counter[str] = Counter()
        self.error: BaseException | None = None
        self._url, self._models = url, models
        self._stop_asked = threading.Event()
        self._ended = threading.Condition()
        self._searches = 0

    def run(self) -> None:
        try:
            asyncio.run(self._search())
        except BaseException as error:
            with self._ended:
                self.error = error
                self._ended.notify_all()

    def searches_on(self) -> None:
        """Wait until a search has begun and ended; one that hangs or fails is a fault of whoever is waiting."""
        with self._ended:
            goal = self._searches + 2  # the first to end may have begun before
            assert self._ended.wait_for(lambda: self.error or self._searches >= goal, SECONDS), "no search ended"
        if self.error is not None:
            raise self.error

    def stop(self) -> None:
        self._stop_asked.set()
        self.join(SECONDS)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error

    async def _search(self) -> None:
        database = Database(self._url, pool_size=1)
        try:
            while not self._stop_asked.is_set():
                await self._once(database)
                with self._ended:
                    self._searches += 1
                    self._ended.notify_all()
        finally:
            await database.close()

    async def _once(self, database: Database) -> None:
        async with database.transaction() as connection:
            # No switch can come between the look at the models and the search with them.
            await connection.exec_driver_sql("LOCK TABLE knowledge.chunk IN ACCESS SHARE MODE")
            state = await connection.run_sync(read_state)
            assert state is not None
            await self._look(connection, state.models)

    async def _look(self, connection: AsyncConnection, models: Mapping[str, str]) -> None:
        vectors = {space: self._models[model].queries(["iron"])[0] for space, model in models.items()}
        rows = await search(connection, "global", vectors, TERMS, 50)
        assert len(rows) == CHUNKS
        assert all(None not in row.cosine + row.sentence_cosine for row in rows)
        self.found["+".join(sorted(models.values()))] += 1


class EnginesOwnSearcher(Searcher):
    """The engine's own way: no lock, no look at the models."""

    async def _once(self, database: Database) -> None:
        async with database.transaction() as connection:
            await self._look(connection, {embedder.space: model for model, embedder in self._models.items()})


class Watched(CountingEmbedder):
    """An encoder that goes on when searches went on meanwhile: so each of its calls falls among searches."""

    searchers: Sequence[Searcher] = ()

    def passages(self, texts: Sequence[str]) -> Vectors:
        for searcher in self.searchers:
            searcher.searches_on()
        return super().passages(texts)


@contextmanager
def searching(searchers: Sequence[Searcher], *watched: Watched) -> Iterator[None]:
    """All at once, before what happens within, all through it and after it."""
    for searcher in searchers:
        searcher.start()
    try:
        for searcher in searchers:
            searcher.searches_on()
        for embedder in watched:
            embedder.searchers = searchers
        yield
        for searcher in searchers:
            searcher.searches_on()
    finally:
        for searcher in searchers:
            searcher.stop()


def test_searches_go_on_while_one_model_takes_the_place_of_another(place: ConnectionUrls, corpus: Path) -> None:
    """That a search waits for no encoder is in the encoders: they wait for searches."""
    first = CountingEmbedder()
    others = Watched("count/2", dimension=5), Watched("other/1", "other6", 6), Watched("count/4", dimension=7)
    second, third, fourth = others
    seed(place.admin, load_corpus(corpus), [first])
    searchers = [Searcher(place.engine, {each.model: each for each in (first, *others)}) for _ in range(3)]
    with searching(searchers, *others):
        for embedders in ([second], [third], [third, fourth], [first]):
            reembed(place.admin, lambda: load_corpus(corpus), embedders)
            for searcher in searchers:
                searcher.searches_on()
    for searcher in searchers:
        assert set(searcher.found) == {"count/1", "count/2", "other/1", "count/4+other/1"}
        assert all(embedder.calls for embedder in others)


def test_searches_go_on_while_a_model_embeds_its_own_space_anew(place: ConnectionUrls, corpus: Path) -> None:
    embedder = Watched()
    seed(place.admin, load_corpus(corpus), [embedder])
    calls = embedder.calls
    searcher = EnginesOwnSearcher(place.engine, {embedder.model: embedder})
    with searching([searcher], embedder):
        write(corpus, "iron", "en", "Another text about iron.")
        reembed(place.admin, lambda: load_corpus(corpus), [embedder])
    assert searcher.found[embedder.model] > embedder.calls - calls > 0
