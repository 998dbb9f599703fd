"""Unknown words read by the corpus' vocabulary: the rule alone, then against the seeded corpus."""

import pytest

from engine.app import Engine
from engine.retrieval.query import respelt
from engine.retrieval.vocabulary import MAX_WRITINGS, known_lookups, readings, stranger_lookups, strangers
from engine.storage.vocabulary_store import Vocabulary
from engine.text.lexemes import stem
from engine.text.variants import deletions
from engine.wire import RetrieveRequest


def vocabulary(**words: int) -> Vocabulary:
    spelled: dict[str, list[tuple[str, int]]] = {}
    for word, count in words.items():
        for deletion in deletions(word):
            spelled.setdefault(deletion, []).append((word, count))
    documents = {"=" + word: count for word, count in words.items()} | {stem(w): n for w, n in words.items()}
    return Vocabulary(documents, {key: tuple(found) for key, found in spelled.items()})


def test_a_known_word_is_never_corrected() -> None:
    assert readings("печень", vocabulary(печень=9, печенье=90)) == ("печень",)


def test_another_form_of_a_known_word_is_known() -> None:
    assert readings("ферритина", vocabulary(ферритин=2)) == ("ферритина",)


def test_a_slip_is_read_as_the_commonest_word_a_letter_away() -> None:
    assert readings("ферретин", vocabulary(ферритин=2))[0] == "ферритин"
    assert readings("печини", vocabulary(печени=3, печинг=1))[0] == "печени"


def test_forms_of_one_word_are_one_reading() -> None:
    assert len(readings("гемоглабин", vocabulary(гемоглобин=5, гемоглобина=4))) == 1


def test_a_short_word_is_not_corrected() -> None:
    assert readings("рука", vocabulary(мука=4)) == ("рука",)


@pytest.mark.parametrize("token", ["5.6", "120", "b21", "в13"])
def test_figures_are_never_corrected(token: str) -> None:
    assert readings(token, vocabulary(b12=7)) == (token,)


def test_the_other_alphabet_goes_before_a_slip() -> None:
    known = vocabulary(ферритин=2, ferrotin=50)
    assert readings("ferritin", known)[0] == "ферритин"


def test_a_slip_in_the_other_alphabet_is_read_too() -> None:
    assert readings("gimoglobin", vocabulary(гемоглобин=3)) == ("гемоглобин",)


def test_an_abbreviation_that_is_known_stands_for_its_twin_too() -> None:
    assert readings("ttg", vocabulary(ttg=1, ттг=4)) == ("ttg", "ттг")


def test_a_stranger_stays_a_stranger() -> None:
    assert readings("тропонин", vocabulary(ферритин=2)) == ("тропонин",)


def test_readings_are_few() -> None:
    near = vocabulary(**{f"калие{letter}": 1 for letter in "абвгджз"})
    assert len(readings("калиев", near)) == 1
    assert len(readings("калиет", near)) <= MAX_WRITINGS


def test_what_is_looked_up_holds_the_word_and_its_twin() -> None:
    terms = known_lookups(["ttg", "ttg"])
    assert {"=ttg", "=ттг"} <= set(terms)
    assert len(terms) == len(set(terms))
    others, cuts = stranger_lookups(["feritin"])
    assert "=феритин" in others
    assert {"feritin", "феритин", "фертин"} <= set(cuts)


def test_strangers_are_words_alone() -> None:
    assert strangers(["ферритин", "троп", "5.6", "b12", "троп"], vocabulary(ферритин=1)) == ["троп"]


def test_the_text_for_the_encoders_keeps_all_that_is_known() -> None:
    read = {"ttg": ("ттг",), "5.6": ("5.6",), "норма": ("норма",)}
    assert respelt("TTG 5,6 — НОРМА?", read) == "ттг 5,6 — НОРМА?"


@pytest.mark.parametrize(
    ("question", "topic"),
    [("ttg povyshen", "tsh"), ("nnu", "tsh"), ("srb", "c-reactive-protein"), ("feritin", "ferritin"),
     ("holesterin norma", "total-cholesterol"), ("триглецериды", "triglycerides"), ("creatinin", "creatinine-egfr"),
     ("ФЕРРЕТИН", "ferritin"), ("tryglicerides", "triglycerides")],
)  # fmt: skip
async def test_a_misspelt_word_finds_its_document(engine: Engine, question: str, topic: str) -> None:
    found = await engine.retrieve(RetrieveRequest(query=question, min_score=0.0))
    assert found.hits[0].topic == topic
