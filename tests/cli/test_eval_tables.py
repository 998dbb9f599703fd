"""A run told to people, as tables."""

import re
from dataclasses import replace

import pytest
from rich.console import Console

from engine.cli.eval_tables import cases_table, gate_table, run_table, runs_table
from engine.evaluation.calibrate import GateReport, LanguageGate
from engine.evaluation.gate_report import curve, gate_point
from engine.evaluation.records import RecordedRun, recorded
from tests.evaluation.stand_in import head, measured


@pytest.fixture
async def run() -> RecordedRun:
    return await measured()


def test_tables_show_figures_intervals_counts_and_marks_as_they_are_written(run: RecordedRun) -> None:
    console = Console(width=140)
    with console.capture() as text:
        console.print(run_table(run))
        console.print(runs_table([run, recorded(head(status="failed"))]))
    told = text.get()
    assert "1.000 [0.207, 1.000] n 1 of 2" in told
    assert "checkpoint 0.75, stretch 0.85" in told
    assert "1 of 3 cases could not be scored: OSError." in told
    assert "abstention by kind: vet 0.00 (n 1)" in told
    assert "[bold]" in told
    assert "—" in told


@pytest.mark.parametrize("width", [60, 80, 140])
def test_a_list_of_runs_cuts_nothing_whatever_the_width(run: RecordedRun, width: int) -> None:
    label = "a-label-without-a-break-that-no-column-of-sixty-can-hold"
    labelled = replace(run, head=replace(run.head, label=label))
    console = Console(width=width)
    with console.capture() as text:
        console.print(runs_table([labelled, recorded(head(status="cancelled"))]))
    told = text.get()
    assert "…" not in told
    assert {labelled.head.short_id, "2026-11-30 12:05", "recall@4", "documents"} <= {
        cell.strip() for line in told.splitlines() for cell in re.split("[│┃]", line)
    }
    rows = [line.split("│")[1:-1] for line in told.splitlines() if "│" in line]
    assert "".join(row[-1].strip() for row in rows) == label
    assert ("left out for want of width" in told) == (width < 140)


def test_no_runs_are_an_empty_list() -> None:
    console = Console(width=80)
    with console.capture() as text:
        console.print(runs_table([]))
    assert "run" in text.get()


@pytest.mark.parametrize("width", [60, 80])
def test_a_gate_report_cuts_nothing_and_names_its_sets(width: int) -> None:
    answerable, none = [0.2, 0.55, 0.9, 0.95], [0.1, 0.3]
    gate = LanguageGate(
        4, 2, gate_point(0.55, answerable, none), gate_point(0.38, answerable, none), curve(answerable, none)
    )
    report = GateReport(0.55, 0.05, 6, 6, dict.fromkeys(("all", "ru", "en"), gate))
    console = Console(width=width)
    with console.capture() as text:
        console.print(gate_table(report, ["calibration_retrieval", "calibration_none"]))
    told = " ".join(text.get().split())
    assert "…" not in told
    assert "Over the sets calibration_retrieval, calibration_none" in told
    assert "0.3800 · in use 0.5500 · recommended: loses at most 5%" in told


def test_what_went_wrong_is_told_with_what_stood_first_and_the_question(run: RecordedRun) -> None:
    console = Console(width=140)
    with console.capture() as text:
        console.print(cases_table(run))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.get().splitlines() if "│" in line]
    assert rows == [
        ["expect_none", "[red]", "abstention", "tsh.en 0.800", "[red]"],
        ["retrieval", "a", "OSError", "—", "a"],
    ]
