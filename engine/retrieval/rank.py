"""From candidates to ranked documents: pure, and the same for the same input whatever its order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.retrieval.evidence import gather
from engine.retrieval.fusion import LEXICAL_SHARE, VOTING_COVERAGE, ranks, reciprocal_rank_fusion
from engine.retrieval.relevance import Calibration, Relevance, relevance
from engine.retrieval.trained import TrainedModel, gate_rows
from engine.settings import Fusion
from engine.storage.search_store import Candidate


@dataclass(frozen=True)
class ScoredChunk:
    """A candidate with its scores and its rank in each arm."""

    candidate: Candidate
    relevance: Relevance
    rrf: float
    dense_rank: int | None
    lexical_rank: int | None


@dataclass(frozen=True)
class RankedDocument:
    """A document by its chunks, the best first; language twins of a topic stand here once."""

    chunks: tuple[ScoredChunk, ...]
    score: float
    """What the gate compares: the topic's best relevance in any language, or its probability by the trained gate."""

    @property
    def best(self) -> ScoredChunk:
        return self.chunks[0]


def score_chunks(
    candidates: Sequence[Candidate], spaces: Sequence[str], settings: Calibration, fusion: Fusion = "rescored"
) -> list[ScoredChunk]:
    """Chunks in their final order: fused, then rescored by relevance unless `fusion` says otherwise; ties by id.

    `trained` orders documents, not chunks (`rank_trained`): among a document's chunks it is `rescored`.
    """
    scores = {item.chunk: relevance(item, spaces, settings) for item in candidates}
    # An arm ranks by what it alone knows: the dense one by its cosines, the lexical one by its own score.
    embedded = [item for item in candidates if any(cosine is not None for cosine in item.cosine)]
    dense = ranks([c.chunk for c in sorted(embedded, key=lambda c: (-scores[c.chunk].similarity, c.chunk))])
    found = [item for item in candidates if item.lexical is not None]
    lexical = ranks([c.chunk for c in sorted(found, key=lambda c: (-(c.lexical or 0.0), c.chunk))])
    rrf = reciprocal_rank_fusion([dense, lexical])
    votes = max((item.coverage for item in candidates), default=0.0) >= VOTING_COVERAGE
    fused = (
        {
            "rrf": rrf,
            "weighted_rrf": reciprocal_rank_fusion([dense, lexical], [1.0, LEXICAL_SHARE]),
            "gated_rrf": reciprocal_rank_fusion(
                [dense, lexical] if votes else [dense], [1.0, LEXICAL_SHARE][: 1 + votes]
            ),
            "dense": reciprocal_rank_fusion([dense]),
            "lexical": reciprocal_rank_fusion([lexical]),
        }
        if fusion not in ("trained", "rescored")
        else {}
    )

    def order(chunk: str) -> float:
        return fused[fusion].get(chunk, 0.0) if fused else scores[chunk].order

    scored = [
        ScoredChunk(c, scores[c.chunk], rrf.get(c.chunk, 0.0), dense.get(c.chunk), lexical.get(c.chunk))
        for c in candidates
    ]
    return sorted(scored, key=lambda item: (-order(item.candidate.chunk), item.candidate.chunk))


def rank_documents(chunks: Sequence[ScoredChunk], lang: str) -> list[RankedDocument]:
    """Topics in the order of their best chunk, each shown by its twin in the reader's language where that was found."""
    by_topic: dict[str, list[ScoredChunk]] = {}
    for item in chunks:
        by_topic.setdefault(item.candidate.topic or item.candidate.document, []).append(item)
    return [
        RankedDocument(
            chunks=tuple(_twin(of_topic, lang)),
            score=max(item.relevance.score for item in of_topic),
        )
        for of_topic in by_topic.values()
    ]


def rank_trained(
    chunks: Sequence[ScoredChunk],
    lang: str,
    model: TrainedModel,
    vectors: Mapping[str, Sequence[float]],
    named: Mapping[str, frozenset[int]],
) -> list[RankedDocument]:
    """Topics in the order of the trained model, scored by its gate; chunks of a topic stay in their order."""
    if not chunks:
        return []
    candidates = [item.candidate for item in chunks]
    features = model.projection.features(vectors, model.coefficients.spaces)
    head = model.projection.log_probabilities(features)
    evidence = gather(candidates, model.coefficients.floors, head, named)
    order = model.order(evidence)
    off_corpus = model.projection.off_corpus.decision(features)
    scores = model.scores(gate_rows(evidence, order, off_corpus, candidates[0].terms, candidates[0].unknown))
    by_topic: dict[str, list[ScoredChunk]] = {}
    for item in chunks:
        by_topic.setdefault(item.candidate.topic or item.candidate.document, []).append(item)
    placed = sorted(range(len(order)), key=lambda at: (-order[at], evidence.topics[at]))
    return [RankedDocument(tuple(_twin(by_topic[evidence.topics[at]], lang)), float(scores[at])) for at in placed]


def _twin(of_topic: Sequence[ScoredChunk], lang: str) -> list[ScoredChunk]:
    own = [item for item in of_topic if item.candidate.lang == lang]
    if own:
        return own
    document = of_topic[0].candidate.document
    return [item for item in of_topic if item.candidate.document == document]
