"""Rescoring: logits order, their sigmoid gates, and what failed never passes."""

import json
import math
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.models.base import ModelError
from engine.retrieval.gate import gate
from engine.retrieval.rank import RankedDocument, ScoredChunk
from engine.retrieval.relevance import Relevance
from engine.retrieval.rerank import FAILED, NOT_RESCORED, THRESHOLD, passage, reordered, rerank, sigmoid
from engine.storage.search_store import Candidate

QUESTION = "Что показывает ферритин?"


class FakeReranker:
    """Logits by the first word of a passage, which is the document's title."""

    model = "fake"

    def __init__(self, logits: dict[str, float]) -> None:
        self.logits = logits
        self.asked: list[tuple[str, list[str]]] = []

    def warm_up(self) -> None:
        """Nothing to load."""

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        self.asked.append((question, list(passages)))
        return [self.logits[text.partition(".")[0]] for text in passages]


def document(name: str, score: float = 0.9) -> RankedDocument:
    """A document of two chunks."""
    chunks = [
        ScoredChunk(
            Candidate(
                chunk=f"{name}-{ordinal}",
                document=name,
                topic=name,
                lang="ru",
                title=name,
                source=("who",),
                ordinal=ordinal,
                section=f"section {ordinal}",
                content=f"content {ordinal}",
                cosine=(0.5,),
                sentence_cosine=(0.5,),
                lexical=None,
                coverage=0.0,
                terms=1,
                unknown=0,
                covered=(),
                rarity=(),
            ),
            Relevance(score, score, score),
            0.0,
            None,
            None,
        )
        for ordinal in (3, 0)
    ]
    return RankedDocument(tuple(chunks), score)


def names(documents: Sequence[RankedDocument]) -> list[str]:
    return [item.best.candidate.document for item in documents]


DOCUMENTS = [document(name) for name in "abcdef"]


def test_the_best_chunk_is_read_under_its_title_and_section() -> None:
    reranker = FakeReranker({"a": 1.0, "b": 2.0})
    rerank(QUESTION, DOCUMENTS[:2], reranker, 12)
    assert reranker.asked == [(QUESTION, ["a. section 3. content 3", "b. section 3. content 3"])]
    assert passage(DOCUMENTS[0]) == "a. section 3. content 3"


def test_the_best_are_rescored_and_the_rest_stay_below_in_their_order() -> None:
    reranker = FakeReranker({"a": -9.0, "b": 3.0, "c": 5.0})
    found = rerank(QUESTION, DOCUMENTS, reranker, 3)
    assert names(found.documents) == ["c", "b", "a", "d", "e", "f"]
    assert [item.score for item in found.documents[3:]] == [NOT_RESCORED] * 3
    assert len(reranker.asked[0][1]) == 3
    assert found.summary() == {"rescored": 3, "rerank_failed": 0}


def test_the_gate_sees_the_sigmoid_and_no_similarity() -> None:
    """Every similarity here is .9; it is on another scale and lets nothing through."""
    found = rerank(QUESTION, DOCUMENTS, FakeReranker({"a": -0.1, "b": 0.0, "c": 2.0}), 3)
    gated = gate(found.documents, THRESHOLD)
    assert names(gated.kept) == ["c", "b"]
    assert [item.score for item in gated.kept] == [pytest.approx(0.880797), 0.5]
    assert gate(reordered(DOCUMENTS, [-8.0] * 6).documents, THRESHOLD).abstain
    assert len(gate(found.documents, 0.0).kept) == len(DOCUMENTS)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, None])
def test_what_the_model_failed_on_ranks_last_never_passes_and_is_counted(bad: float | None) -> None:
    found = reordered(DOCUMENTS, [bad, 1.0, bad, -3.0])
    assert names(found.documents) == ["b", "d", "e", "f", "a", "c"]
    assert [item.score for item in found.documents[-2:]] == [FAILED] * 2
    assert (found.rescored, found.failed) == (2, 2)
    assert names(gate(found.documents, 0.0).kept) == ["b", "d", "e", "f"]
    assert names(gate(found.documents, 1e-9).kept) == ["b", "d"]
    json.dumps([item.score for item in found.documents], allow_nan=False)


def test_where_it_failed_on_all_the_chat_abstains() -> None:
    found = reordered(DOCUMENTS, [math.nan] * 6)
    assert gate(found.documents, 0.0).abstain
    assert found.failed == 6


def test_a_reranker_that_breaks_is_an_error_and_no_other_score_stands_in() -> None:
    class Broken(FakeReranker):
        def scores(self, question: str, passages: Sequence[str]) -> list[float]:
            raise ModelError("gone")

    with pytest.raises(ModelError, match="gone"):
        rerank(QUESTION, DOCUMENTS, Broken({}), 3)


def test_saturated_scores_keep_the_order_of_their_logits() -> None:
    """In double precision too all of these are 1.0 to the last bit, or nearly."""
    logits = [40.0, 43.0, 41.0, 44.0, 42.0, 45.0]
    found = reordered(DOCUMENTS, logits)
    assert names(found.documents) == ["f", "d", "b", "e", "c", "a"]
    assert {item.score for item in found.documents} == {1.0}


def test_equal_logits_stand_by_id_whatever_their_order_before() -> None:
    logits = [1.0, 2.0, 1.0, 2.0, 1.0, 0.0]
    wanted = ["b", "d", "a", "c", "e", "f"]
    assert names(reordered(DOCUMENTS, logits).documents) == wanted
    assert names(reordered(DOCUMENTS[::-1], logits[::-1]).documents) == wanted


def test_nothing_to_rescore_asks_no_model() -> None:
    reranker = FakeReranker({})
    assert rerank(QUESTION, [], reranker, 12).documents == ()
    assert reranker.asked == []


def test_more_logits_than_documents_is_a_fault() -> None:
    with pytest.raises(ValueError, match="zip"):
        reordered(DOCUMENTS[:1], [1.0, 2.0])


@given(st.lists(st.floats() | st.none(), max_size=6))
def test_no_document_is_lost_and_scores_descend(logits: list[float | None]) -> None:
    found = reordered(DOCUMENTS, logits).documents
    scores = [item.score for item in found]
    assert sorted(names(found)) == sorted(names(DOCUMENTS))
    assert scores == sorted(scores, reverse=True)
    assert all(-1.0 <= score <= 1.0 for score in scores)


@pytest.mark.parametrize(
    ("logit", "score"),
    [(0.0, 0.5), (1e308, 1.0), (-1e308, 0.0), (5.26, 0.994835), (-8.1875, 0.00027803)],
)
def test_the_sigmoid_overflows_nowhere(logit: float, score: float) -> None:
    assert sigmoid(logit) == pytest.approx(score, rel=1e-4)
