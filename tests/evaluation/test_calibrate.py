"""The gate report out of the calibration sets."""

import pytest
from rich.console import Console

from engine.cli.eval_tables import gate_table
from engine.evaluation.calibrate import calibrate
from engine.evaluation.errors import EvaluationError
from engine.evaluation.report import gate_summary
from tests.evaluation.stand_in import StandIn, answerable_set, asked, none_set, off_corpus

ANSWERS = {
    **{f"q{n}": [("tsh", 0.5 + n / 100), ("hba1c", 0.9 if n == 3 else 0.1)] for n in range(20)},
    "cat": [("tsh", 0.2)],
    "dog": [("tsh", 0.6)],
    "fox": [],
}
ANSWERABLE = answerable_set(*(asked(f"q{n}", "tsh", lang="ru" if n % 2 else "en") for n in range(20)))
NONE = none_set(off_corpus("cat"), off_corpus("dog", lang="en"), off_corpus("fox"))


async def test_the_gate_is_bypassed_and_the_best_score_counts_whatever_its_rank() -> None:
    engine = StandIn(ANSWERS)
    report = await calibrate([ANSWERABLE, NONE], engine)
    assert {request.min_score for request in engine.requests} == {0.0}
    assert report.threshold == 0.51, "one of twenty may be lost; the fourth stands at 0.9"
    assert report.by_lang["all"].recommended.false_abstention == 0.05


async def test_each_language_is_told_apart_under_the_one_threshold() -> None:
    report = await calibrate([ANSWERABLE, NONE], StandIn(ANSWERS), present=0.1)
    both, ru, en = (report.by_lang[lang] for lang in ("all", "ru", "en"))
    assert (both.answerable, both.unanswerable) == (20, 3)
    assert (ru.answerable, ru.unanswerable, ru.recommended.missed_abstention) == (10, 2, 0.0)
    assert (en.answerable, en.unanswerable, en.recommended.missed_abstention) == (10, 1, 1.0)
    assert ru.present is not None
    assert ru.present.missed_abstention == 0.5, "a question without any document has the score 0"


async def test_a_crash_is_left_out_and_told() -> None:
    report = await calibrate([ANSWERABLE, NONE], StandIn({**ANSWERS, "q0": OSError(), "cat": OSError()}))
    assert (report.n_scored, report.n) == (21, 23)


async def test_without_a_scored_answerable_case_there_is_no_threshold() -> None:
    with pytest.raises(EvaluationError, match=r"none was given\.$"):
        await calibrate([NONE], StandIn(ANSWERS))
    with pytest.raises(EvaluationError, match=r"none could be scored \(KeyError\)\.$"):
        await calibrate([ANSWERABLE], StandIn({}))


async def test_the_report_is_told_to_machines_and_to_people() -> None:
    report = await calibrate([ANSWERABLE, NONE], StandIn(ANSWERS), present=0.1)
    told = gate_summary(report, ["calibration"])
    assert told["threshold"] == 0.51
    assert told["by_lang"]["ru"]["curve"][0]["missed_abstention"] == 1.0
    console = Console(width=160)
    with console.capture() as text:
        console.print(gate_table(report, ["calibration"]))
    assert "0.5100 · recommended: loses at most 5%" in text.get()
    assert "0.1000 · in use" in text.get()
    assert text.get().count("0.1000 ") == 2, "above the table, and once in it"
