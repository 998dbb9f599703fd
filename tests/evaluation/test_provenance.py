"""Where figures come from: what is kept, and what must not be."""

import json
import os
import platform
import subprocess
from pathlib import Path

import pytest
from pydantic import SecretStr

from engine.evaluation.provenance import (
    Scoring,
    git_state,
    machine,
    packages,
    provenance,
    settings_snapshot,
    trained_model_hash,
)
from engine.settings import Settings
from tests.evaluation.stand_in import answerable_set, asked


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one commit; git's own settings of this machine are left out."""
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    root = tmp_path / "project"
    (root / "evalruns" / "history").mkdir(parents=True)
    (root / "code.py").write_text("1\n")
    git(root, "init", "-q")
    git(root, "add", ".")
    git(root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "first")
    return root


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, text=True).stdout.strip()


def test_a_clean_checkout_is_told_by_its_commit(checkout: Path) -> None:
    assert git_state(checkout) == (git(checkout, "rev-parse", "HEAD"), False)


@pytest.mark.parametrize("change", ["code.py", "new.py"])
def test_a_change_or_a_new_file_makes_it_dirty(checkout: Path, change: str) -> None:
    (checkout / change).write_text("2\n")
    assert git_state(checkout).dirty


def test_a_recorded_run_does_not_make_the_next_one_dirty(checkout: Path) -> None:
    (checkout / "evalruns" / "history" / "run.json").write_text("{}")
    assert not git_state(checkout).dirty


def test_outside_a_checkout_the_revision_is_unknown(tmp_path: Path, checkout: Path) -> None:
    assert git_state(tmp_path) == ("unknown", True)
    inside_another = checkout / "evalruns"
    assert git_state(inside_another) == ("unknown", True)
    assert git_state(tmp_path / "absent") == ("unknown", True)


def test_before_the_first_commit_the_revision_is_unknown(tmp_path: Path, checkout: Path) -> None:
    git(tmp_path, "init", "-q", "empty")
    assert git_state(tmp_path / "empty") == ("unknown", True)


def test_without_git_the_revision_is_unknown(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert git_state(checkout) == ("unknown", True)


def test_neither_secrets_nor_places_are_kept_of_the_settings() -> None:
    settings = Settings(
        state_dir=Path("/srv/secret-place"),
        engine_url=SecretStr("postgresql://u:secret-word@secret-place/db"),
        hash_key=SecretStr("secret-word"),
        llm_key=SecretStr("secret-word"),
        llm_url="http://secret-place:1",
        api_host="secret-place",
        llm_model="writer",
        relevance_threshold=0.3,
        pool=80,
    )
    kept = settings_snapshot(settings)
    assert "secret" not in json.dumps(kept).replace("**", "")
    assert not [name for name in kept if "key" in name]
    assert (kept["pool"], kept["relevance_threshold"], kept["llm_model"]) == (80, 0.3, "writer")


def test_versions_are_those_of_what_is_installed() -> None:
    import numpy

    versions = packages()
    assert versions["numpy"] == numpy.__version__
    assert "pytest" not in versions


def test_a_record_names_sets_models_seed_and_kind_of_machine_and_no_host() -> None:
    eval_set = answerable_set(asked("a", "tsh"))
    record = provenance([eval_set], {"embedder": "use"}, Scoring("trained over use", 0.3, "5ca1ab1e"), 7)
    assert record["sets"] == {"retrieval": {"kind": "retrieval", "cases": 1, "hash": eval_set.hash}}
    assert (record["models"], record["seed"]) == ({"embedder": "use"}, 7)
    assert (record["scorer"], record["threshold"]) == ("trained over use", 0.3)
    assert record["trained_model"] == "5ca1ab1e"
    assert record["python"] == platform.python_version()
    assert platform.node() not in machine().values()


@pytest.mark.parametrize("changed", ["a+b.yaml", "a+b.npz"])
def test_a_trained_model_is_told_by_both_its_files(tmp_path: Path, changed: str) -> None:
    for name in ("a+b.yaml", "a+b.npz", "a.yaml", "a.npz"):
        (tmp_path / name).write_bytes(b"weights")
    before = trained_model_hash(["a", "b"], tmp_path)
    assert before == trained_model_hash(["a", "b"], tmp_path)
    (tmp_path / "a.yaml").write_bytes(b"of another model")
    assert before == trained_model_hash(["a", "b"], tmp_path)
    (tmp_path / changed).write_bytes(b"other weights")
    assert before != trained_model_hash(["a", "b"], tmp_path)


def test_what_moves_from_one_file_to_the_other_is_a_change(tmp_path: Path) -> None:
    found = set()
    for description, weights in ((b"ab", b"c"), (b"a", b"bc")):
        (tmp_path / "a.yaml").write_bytes(description)
        (tmp_path / "a.npz").write_bytes(weights)
        found.add(trained_model_hash(["a"], tmp_path))
    assert len(found) == 2


def test_spaces_that_nothing_was_trained_for_have_no_hash(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_bytes(b"half of it")
    assert trained_model_hash(["a"], tmp_path) is None
    assert trained_model_hash(["use512", "nano384"]) is not None
