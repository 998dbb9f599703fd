"""A run told to machines, to people and to the history."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.evaluation.errors import EvaluationError
from engine.evaluation.history import HISTORY, file_name, files, published, read, render
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


async def test_a_file_is_read_again_as_the_run_it_was_made_of(run: RecordedRun, tmp_path: Path) -> None:
    finished = replace(run, head=replace(run.head, finished_at=run.head.started_at))
    with published(finished, tmp_path) as path:
        pass
    assert read(path) == finished
    assert files(tmp_path) == files(path) == (path,)
    assert files(tmp_path / "nowhere") == ()


def test_every_recorded_run_of_the_repository_can_be_read() -> None:
    for path in files(HISTORY):
        assert render(read(path)) == path.read_text(encoding="utf-8"), path.name


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"status": "running"}, "status: "),
        ({"started_at": "2026-11-30T12:05:07"}, "started_at: "),
        ({"run": "7"}, "run: "),
        ({"sets": {}}, "sets: "),
        ({"corpus": {"hash": "a", "documents": -1, "chunks": 1}}, "corpus.documents: "),
        ({"label": float("inf")}, "label: no finite number"),
        ({"settings": {"pool": [1, float("nan")]}}, r"settings\.pool\.1: no finite number"),
        ({"label": "\0"}, "not valid JSON"),
        ({"label": "\ud800"}, "not valid JSON"),
    ],
)
def test_a_file_that_holds_no_run_is_told_by_name_and_fault(
    run: RecordedRun, tmp_path: Path, change: dict[str, object], fault: str
) -> None:
    path = tmp_path / "broken.json"
    at = run.head.started_at.isoformat()
    path.write_text(json.dumps({**summary(run), "cases": cases_of(run), "finished_at": at} | change))
    with pytest.raises(EvaluationError, match=rf"broken\.json: not a recorded run \({fault}"):
        read(path)


METRIC = ("sets", "retrieval", "metrics", "recall@4")
CASE = ("cases", 0)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("corpus", "chunks"), -1),
        (("corpus", "chunks"), 1.0),
        (("corpus", "chunks"), "1"),
        (("corpus", "chunks"), True),
        (("corpus", "chunks"), 2**31),
        (("sets", "retrieval", "n"), -1),
        (("sets", "retrieval", "metrics"), {}),
        (("sets", "retrieval", "by_lang", "en", "metrics"), {}),
        ((*METRIC, "n_scored"), 3),
        ((*METRIC, "n_scored"), -1),
        ((*METRIC, "n_scored"), 0.5),
        ((*METRIC, "value"), 1.5),
        ((*METRIC, "value"), "1"),
        ((*METRIC, "value"), float("nan")),
        ((*METRIC, "ci"), [0.9, 0.1]),
        ((*METRIC, "ci", 1), 1.5),
        ((*CASE, "scores", "abstention"), True),
        ((*CASE, "scores", "abstention"), float("-inf")),
        ((*CASE, "scores", "abstention"), 10**400),
        ((*CASE, "answer", "hits", 0, "score"), "0.8"),
        ((*CASE, "answer", "top_score"), float("nan")),
    ],
)
def test_a_damaged_number_is_told_by_file_and_place(
    run: RecordedRun, tmp_path: Path, place: tuple[str | int, ...], value: object
) -> None:
    told = {**summary(run), "cases": cases_of(run), "finished_at": run.head.started_at.isoformat()}
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(told))
    assert read(path).head.id == RUN_ID
    inner: Any = told
    for step in place[:-1]:
        inner = inner[step]
    inner[place[-1]] = value
    path.write_text(json.dumps(told))
    with pytest.raises(EvaluationError) as caught:
        read(path)
    line = str(caught.value)
    named = re.search(r"damaged\.json: not a recorded run \((.*)\)\.$", line)
    assert named, line
    where = ".".join(map(str, place)).removesuffix(".0").removesuffix(".1")
    assert named[1].replace(": ", ".").startswith(where), line
    assert "\n" not in line


def test_a_number_too_large_for_any_float_is_told_like_one_that_is_none(run: RecordedRun, tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(json.dumps(summary(run)).replace('"pool": 40', '"pool": 1e999'))
    with pytest.raises(EvaluationError, match=r"large\.json: not a recorded run \(settings\.pool: no finite number\)"):
        read(path)


def test_a_case_that_stands_twice_is_refused(run: RecordedRun, tmp_path: Path) -> None:
    path = tmp_path / "twice.json"
    told = {**summary(run), "cases": cases_of(run) * 2, "finished_at": run.head.started_at.isoformat()}
    path.write_text(json.dumps(told))
    with pytest.raises(EvaluationError, match="a case stands there twice"):
        read(path)


def test_a_file_that_was_cut_is_no_run(run: RecordedRun, tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    told = {**summary(run), "cases": cases_of(run), "finished_at": run.head.started_at.isoformat()}
    path.write_text(json.dumps({**told, "cases": told["cases"][:1]}))
    with pytest.raises(EvaluationError, match=r"cut\.json: not a recorded run \(cases: \d+ of set \w+, whose figures"):
        read(path)


def test_no_class_of_the_program_is_named(run: RecordedRun, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    told = {**summary(run), "cases": cases_of(run), "finished_at": run.head.started_at.isoformat(), "corpus": 5}
    for content, fault in (("[]", "x.json: not a recorded run."), (json.dumps(told), "corpus: Input should be an")):
        path.write_text(content)
        with pytest.raises(EvaluationError) as caught:
            read(path)
        assert fault in str(caught.value)
        assert "_" not in str(caught.value).removeprefix(str(tmp_path))


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"<<<<<<< HEAD"])
def test_what_is_no_json_object_is_no_run(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(content)
    with pytest.raises(EvaluationError, match="not a recorded run"):
        read(path)
