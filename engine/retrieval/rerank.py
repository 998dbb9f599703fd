"""Rescoring of the best documents by a cross-encoder, whose score then gates alone.

Logits order, since a sigmoid in half precision is 1.0 for all good passages alike; their sigmoid, in double precision,
is the score between 0 and 1 that the gate compares. A similarity score is on another scale and never passes that gate:
what was not rescored scores 0.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.models.base import Reranker
from engine.retrieval.rank import RankedDocument

THRESHOLD = 0.5
"""Score from which a document is answered from: a logit of 0, the border the model was trained on. Not calibrated."""
NOT_RESCORED = 0.0
"""Score of a document below those that were rescored: it passes where the gate is bypassed, and nowhere else."""
FAILED = -1.0
"""Score of a document that the model failed on: below every threshold, 0 too. NaN would break the trace's JSON."""


@dataclass(frozen=True)
class Reranked:
    """Documents in their new order: rescored, then those not rescored as they stood, then those that failed."""

    documents: tuple[RankedDocument, ...]
    rescored: int
    failed: int
    """Documents whose logit was not finite; above 0 it is worth a look at the model."""

    def summary(self) -> dict[str, int]:
        """For the trace."""
        return {"rescored": self.rescored, "rerank_failed": self.failed}


def rerank(question: str, documents: Sequence[RankedDocument], reranker: Reranker, top: int) -> Reranked:
    """Rescore the first `top` documents by their best chunk. Slow: call it off the event loop.

    Raises:
        ModelError: the model could not be loaded or failed on all of them; no other score may stand in for its own.
    """
    head = documents[:top]
    logits = reranker.scores(question, [passage(document) for document in head]) if head else []
    return reordered(documents, logits)


def reordered(documents: Sequence[RankedDocument], logits: Sequence[float | None]) -> Reranked:
    """Documents by the logits of the first of them, one each; equal logits by the document's id.

    Raises:
        ValueError: there are more logits than documents.
    """
    head, rest = documents[: len(logits)], documents[len(logits) :]
    pairs = list(zip(head, logits, strict=True))
    sound = [(item, logit) for item, logit in pairs if logit is not None and math.isfinite(logit)]
    failed = [item for item, logit in pairs if logit is None or not math.isfinite(logit)]
    sound.sort(key=lambda pair: (-pair[1], pair[0].best.candidate.document))
    ordered = [replace(item, score=sigmoid(logit)) for item, logit in sound]
    ordered += [replace(item, score=NOT_RESCORED) for item in rest]
    ordered += [replace(item, score=FAILED) for item in failed]
    return Reranked(tuple(ordered), rescored=len(sound), failed=len(failed))


def passage(document: RankedDocument) -> str:
    """What the cross-encoder reads of a document: its best chunk, under the title and section that name it."""
    best = document.best.candidate
    return f"{best.title}. {best.section}. {best.content}"


def sigmoid(logit: float) -> float:
    """Between 0 and 1, in double precision; no finite logit overflows."""
    if logit >= 0:
        return 1.0 / (1.0 + math.exp(-logit))
    grown = math.exp(logit)
    return grown / (1.0 + grown)
