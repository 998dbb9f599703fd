"""The commands of the evaluation room, over the real engine and a set of a few questions."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.cli.errors import run_guarded
from engine.cli.main import app
from engine.evaluation.provenance import trained_model_hash
from engine.models.registry import embedders
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls

ROWS = {
    "answerable": [
        {"id": "a1", "lang": "ru", "text": "ферритин ниже нормы причины", "topics": ["ferritin"], "style": "keywords"},
        {"id": "a2", "lang": "en", "text": "what raises TSH", "topics": ["tsh"]},
    ],
    "off_corpus": [{"id": "n1", "lang": "en", "text": "qwzx vbnm!!", "kind": "nonsense"}],
}

Outcome = tuple[int, str, str]
Command = Callable[..., Outcome]


@pytest.fixture
def command(
    settings: Settings, seeded: ConnectionUrls, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """Run `anamnesis eval …` on the test database; exit code, standard output, standard error."""
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", str(settings.state_dir))
    monkeypatch.setenv("COLUMNS", "160")

    def run(*arguments: object) -> Outcome:
        words = ["eval", *map(str, arguments)]
        code = run_guarded(lambda: app(words, standalone_mode=False), debug=False)
        return code, *capfd.readouterr()

    return run


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """Options that name the small sets, and a folder for the run's file."""
    options = ["--history", str(tmp_path / "history")]
    for name, rows in ROWS.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), encoding="utf-8")
        options += ["--set-file", str(path)]
    return options


def figures(outcome: Outcome) -> dict[str, Any]:
    code, out, err = outcome
    assert (code, out.count("\n")) == (0, 1), err
    told: dict[str, Any] = json.loads(out)
    return told


def test_a_run_is_recorded_listed_and_shown_as_it_was(command: Command, files: list[str], tmp_path: Path) -> None:
    told = figures(command("run", *files, "--setting", "pool=30", "--label", "small", "--cases", "--json"))
    assert set(told["sets"]) == {"answerable", "off_corpus"}
    assert told["sets"]["answerable"]["metrics"]["recall@4"]["value"] == 1.0
    assert told["sets"]["off_corpus"]["by_lang"]["en"]["metrics"]["abstention"]["value"] == 1.0
    assert told["settings"]["pool"] == 30
    assert told["corpus"]["documents"] > 0
    assert [case["id"] for case in told["cases"]] == ["a1", "a2", "n1"]
    assert figures(command("show", told["run"][:8], "--cases", "--json")) == told
    listed = figures(command("list", "--limit", 1, "--json"))["runs"]
    del told["cases"]
    assert listed == [told]
    assert len(list((tmp_path / "history").iterdir())) == 1


def test_the_same_run_again_gives_the_same_cases(command: Command, files: list[str]) -> None:
    first, second = (figures(command("run", *files, "--cases", "--json")) for _ in range(2))
    assert first["run"] != second["run"]
    assert (first["sets"], first["cases"]) == (second["sets"], second["cases"])


def test_people_see_tables(command: Command, files: list[str]) -> None:
    code, out, _ = command("run", *files, "--cases")
    assert code == 0
    assert "recall@4: checkpoint 0.75, stretch 0.85" in out
    code, out, _ = command("list")
    assert code == 0
    assert "answerable" not in out
    assert "done" in out


def test_the_gate_report_recommends_a_threshold(command: Command, files: list[str]) -> None:
    told = figures(command("gate-report", *files[2:], "--json"))
    assert 0 < told["threshold"] < 1
    assert told["by_lang"]["all"]["present"]["threshold"] > 0
    assert (told["n"], told["n_scored"]) == (3, 3)
    assert told["sets"] == ["answerable", "off_corpus"]
    code, out, _ = command("gate-report", *files[2:])
    assert code == 0
    assert "Over the sets answerable, off_corpus" in out
    assert "recommended: loses at most 5%" in out
    assert "in use" in out


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["run", "--set", "nope"], 2, "There is no set 'nope'. Known sets: calibration_none, "),
        (["run", "--set-file", "nope.jsonl"], 2, "nope.jsonl: No such file or directory."),
        (["run", "--set", "calibration_none"], 2, "calibration_none sets the threshold"),
        (["run", "--setting", "pol=3"], 2, "there is no setting 'pol'. Settings: "),
        (["run", "--setting", "pool"], 2, "'pool' is not KEY=VALUE."),
        (["run", "--setting", "pool=many"], 2, "ANAMNESIS_POOL: Input should be a valid integer"),
        (["run", "--setting", "relevance_threshold=2"], 2, "ANAMNESIS_RELEVANCE_THRESHOLD: a number from 0 to 1"),
        (["import", "nowhere"], 2, "'nowhere' does not exist"),
        (["show", "zzzz"], 1, "There is no run 'zzzz'."),
        (["list", "--limit", "0"], 2, "--limit"),
    ],
)
def test_what_is_asked_wrongly_is_told_in_one_line(
    command: Command, arguments: list[str], code: int, line: str
) -> None:
    ended, out, err = command(*arguments)
    assert (ended, out) == (code, "")
    assert line in err.splitlines()[-1]
    assert "Traceback" not in err


def test_what_the_corpus_does_not_cover_is_left_out_and_told(
    command: Command, files: list[str], tmp_path: Path
) -> None:
    row = {"id": "a3", "lang": "en", "text": "what is a quasar made of", "topics": ["quasars"]}
    with (tmp_path / "answerable.jsonl").open("a", encoding="utf-8") as file:
        file.write("\n" + json.dumps(row))
    told = figures(command("run", *files, "--covered", "--label", "growth", "--json"))
    assert told["left_out"] == {"answerable": 1, "off_corpus": 0}
    assert told["sets"]["answerable"]["n"] == 2
    code, out, _ = command("run", *files, "--covered")
    assert code == 0
    assert "left out, their topics are not in the corpus: answerable 1 of 3, off_corpus 0 of 1" in out
    assert "left_out" not in figures(command("run", *files, "--json"))


def test_the_record_says_which_threshold_was_in_force(command: Command, files: list[str]) -> None:
    calibrated = figures(command("run", *files, "--json"))["settings"]["relevance_threshold"]
    assert 0 < calibrated < 1
    chosen = figures(command("run", *files, "--setting", "relevance_threshold=0.5", "--json"))
    assert chosen["settings"]["relevance_threshold"] == 0.5
    assert chosen["provenance"]["threshold"] == 0.5


def test_the_record_says_what_scored_and_which_trained_model_was_in_force(command: Command, files: list[str]) -> None:
    trained = figures(command("run", *files, "--json"))["provenance"]
    plain = figures(command("run", *files, "--setting", "fusion=rescored", "--json"))["provenance"]
    spaces = [embedder.space for embedder in embedders(Settings())]
    model = trained_model_hash(spaces)
    assert trained["scorer"].startswith("trained over " if model else "similarity over ")
    assert trained["trained_model"] == model
    assert plain["scorer"].startswith("similarity over ")
    assert plain["trained_model"] is None


def test_two_runs_are_compared_with_what_one_of_them_lacks(command: Command, files: list[str], tmp_path: Path) -> None:
    before = figures(command("run", *files, "--json"))["run"]
    fewer = tmp_path / "answerable.jsonl"
    fewer.write_text(fewer.read_text(encoding="utf-8").splitlines()[0], encoding="utf-8")
    after = figures(command("run", *files, "--json"))["run"]
    told = figures(command("compare", before, after, "--json"))
    assert (told["metric"], told["pairs"][0]["n"]) == ("recall@4", 1)
    assert [told["runs"][side]["run"] for side in ("before", "after")] == [before, after]
    assert told["after"] == {"unscored": 0, "missing": 1}
    assert [(case["case_id"], case["why"]) for case in told["regressions"]] == [("a2", "missing")]
    code, out, _ = command("compare", before, after)
    assert code == 0
    assert "after 0 unscored, 1 missing" in out


def test_recorded_runs_are_imported_by_hand(command: Command, files: list[str], tmp_path: Path) -> None:
    figures(command("run", *files, "--json"))
    assert figures(command("import", tmp_path / "history", "--json")) == {"added": [], "known": 1, "faults": []}
    (tmp_path / "history" / "broken.json").write_text("{}")
    code, out, err = command("import", tmp_path / "history")
    assert (code, out) == (1, "0 added, 1 there already, 1 could not be read.\n")
    assert "broken.json: not a recorded run" in err


def test_the_chart_is_drawn_from_the_files_alone(command: Command, tmp_path: Path) -> None:
    out = tmp_path / "figures" / "chart.svg"
    told = figures(command("chart", "--out", out, "--json"))
    assert (told["out"], bool(told["steps"])) == (str(out), True)
    assert out.read_text(encoding="utf-8").startswith("<svg ")


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_without_a_step_of_growth_the_chart_that_is_there_stays(
    command: Command, tmp_path: Path, form: list[str]
) -> None:
    out = tmp_path / "chart.svg"
    out.write_text("drawn before", encoding="utf-8")
    code, told, err = command("chart", "--out", out, "--history", tmp_path / "none", *form)
    assert (code, told, err.count("\n")) == (1, "", 1)
    assert "anamnesis eval run --covered --label growth" in err
    assert out.read_text(encoding="utf-8") == "drawn before"


@pytest.mark.parametrize("name", ["run", "list", "show", "compare", "gate-report", "import", "chart"])
def test_every_command_has_help_with_an_example(command: Command, name: str) -> None:
    code, out, _ = command(name, "--help")
    assert code == 0
    assert f"Example: anamnesis eval {name}" in out
