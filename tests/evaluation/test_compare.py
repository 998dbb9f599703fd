"""Two runs case by case."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from scipy.stats import binomtest

from engine.cli.eval_tables import SHOWN_REGRESSIONS, comparison_table
from engine.evaluation.compare import Uncompared, compare, mcnemar
from engine.evaluation.errors import EvaluationError
from engine.evaluation.records import CaseResult, Corpus, RecordedRun, recorded
from engine.evaluation.report import comparison_of
from tests.evaluation.stand_in import head

LOST = "false_abstention"


def run(scores: dict[str, float], metric: str = "recall@4") -> RecordedRun:
    cases = tuple(
        CaseResult("retrieval", name, name[:2], "keywords" if name.endswith("k") else "full", {metric: score}, {})
        for name, score in scores.items()
    )
    return recorded(head(), [], cases)


BEFORE = run({"ru-1": 0.0, "ru-2k": 1.0, "en-1": 0.0, "en-2": 1.0, "gone-1": 1.0})
AFTER = run({"ru-1": 1.0, "ru-2k": 1.0, "en-1": 1.0, "en-2": 0.0, "new-1": 1.0})


def test_gains_and_losses_stand_by_language_and_style() -> None:
    pairs = {(pair.lang, pair.style): pair for pair in compare(BEFORE, AFTER, "recall@4").pairs}
    assert set(pairs) == {
        ("all", "all"),
        ("ru", "all"),
        ("ru", "full"),
        ("ru", "keywords"),
        ("en", "all"),
        ("en", "full"),
    }
    both = pairs["all", "all"]
    assert (both.n, both.gained, both.lost, both.before, both.after) == (4, 2, 1, 0.5, 0.75)
    assert pairs["ru", "keywords"].p_value == 1.0


def test_a_run_against_itself_differs_nowhere() -> None:
    found = compare(BEFORE, BEFORE, "recall@4")
    assert all(pair.gained == pair.lost == 0 and pair.p_value == 1.0 for pair in found.pairs)
    assert found.before == found.after == Uncompared(0, 0)
    assert (found.regressions, found.reworded) == ((), 0)


def crashed(case_id: str) -> CaseResult:
    return CaseResult("retrieval", case_id, case_id[:2], "full", {}, {}, "OSError")


def with_cases(run: RecordedRun, *cases: CaseResult) -> RecordedRun:
    named = {case.case_id for case in cases}
    return replace(run, cases=(*(case for case in run.cases if case.case_id not in named), *cases))


def test_a_case_that_is_not_compared_is_counted_on_the_side_that_lacks_it() -> None:
    before = with_cases(BEFORE, crashed("ru-1"), crashed("ru-8"))
    after = with_cases(AFTER, crashed("ru-2k"), crashed("en-1"), crashed("ru-8"))
    found = compare(before, after, "recall@4")
    assert found.before == Uncompared(unscored=2, missing=1)  # ru-1 and ru-8; new-1
    assert found.after == Uncompared(unscored=3, missing=1)  # ru-2k, en-1 and ru-8; gone-1
    assert found.pairs[0].n == 1  # en-2


def test_what_the_second_run_lacks_is_a_regression_as_what_it_does_worse() -> None:
    found = compare(BEFORE, with_cases(AFTER, crashed("ru-2k")), "recall@4")
    assert {(case.case_id, case.why) for case in found.regressions} == {
        ("en-2", "worse"),
        ("ru-2k", "unscored"),
        ("gone-1", "missing"),
    }
    assert found.pairs[0].lost == 1, "the test is paired: what has no pair has no part in it"
    back = compare(with_cases(AFTER, crashed("ru-2k")), BEFORE, "recall@4")
    assert "ru-2k" not in {case.case_id for case in back.regressions}


def test_a_whole_set_that_the_second_run_left_out_is_missing() -> None:
    other = tuple(replace(case, set_name="other") for case in BEFORE.cases)
    found = compare(replace(BEFORE, cases=(*BEFORE.cases, *other)), BEFORE, "recall@4")
    assert found.after == Uncompared(0, len(other))
    assert {(case.set_name, case.why) for case in found.regressions} == {("other", "missing")}


def test_cases_that_another_metric_is_for_are_not_looked_at() -> None:
    none = replace(BEFORE.cases[0], set_name="expect_none", scores={"abstention": 1.0})
    assert compare(replace(BEFORE, cases=(*BEFORE.cases, none)), BEFORE, "recall@4").after == Uncompared(0, 0)


def test_a_case_with_another_text_is_no_pair_and_is_counted() -> None:
    after = with_cases(AFTER, replace(AFTER.cases[0], answer={"text": "another"}))
    found = compare(BEFORE, after, "recall@4")
    assert (found.reworded, found.pairs[0].n) == (1, 3)


def test_a_lost_question_that_is_found_again_is_a_gain() -> None:
    before, after = run({"ru-1": 1.0, "ru-2": 0.0}, LOST), run({"ru-1": 0.0, "ru-2": 0.0}, LOST)
    assert [(pair.gained, pair.lost) for pair in compare(before, after, LOST).pairs[:1]] == [(1, 0)]
    assert [case.why for case in compare(after, before, LOST).regressions] == ["worse"]


def test_machines_and_people_are_told_what_was_not_compared() -> None:
    found = compare(BEFORE, with_cases(AFTER, crashed("ru-2k")), "recall@4")
    told = json.loads(json.dumps(comparison_of(found, "recall@4")))
    assert told["before"] == {"unscored": 0, "missing": 1}
    assert told["after"] == {"unscored": 1, "missing": 1}
    assert {"set_name": "retrieval", "case_id": "gone-1", "lang": "go", "style": "full", "why": "missing"} in told[
        "regressions"
    ]
    assert told["runs"]["before"]["corpus"]["hash"] == "c0ffee"
    console = Console(width=140)
    with console.capture() as text:
        console.print(comparison_table(found, "recall@4"))
    assert "not compared: before 0 unscored, 1 missing; after 1 unscored, 1 missing; 0 reworded" in text.get()
    assert "Regressions: 3" in text.get()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.get().splitlines() if "│" in line]
    assert ["retrieval", "gone-1", "go", "full", "missing"] in rows


def test_both_runs_are_named_above_the_table() -> None:
    before = replace(BEFORE, head=head(label="[first]"))
    after = replace(AFTER, head=head(corpus=Corpus("d" * 64, 70, 600)))
    console = Console(width=140)
    with console.capture() as text:
        console.print(comparison_table(compare(before, after, "recall@4"), "recall@4"))
    one, other = text.get().splitlines()[:2]
    assert one == f"before: run {before.head.short_id} · [first] · 2026-11-30 12:05 UTC · 34 documents, corpus c0ffee"
    assert other.startswith(f"after: run {after.head.short_id} · 2026-11-30")
    assert other.endswith("70 documents, corpus dddddddddddd")


def test_a_narrow_screen_cuts_no_id_and_no_style() -> None:
    name = "ru-a-case-with-a-name-that-is-much-longer-than-its-column-ever-was-k"
    found = compare(run({name: 1.0}), run({name: 0.0}), "recall@4")
    console = Console(width=80)
    with console.capture() as text:
        console.print(comparison_table(found, "recall@4"))
    assert "…" not in text.get()
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.get().splitlines() if "│" in line]
    assert name in "".join(row[1] for row in rows if len(row) == 5)
    assert ["ru", "keywords"] in [row[:2] for row in rows]


def test_of_many_regressions_people_see_the_first_and_how_many_more() -> None:
    names = [f"ru-{number}" for number in range(30)]
    found = compare(run(dict.fromkeys(names, 1.0)), run(dict.fromkeys(names, 0.0)), "recall@4")
    console = Console(width=140)
    with console.capture() as text:
        console.print(comparison_table(found, "recall@4"))
    assert "Regressions: 30" in text.get()
    assert text.get().count("worse") == SHOWN_REGRESSIONS
    assert f"{30 - SHOWN_REGRESSIONS} more; --json has all" in text.get()


def test_runs_without_a_common_case_are_refused() -> None:
    with pytest.raises(EvaluationError, match="share no case"):
        compare(BEFORE, run({"other": 1.0}), "recall@4")
    with pytest.raises(EvaluationError, match="share no case"):
        compare(BEFORE, AFTER, "unheard-of")


def test_a_metric_between_0_and_1_is_refused() -> None:
    with pytest.raises(EvaluationError, match="no metric of 0 and 1"):
        compare(run({"ru-1": 0.5}, "mrr"), run({"ru-1": 1.0}, "mrr"), "mrr")


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_p_value_is_that_of_the_binomial_test(gained: int, lost: int) -> None:
    expected = binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert mcnemar(gained, lost) == pytest.approx(expected)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)
