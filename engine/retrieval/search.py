"""The medical search: vocabulary, then both arms while the slower encoders still encode, then pure ranking."""

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from engine.models.base import Embedder, Reranker
from engine.retrieval.calibrated import trained_for
from engine.retrieval.follow_up import Completion, complete, looked_at
from engine.retrieval.names import possible_names
from engine.retrieval.query import Query, build_query, has_topic
from engine.retrieval.rank import RankedDocument, ScoredChunk, rank_documents, rank_trained, score_chunks
from engine.retrieval.relevance import calibration
from engine.retrieval.rerank import THRESHOLD as RERANKED_THRESHOLD
from engine.retrieval.rerank import rerank
from engine.retrieval.trained import TrainedModel, trained_model
from engine.retrieval.vocabulary import known_lookups, stranger_lookups, strangers
from engine.settings import Fusion
from engine.storage.search_store import Candidate, score
from engine.storage.search_store import find as find_candidates
from engine.storage.sessions import Database
from engine.storage.vocabulary_store import look_up, look_up_names
from engine.text.lexemes import content_words
from engine.wire import Turn

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Found:
    """Ranked documents before the gate, and every scored chunk behind them."""

    documents: tuple[RankedDocument, ...]
    chunks: tuple[ScoredChunk, ...]
    rescored: dict[str, int] = field(default_factory=dict)
    """What the reranker did, where there is one."""

    def summary(self, top: int = 8) -> dict[str, Any]:
        """Arms, ranks and scores of the best documents: ids and numbers for the trace."""
        return {
            "candidates": len(self.chunks),
            **self.rescored,
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


@dataclass(frozen=True)
class Gathered:
    """A question's vectors, one a space, and what was found by them."""

    vectors: dict[str, list[float]]
    candidates: list[Candidate]


@dataclass(frozen=True)
class SearchOptions:
    """How candidates are found, ordered and gated; see the settings of the same names."""

    pool: int = 130
    fusion: Fusion = "trained"
    languages: Literal["all", "other"] = "all"
    threshold: float | None = None
    rerank_top: int = 12


class CorpusSearch:
    """Search in the curated corpus."""

    def __init__(
        self,
        database: Database,
        embedders: Sequence[Embedder],
        options: SearchOptions = SearchOptions(),
        reranker: Reranker | None = None,
    ) -> None:
        self.database = database
        self._embedders = tuple(embedders)
        self.spaces = tuple(embedder.space for embedder in embedders)
        self._calibration = calibration(self.spaces)
        self._model = _fitting(self._embedders) if options.fusion == "trained" else None
        self._options = options
        self._reranker = reranker
        self.threshold = self._threshold()

    @property
    def scorer(self) -> str:
        """What makes the score that is gated."""
        if self._reranker is not None:
            return self._reranker.model
        return f"{'trained' if self._model else 'similarity'} over {' and '.join(self.spaces)}"

    async def warm_up(self) -> None:
        """Load the reranker, where there is one. Raises ModelError."""
        if self._reranker is not None:
            await asyncio.to_thread(self._reranker.warm_up)

    async def query(self, text: str) -> Query:
        """Read a question's words by the corpus' vocabulary.

        Raises:
            ValueError: there is nothing to look for.
            StorageError: the database refused or could not be reached.
        """
        words = content_words(text)
        known = await asyncio.to_thread(known_lookups, words)
        async with self.database.transaction() as connection:
            vocabulary = await look_up(connection, known)
            # Other writings are many, and stemming them is slow: only for the few words that need them.
            if unknown := strangers(words, vocabulary):
                others = await asyncio.to_thread(stranger_lookups, unknown)
                vocabulary = vocabulary.joined(await look_up(connection, *others))
            query = await asyncio.to_thread(build_query, text, vocabulary)
            spans = possible_names(query.words)
            return query.naming(spans, await look_up_names(connection, spans))

    async def complete(self, question: str, history: Sequence[Turn]) -> Completion:
        """A follow-up completed by the last turns; see `engine.retrieval.follow_up`. Raises StorageError."""
        if not history:
            return complete(question, history)
        said = [text for text in (question, *looked_at(history)) if has_topic(text)]
        queries = await asyncio.gather(*(self.query(text) for text in said))
        return complete(question, history, frozenset().union(*(query.naming_words for query in queries)))

    async def gather(self, query: Query) -> Gathered:
        """What the first encoder and the words find, with all scores, unordered.

        The other encoders are slower: they encode while the database looks, and score what it found (decision 13).

        Raises:
            StorageError: the database refused or could not be reached.
            ModelError: an encoder failed.
        """
        leading, *others = self._embedders
        # The slow ones go first: once in their own code they need no interpreter, which the quick one would keep busy.
        vectors, (vector, candidates) = await asyncio.gather(
            asyncio.gather(*(_encode(embedder, query.text) for embedder in others)), self._find(leading, query)
        )
        known = {leading.space: vector}
        if not others:
            return Gathered(known, candidates)
        async with self.database.transaction() as connection:
            for embedder, of_space in zip(others, vectors, strict=True):
                known[embedder.space] = of_space
                candidates = await score(connection, "global", embedder.space, of_space, candidates)
        return Gathered(known, candidates)

    async def _find(self, embedder: Embedder, query: Query) -> tuple[list[float], list[Candidate]]:
        vector = await _encode(embedder, query.text)
        async with self.database.transaction() as connection:
            return vector, await find_candidates(
                connection, "global", embedder.space, vector, query.terms, self._options.pool
            )

    async def find(self, query: Query, lang: str) -> Found:
        """Documents for a question, best first, ungated. Raises StorageError, ModelError."""
        gathered = await self.gather(query)
        candidates = gathered.candidates
        if self._options.languages == "other":
            candidates = [candidate for candidate in candidates if candidate.lang != lang]
        chunks = score_chunks(candidates, self.spaces, self._calibration, self._options.fusion)
        if self._model is None:
            documents = rank_documents(chunks, lang)
        else:
            documents = rank_trained(chunks, lang, self._model, gathered.vectors, query.named)
        if self._reranker is None:
            return Found(tuple(documents), tuple(chunks))
        found = await asyncio.to_thread(rerank, query.text, documents, self._reranker, self._options.rerank_top)
        return Found(found.documents, tuple(chunks), found.summary())

    def _threshold(self) -> float:
        if self._options.threshold is not None:
            return self._options.threshold
        if self._reranker is not None:
            return RERANKED_THRESHOLD
        return self._model.coefficients.threshold if self._model else self._calibration.threshold


async def _encode(embedder: Embedder, text: str) -> list[float]:
    vectors = await asyncio.to_thread(embedder.queries, [text])
    vector: list[float] = vectors[0].tolist()
    return vector


def _fitting(embedders: Sequence[Embedder]) -> TrainedModel | None:
    """What was learnt for these encoders; nothing where it was learnt for other versions of them."""
    model = trained_model(tuple(embedder.space for embedder in embedders))
    if model is not None and not trained_for(embedders, "trained"):
        log.warning("The trained order and gate are for other versions of the encoders: similarity is used.")
        return None
    return model
