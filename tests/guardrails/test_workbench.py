"""The rules' workbench: examples that do not hold, what hits a text, and what a change would do."""

import json
from pathlib import Path

import pytest

from engine.cli.errors import run_guarded
from engine.cli.main import app
from engine.guardrails.rules import RuleFileError
from engine.guardrails.workbench import broken_examples, differences, explain, read_rules

OLD = """
layer: output
defaults: {category: dose, since: "2026-12-01"}
rules:
  - id: test.take
    languages: [en, ru]
    patterns: ['{w}take{s}{n}{w}', '{w}прими{l}{s}{n}{w}']
    exceptions: ['{w}not{s}take{w}']
    hits: [take 5, примите 5]
    passes: [do not take 5]
"""
NEW = (
    OLD.replace("test.take", "test.swallow")
    .replace("take{s}", "(?:take|swallow){s}")
    .replace("    exceptions: ['{w}not{s}take{w}']\n", "")
    + """
  - id: test.watched
    mode: shadow
    languages: [en]
    patterns: ['{w}pill{w}']
    hits: [a pill]
    passes: [a pillow]
"""
)
TEXTS = ["take 5", "swallow 5", "do not take 5", "примите 5", "a pill", "nothing"]


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    paths = tmp_path / "old.yaml", tmp_path / "new.yaml"
    for path, text in zip(paths, (OLD, NEW), strict=True):
        path.write_text(text, encoding="utf-8")
    return paths


def test_an_example_that_does_not_hold_is_named(files: tuple[Path, Path]) -> None:
    assert broken_examples(read_rules(files[0])) == []
    broken = broken_examples(read_rules(files[1]))
    assert [(item.rule_id, item.expected, item.text) for item in broken] == [("test.swallow", "pass", "do not take 5")]


def test_a_text_is_explained_by_rule_mode_and_piece(files: tuple[Path, Path]) -> None:
    found = explain("Take 5 and a pill. Примите 5.", read_rules(files[1]))
    assert [(item.hit.rule_id, item.hit.mode, item.piece) for item in found] == [
        ("test.swallow", "enforce", "Take 5"),
        ("test.watched", "shadow", "pill"),
        ("test.swallow", "enforce", "Примите 5"),
    ]
    assert explain("nothing", read_rules(files[1])) == []


def test_a_change_is_told_text_by_text_and_shadow_rules_change_nothing(files: tuple[Path, Path]) -> None:
    old, new = (read_rules(path) for path in files)
    found = {TEXTS[change.place]: change.kind for change in differences(old, new, TEXTS)}
    assert found == {
        "take 5": "other rules",
        "swallow 5": "newly hit",
        "do not take 5": "newly hit",
        "примите 5": "other rules",
    }
    assert list(differences(old, old, TEXTS)) == []


def test_the_shipped_rules_are_read_by_default_and_a_missing_file_is_told(tmp_path: Path) -> None:
    assert len(read_rules(None).rules) > 100
    with pytest.raises(RuleFileError, match="no such file"):
        read_rules(tmp_path / "none.yaml")


def test_a_file_among_the_shipped_ones_knows_their_shared_words() -> None:
    path = Path(read_rules.__code__.co_filename).parent / "rules" / "urgent_vision.yaml"
    assert broken_examples(read_rules(path)) == []


def run(*words: object) -> int:
    return run_guarded(lambda: app(["rules", *map(str, words)], standalone_mode=False), debug=False)


def test_the_commands_tell_machines_and_people(
    files: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old, new = files
    assert run("test", old) == 0
    assert "0 do not hold" in capsys.readouterr().out
    assert run("test", new, "--json") == 1
    assert [item["rule_id"] for item in json.loads(capsys.readouterr().out)["broken"]] == ["test.swallow"]
    assert run("explain", "a pill", "--rules", new, "--json") == 0
    assert json.loads(capsys.readouterr().out)["hits"][0]["piece"] == "pill"
    texts = tmp_path / "texts.jsonl"
    texts.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    assert run("diff", old, new, "--on", texts, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"output: newly hit": 2, "output: other rules": 2}
    assert [change["line"] for change in told["changes"]] == [1, 2, 3, 4]
    assert run("diff", old, new, "--on", texts) == 0
    assert "6 texts, 4 changed." in capsys.readouterr().out


@pytest.mark.parametrize("line", ["{", '{"words": 1}', '{"text": 5}'])
def test_a_line_that_is_no_text_is_told_by_its_place(
    files: tuple[Path, Path], tmp_path: Path, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = tmp_path / "texts.jsonl"
    texts.write_text(f"plain\n{line}\n", encoding="utf-8")
    assert run("diff", *files, "--on", texts) == 1
    assert capsys.readouterr().err.startswith("Error: texts.jsonl:2: ")
