"""Laws of fusion, ranking and the gate."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.retrieval.fusion import ranks, reciprocal_rank_fusion
from engine.retrieval.gate import gate
from engine.retrieval.rank import RankedDocument, rank_documents, score_chunks
from engine.retrieval.relevance import Calibration, relevance
from engine.storage.search_store import Candidate

SPACES = ("use512", "nano384")
CALIBRATION = Calibration(
    floors={"use512": 0.0, "nano384": 0.7},
    coverage_weight=0.1,
    unknown_penalty=0.1,
    lexical_weight=0.2,
    lexical_half=3.0,
    threshold=0.3,
    provenance="test",
)


def candidate(
    chunk: str,
    *,
    topic: str = "hba1c",
    lang: str = "ru",
    cosine: tuple[float | None, ...] = (0.5, 0.85),
    lexical: float | None = None,
    coverage: float = 0.0,
    terms: int = 5,
    unknown: int = 0,
) -> Candidate:
    return Candidate(
        chunk=chunk,
        document=f"{topic}.{lang}",
        topic=topic,
        lang=lang,
        title=topic,
        source=("https://example.org/",),
        ordinal=0,
        section="",
        content="text",
        cosine=cosine,
        sentence_cosine=cosine,
        lexical=lexical,
        coverage=coverage,
        terms=terms,
        unknown=unknown,
    )


@st.composite
def pools(draw: st.DrawFn) -> list[Candidate]:
    size = draw(st.integers(1, 12))
    cosine = st.one_of(st.none(), st.floats(-1, 1))
    return [
        candidate(
            f"c{index:02d}",
            topic=draw(st.sampled_from(["a", "b", "c"])),
            lang=draw(st.sampled_from(["ru", "en"])),
            cosine=(draw(cosine), draw(cosine)),
            lexical=draw(st.one_of(st.none(), st.floats(0, 50))),
            coverage=draw(st.floats(0, 1)),
        )
        for index in range(size)
    ]


def test_a_rank_of_sixty_one_is_worth_the_formula_of_the_paper() -> None:
    assert reciprocal_rank_fusion([{"a": 1}, {"a": 2, "b": 1}]) == {"a": 1 / 61 + 1 / 62, "b": 1 / 61}


def test_an_item_twice_in_an_arm_counts_once_at_its_best_rank() -> None:
    assert ranks(["a", "b", "a"]) == {"a": 1, "b": 2}


@given(pools(), st.randoms(), st.sampled_from(["rescored", "rrf", "dense", "lexical"]))
def test_order_does_not_depend_on_the_order_of_the_input(pool: list[Candidate], random, fusion) -> None:  # type: ignore[no-untyped-def]
    shuffled = list(pool)
    random.shuffle(shuffled)
    assert score_chunks(pool, SPACES, CALIBRATION, fusion) == score_chunks(shuffled, SPACES, CALIBRATION, fusion)


@given(pools(), st.sampled_from(["ru", "en"]))
def test_a_topic_stands_once_and_in_the_readers_language_where_it_was_found(pool: list[Candidate], lang: str) -> None:
    documents = rank_documents(score_chunks(pool, SPACES, CALIBRATION), lang)
    topics = [document.best.candidate.topic for document in documents]
    assert sorted(topics) == sorted({item.topic for item in pool})
    for document in documents:
        languages = {item.lang for item in pool if item.topic == document.best.candidate.topic}
        assert document.best.candidate.lang == (lang if lang in languages else languages.pop())
        assert len({chunk.candidate.document for chunk in document.chunks}) == 1


@given(pools())
def test_a_score_stays_between_nought_and_one(pool: list[Candidate]) -> None:
    assert all(0 <= relevance(item, SPACES, CALIBRATION).score <= 1 for item in pool)


@given(pools(), st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_keeps_more(pool: list[Candidate], one: float, two: float) -> None:
    documents = rank_documents(score_chunks(pool, SPACES, CALIBRATION), "ru")
    low, high = sorted((one, two))
    assert set(gate(documents, high).kept) <= set(gate(documents, low).kept)


def test_no_threshold_keeps_everything() -> None:
    documents = rank_documents(score_chunks([candidate("a", cosine=(-1.0, -1.0))], SPACES, CALIBRATION), "ru")
    assert len(gate(documents, 0.0).kept) == 1


@pytest.mark.parametrize("broken", [math.nan, math.inf, -math.inf, None])
def test_a_broken_cosine_counts_as_unrelated(broken: float | None) -> None:
    assert relevance(candidate("a", cosine=(broken, broken)), SPACES, CALIBRATION).score == 0.0


@pytest.mark.parametrize("broken", [math.nan, math.inf])
def test_a_broken_score_never_passes_the_gate(broken: float) -> None:
    chunks = tuple(score_chunks([candidate("a")], SPACES, CALIBRATION))
    assert gate([RankedDocument(chunks, broken)], 0.0).abstain


def test_rrf_does_not_move_the_gate() -> None:
    plain = relevance(candidate("a"), SPACES, CALIBRATION)
    worded = relevance(candidate("a", lexical=40.0), SPACES, CALIBRATION)
    assert worded.score == plain.score
    assert worded.order > plain.order


def test_an_unknown_word_weighs_against_a_short_question() -> None:
    known = relevance(candidate("a", terms=2), SPACES, CALIBRATION).score
    assert relevance(candidate("a", terms=2, unknown=1), SPACES, CALIBRATION).score == pytest.approx(known - 0.1)
    assert relevance(candidate("a", terms=6, unknown=1), SPACES, CALIBRATION).score == known
