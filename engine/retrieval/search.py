"""The medical search: one round trip, then pure ranking."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from engine.models.base import Embedder
from engine.retrieval.query import Query, build_query
from engine.retrieval.rank import RankedDocument, ScoredChunk, rank_documents, score_chunks
from engine.retrieval.relevance import calibration
from engine.retrieval.vocabulary import lookups
from engine.settings import Fusion
from engine.storage.search_store import search
from engine.storage.sessions import Database
from engine.storage.vocabulary_store import look_up
from engine.text.lexemes import content_words


@dataclass(frozen=True)
class Found:
    """Ranked documents before the gate, and every scored chunk behind them."""

    documents: tuple[RankedDocument, ...]
    chunks: tuple[ScoredChunk, ...]

    def summary(self, top: int = 8) -> dict[str, Any]:
        """Arms, ranks and scores of the best documents: ids and numbers for the trace."""
        return {
            "candidates": len(self.chunks),
            "top": [
                {
                    "document": document.best.candidate.document,
                    "score": round(document.score, 4),
                    "rrf": round(document.best.rrf, 5),
                    "dense_rank": document.best.dense_rank,
                    "lexical_rank": document.best.lexical_rank,
                }
                for document in self.documents[:top]
            ],
        }


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
        self.database = database
        self._embedders = tuple(embedders)
        self._spaces = tuple(embedder.space for embedder in embedders)
        self._calibration = calibration(self._spaces)
        self._pool = pool
        self._fusion = fusion
        self.threshold = self._calibration.threshold if threshold is None else threshold

    async def query(self, text: str) -> Query:
        """Read and encode a question off the event loop.

        Raises:
            ValueError: there is nothing to look for.
            StorageError: the database refused or could not be reached.
        """
        async with self.database.transaction() as connection:
            vocabulary = await look_up(connection, *lookups(content_words(text)))
        return await asyncio.to_thread(build_query, text, vocabulary, self._embedders)

    async def find(self, query: Query, lang: str) -> Found:
        """Documents for a question, best first, ungated. Raises StorageError."""
        async with self.database.transaction() as connection:
            candidates = await search(
                connection,
                "global",
                {space: query.vectors[space] for space in self._spaces},
                query.terms,
                self._pool,
            )
        chunks = score_chunks(candidates, self._spaces, self._calibration, self._fusion)
        return Found(tuple(rank_documents(chunks, lang)), tuple(chunks))
