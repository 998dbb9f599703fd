"""Trust in the figures: the shipped sets do not stand in the corpus nor in each other."""

import pytest

from engine.evaluation.leakage import leaks, twins
from engine.evaluation.sets import CALIBRATION_SETS, known_sets, resolve_sets
from engine.knowledge.corpus import DEFAULT_CORPUS, load_corpus
from engine.wire import Turn
from tests.evaluation.stand_in import answerable_set, asked, none_set, off_corpus

EVALUATION_SETS = tuple(name for name in known_sets() if name not in CALIBRATION_SETS)


def test_no_question_of_any_set_stands_in_the_corpus() -> None:
    corpus = {document.name: f"{document.title}\n{document.body}" for document in load_corpus(DEFAULT_CORPUS)}
    assert leaks(resolve_sets(known_sets()), corpus) == []


def test_no_question_both_sets_the_threshold_and_is_measured_by_it() -> None:
    assert twins(resolve_sets(EVALUATION_SETS), resolve_sets(CALIBRATION_SETS)) == []


def test_no_id_stands_in_two_sets() -> None:
    ids = [case.id for eval_set in resolve_sets(known_sets()) for case in eval_set.cases]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    "question",
    [
        "Ферритин отражает запас железа в организме человека?",
        "скажите: ФЕРРИТИН  отражает запас\u00a0железа в организме, да",
        "ферритин отражает запас жeлеза в организме",  # a Latin e
    ],
)
def test_six_words_in_a_row_are_found_whatever_their_dress(question: str) -> None:
    corpus = {"ferritin.ru": "Белок ферритин отражает\nзапас железа в организме. Он…"}
    (found,) = leaks([answerable_set(asked("q", "ferritin", text=question))], corpus)
    assert (found.case, found.document) == ("q", "ferritin.ru")
    assert found.words.startswith("ферритин отражает запас железа")


def test_fewer_words_and_words_in_another_order_are_no_leak() -> None:
    corpus = {"ferritin.ru": "Белок ферритин отражает запас железа в организме."}
    questions = ("отражает запас железа в организме", "запас железа в организме отражает ферритин")
    assert leaks([answerable_set(*(asked(q, "ferritin", text=q) for q in questions))], corpus) == []


def test_a_question_asked_twice_in_other_words_order_is_a_twin() -> None:
    evaluated = answerable_set(asked("e", "ferritin", text="Ферритин: какая норма у женщин?"))
    calibrating = none_set(off_corpus("какая у женщин норма ферритин"), off_corpus("норма ферритина"))
    assert [tuple(twin) for twin in twins([evaluated], [calibrating])] == [("e", "какая у женщин норма ферритин")]


def test_of_a_dialogue_what_the_user_says_counts_and_what_the_assistant_quotes_does_not() -> None:
    corpus = {"ferritin.ru": "Белок ферритин отражает запас железа в организме."}
    quoted = "ферритин отражает запас железа в организме"
    case = asked("q", "ferritin", text="а норма?")
    for role, count in (("user", 1), ("assistant", 0)):
        dialogue = case.model_copy(update={"history": (Turn.model_validate({"role": role, "text": quoted}),)})
        assert len(leaks([answerable_set(dialogue)], corpus)) == count
        assert len(twins([answerable_set(dialogue)], [none_set(off_corpus(quoted))])) == count
