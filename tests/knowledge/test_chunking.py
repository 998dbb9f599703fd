"""The chunker: what it promises for any text, and a few texts worked out by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.knowledge.chunking import CHUNK_SIZE, OVERLAP, Section, chunk_sections, chunk_text
from engine.text.sentences import split_sentences

WORDS = (
    *("HbA1c", "ферритин", "level", "выше", "уровень", "5,7%", "6.5", "г/л", "т.е.", "e.g.", "врач", "doctor"),
    *("анализ", "blood", "железо", "B12", "«сахар»", "(норма)"),
)
ENDS = (".", "!", "?", "…", ";", ".»")


@st.composite
def prose_sentences(draw: st.DrawFn) -> str:
    words = draw(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40))
    return " ".join(words).capitalize() + draw(st.sampled_from(ENDS))


prose_paragraphs = st.lists(prose_sentences(), min_size=1, max_size=12).map(" ".join)
odd_paragraphs = st.text(
    st.sampled_from('ab АБв12.,;!?…\n\r\t\u2028\u200b()«»"-') | st.characters(exclude_categories=["Cs"]), max_size=900
)
any_paragraphs = (prose_paragraphs | odd_paragraphs).map(str.strip).filter(bool)
sections = st.lists(
    st.builds(Section, st.sampled_from(["A", "B", ""]), st.lists(any_paragraphs, max_size=6).map(tuple)), max_size=3
)
sizes = st.sampled_from([(CHUNK_SIZE, OVERLAP), (200, 40), (60, 20), (500, 0), (1, 1)])


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


def bare(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None)
@given(any_paragraphs.map(lambda paragraph: Section("", (paragraph,))), sizes)
def test_one_paragraph_loses_nothing_and_adds_nothing(section: Section, limits: tuple[int, int]) -> None:
    size, _ = limits
    chunks = chunk_sections([section], size, 0)
    assert bare("".join(chunk.content for chunk in chunks)) == bare(section.paragraphs[0])


@settings(deadline=None)
@given(sections, sizes)
def test_chunks_are_the_sentences_in_order_with_whole_sentences_repeated(
    given_sections: list[Section], limits: tuple[int, int]
) -> None:
    size, overlap = limits
    for section in given_sections:
        whole = [sentence for paragraph in section.paragraphs for sentence in sentences(paragraph)]
        before: list[str] = []
        read = {0}  # how many sentences so far; several answers only where a sentence stands twice
        for chunk in chunk_sections([section], size, overlap):
            pieces = sentences(chunk.content)
            read = {
                start + len(pieces) - repeated
                for start in read
                for repeated in range(len(pieces))
                if before[len(before) - repeated :] == pieces[:repeated]
                and sum(map(len, pieces[:repeated])) <= 2 * overlap
                and whole[start : start + len(pieces) - repeated] == pieces[repeated:]
            }
            before = pieces
        assert len(whole) in read


@settings(deadline=None)
@given(sections, sizes)
def test_a_paragraph_that_fits_is_never_cut(given_sections: list[Section], limits: tuple[int, int]) -> None:
    size, overlap = limits
    for section in given_sections:
        contents = [chunk.content for chunk in chunk_sections([section], size, overlap)]
        for paragraph in section.paragraphs:
            assert len(paragraph) > size or any(paragraph in content for content in contents)


@settings(deadline=None)
@given(sections, sizes)
def test_a_chunk_is_longer_than_the_size_only_when_one_sentence_is(
    given_sections: list[Section], limits: tuple[int, int]
) -> None:
    size, overlap = limits
    for chunk in chunk_sections(given_sections, size, overlap):
        assert len(chunk.content) <= size or len(sentences(chunk.content)) == 1


@settings(deadline=None)
@given(sections, sizes)
def test_chunking_is_deterministic_numbered_and_keeps_sections_apart(
    given_sections: list[Section], limits: tuple[int, int]
) -> None:
    chunks = chunk_sections(given_sections, *limits)
    assert chunks == chunk_sections(list(given_sections), *limits)
    assert [chunk.ordinal for chunk in chunks] == list(range(len(chunks)))
    apart = [
        (section.heading, chunk.content) for section in given_sections for chunk in chunk_sections([section], *limits)
    ]
    assert [(chunk.section, chunk.content) for chunk in chunks] == apart


@settings(deadline=None)
@given(st.lists(any_paragraphs, max_size=5), st.sampled_from(["\n\n", "\n \n", "\r\n\r\n", "\n\n\n\n"]))
def test_a_text_without_headings_loses_nothing(paragraphs: list[str], gap: str) -> None:
    text = gap.join(paragraphs)
    assert bare("".join(chunk.content for chunk in chunk_text(text, overlap=0))) == bare(text)


# Worked out by hand


def test_short_paragraphs_share_a_chunk_and_keep_the_blank_line_between_them() -> None:
    chunks = chunk_sections([Section("A", ("One.", "Two.")), Section("B", ("Three.",))])
    assert [(chunk.section, chunk.content) for chunk in chunks] == [("A", "One.\n\nTwo."), ("B", "Three.")]


def test_the_last_sentence_of_a_chunk_opens_the_next_one() -> None:
    first, second = "Ферритин низкий. Запасы железа малы.", "Гемоглобин ещё в норме, анемии нет."
    chunks = chunk_sections([Section("A", (first, second))], size=60, overlap=15)
    assert [chunk.content for chunk in chunks] == [first, f"Запасы железа малы.\n\n{second}"]


def test_a_sentence_longer_than_twice_the_overlap_is_not_repeated() -> None:
    first, second = "Ферритин низкий, запасы железа малы.", "Гемоглобин ещё в норме."
    chunks = chunk_sections([Section("A", (first, second))], size=50, overlap=15)
    assert [chunk.content for chunk in chunks] == [first, second]


def test_a_long_paragraph_is_cut_between_sentences_and_keeps_its_line_breaks() -> None:
    paragraph = "- ферритин 12 мкг/л\n- железо 7 мкмоль/л\n- СРБ 1,2 мг/л"
    chunks = chunk_text(paragraph, size=45, overlap=0)
    assert [chunk.content for chunk in chunks] == ["- ферритин 12 мкг/л\n- железо 7 мкмоль/л", "- СРБ 1,2 мг/л"]


def test_a_sentence_longer_than_the_size_stays_whole() -> None:
    long = "глюкоза " * 80 + "натощак."
    chunks = chunk_sections([Section("A", (f"Коротко. {long} Ещё раз.",))])
    assert [chunk.content for chunk in chunks] == ["Коротко.", long, "Ещё раз."]


@pytest.mark.parametrize("text", ["", "  \n\n \n"])
def test_nothing_gives_no_chunks(text: str) -> None:
    assert chunk_text(text) == []
    assert chunk_sections([Section("A", ())]) == []
