"""Questions that a growing corpus can be asked."""

import pytest

from engine.evaluation.coverage import covered
from engine.evaluation.errors import EvaluationError
from tests.evaluation.stand_in import answerable_set, asked, none_set, off_corpus

SETS = (answerable_set(asked("a", "tsh"), asked("b", "zinc"), asked("c", "zinc", "tsh")), none_set(off_corpus("n")))


def test_questions_on_topics_that_the_corpus_lacks_are_left_out_and_counted() -> None:
    found = covered(SETS, {"tsh", "hba1c"})
    assert [[case.id for case in one.cases] for one in found.sets] == [["a", "c"], ["n"]]
    assert found.left_out == {"retrieval": 1, "expect_none": 0}
    assert found.sets[0].hash != SETS[0].hash


def test_a_corpus_that_holds_everything_leaves_the_sets_as_they_are() -> None:
    found = covered(SETS, {"tsh", "zinc"})
    assert found.sets == SETS
    assert set(found.left_out.values()) == {0}


def test_a_set_of_which_nothing_is_left_cannot_be_measured() -> None:
    with pytest.raises(EvaluationError, match="holds no topic of the set 'retrieval'"):
        covered(SETS, {"hba1c"})
