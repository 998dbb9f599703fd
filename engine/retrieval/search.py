"""The medical search: one round trip, then pure ranking."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.models.base import Embedder
from engine.retrieval.query import Query, build_query
from engine.retrieval.rank import Fusion, RankedDocument, ScoredChunk, rank_documents, score_chunks
from engine.retrieval.relevance import calibration
from engine.storage.search_store import search
from engine.storage.sessions import Database


@dataclass(frozen=True)
class Found:
    """Ranked documents before the gate, and every scored chunk behind them."""

    documents: tuple[RankedDocument, ...]
    chunks: tuple[ScoredChunk, ...]


class CorpusSearch:
    """Search in the curated corpus."""

    def __init__(
        self,
        database: Database,
        embedders: Sequence[Embedder],
        *,
        pool: int,
        fusion: Fusion,
        threshold: float | None,
    ) -> None:
        self._database = database
        self._embedders = tuple(embedders)
        self._spaces = tuple(embedder.space for embedder in embedders)
        self._calibration = calibration(self._spaces)
        self._pool = pool
        self._fusion = fusion
        self.threshold = self._calibration.threshold if threshold is None else threshold

    def query(self, text: str) -> Query:
        """Encode a question. Raises ValueError where there is nothing to look for."""
        return build_query(text, self._embedders)

    async def find(self, query: Query, lang: str) -> Found:
        """Documents for a question, best first, ungated. Raises StorageError."""
        async with self._database.transaction() as connection:
            candidates = await search(
                connection,
                "global",
                {space: query.vectors[space] for space in self._spaces},
                [term.stem for term in query.terms],
                [term.exact for term in query.terms],
                self._pool,
            )
        chunks = score_chunks(candidates, self._spaces, self._calibration, self._fusion)
        return Found(tuple(rank_documents(chunks, lang)), tuple(chunks))
