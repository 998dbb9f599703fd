"""A run told to machines, to people and to the history."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from engine.evaluation.history import file_name, published, render
from engine.evaluation.records import RecordedRun, recorded
from engine.evaluation.report import cases_of, summary
from tests.evaluation.stand_in import RUN_ID, head, measured


@pytest.fixture
async def run() -> RecordedRun:
    return await measured()


def test_the_summary_has_the_form_of_the_contract(run: RecordedRun) -> None:
    told = summary(run)
    assert told["run"] == str(RUN_ID)
    assert told["corpus"] == {"hash": "c0ffee", "documents": 34, "chunks": 170}
    assert told["git"] == {"revision": "abc123", "dirty": False}
    assert told["settings"] == {"pool": 40}
    retrieval = told["sets"]["retrieval"]
    assert (retrieval["n"], retrieval["n_scored"]) == (2, 1)
    assert retrieval["metrics"]["recall@4"] == {
        "value": 1.0,
        "ci": [pytest.approx(0.2065, abs=1e-4), 1.0],
        "n_scored": 1,
    }
    assert list(retrieval["by_lang"]) == ["ru", "en"]
    assert retrieval["by_lang"]["en"]["metrics"]["mrr"] == {"value": None, "ci": None, "n_scored": 0}
    assert told["sets"]["expect_none"]["metrics"]["abstention"]["value"] == 0.0
    json.dumps(told, allow_nan=False)


def test_a_run_without_results_is_told_without_sets() -> None:
    assert summary(recorded(head(status="failed")))["sets"] == {}


def test_cases_come_set_by_set_in_the_order_of_their_ids(run: RecordedRun) -> None:
    assert [(case["set"], case["id"], case["error"]) for case in cases_of(run)] == [
        ("expect_none", "[red]", None),
        ("retrieval", "a", "OSError"),
        ("retrieval", "b", None),
    ]


def test_the_file_is_json_with_sorted_keys_and_one_line_a_case(run: RecordedRun) -> None:
    text = render(run)
    told = json.loads(text)
    assert told == json.loads(json.dumps({**summary(run), "cases": cases_of(run)}))
    assert list(told) == sorted(told)
    assert sum(line.startswith("  {") for line in text.splitlines()) == len(run.cases)
    assert text.endswith("}\n")
    assert render(run) == text


def test_the_file_is_named_by_time_and_run(run: RecordedRun) -> None:
    assert file_name(run.head) == "20261130T120507Z-12345678.json"


def test_the_file_appears_when_all_went_well(run: RecordedRun, tmp_path: Path) -> None:
    folder = tmp_path / "history"
    with published(run, folder) as path:
        assert not path.exists()
    assert [file.name for file in folder.iterdir()] == [file_name(run.head)]


def test_nothing_is_left_of_the_file_when_something_failed(run: RecordedRun, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="full"), published(run, tmp_path):
        raise OSError("full")
    assert list(tmp_path.iterdir()) == []


def test_a_figure_that_is_no_number_is_refused(run: RecordedRun, tmp_path: Path) -> None:
    broken = replace(run, metrics=(replace(run.metrics[0], value=float("nan")),))
    with pytest.raises(ValueError, match="not JSON compliant"), published(broken, tmp_path):
        pass
    assert list(tmp_path.iterdir()) == []
