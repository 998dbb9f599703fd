"""A run told to people, as tables."""

import pytest
from rich.console import Console

from engine.cli.eval_tables import cases_table, run_table, runs_table
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


def test_what_went_wrong_is_told_with_what_stood_first_and_the_question(run: RecordedRun) -> None:
    console = Console(width=140)
    with console.capture() as text:
        console.print(cases_table(run))
    rows = [[cell.strip() for cell in line.split("│")[1:-1]] for line in text.get().splitlines() if "│" in line]
    assert rows == [
        ["expect_none", "[red]", "abstention", "tsh.en 0.800", "[red]"],
        ["retrieval", "a", "OSError", "—", "a"],
    ]
