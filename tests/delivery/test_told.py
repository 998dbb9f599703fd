"""What the program says of itself: README and commands agree, and public names say what they are."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer.main

from engine.cli.main import app
from engine.settings import Settings

ROOT = Path(__file__).parents[2]
ROOMS = ("engine/cli", "engine/evaluation", "engine/models", "engine/wire", "engine/settings.py", "engine/keys.py")

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def commands() -> dict[str, list[str]]:
    """Every command that a person types, with its options."""
    found = {}
    waiting = list(typer.main.get_command(app).commands.items())
    while waiting:
        name, command = waiting.pop()
        if hasattr(command, "commands"):
            waiting += [(f"{name} {inner}", child) for inner, child in command.commands.items()]
        elif not command.hidden:
            found[name] = [option for parameter in command.params for option in parameter.opts]
    return found


def test_readme_names_the_commands_that_have_no_json():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = re.search(r"`--json` for programs \(so not ([^)]*)\)", readme)
    assert named
    without = {name for name, options in commands().items() if "--json" not in options}
    assert set(re.findall(r"`([^`]+)`", named[1])) == without


def test_readme_names_commands_that_are_there():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    known = {name.split()[0] for name in commands()}
    assert set(re.findall(r"(?:^|`|\(|& )anamnesis ([a-z]+)", readme, re.MULTILINE)) <= known


def test_readme_names_every_setting_and_no_other():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    settings = readme.partition("\n## Settings\n")[2].partition("\n## ")[0]
    table = [line.split("|")[1] for line in settings.splitlines() if line.startswith("| `")]
    named = {name for cell in table for name in re.findall(r"`(?:ANAMNESIS)?_([A-Z_]+)`", cell)}
    named |= set(re.findall(r"\bANAMNESIS_([A-Z_]+)=", settings))
    assert named == {name.upper() for name in Settings.model_fields}


def sources() -> list[Path]:
    """The files of the rooms."""
    rooms = [ROOT / room for room in ROOMS]
    return [path for room in rooms for path in ([room] if room.is_file() else sorted(room.rglob("*.py")))]


def public(node: ast.Module | ast.ClassDef, before: str = "") -> Iterator[tuple[str, Documented]]:
    """Classes, functions and methods without an underscore, with their names."""
    for child in node.body:
        if isinstance(child, Documented) and not child.name.startswith("_"):
            yield before + child.name, child
            if isinstance(child, ast.ClassDef):
                yield from public(child, f"{child.name}.")


def promised() -> set[str]:
    """Names that the Protocols of the models explain, for every class that keeps them."""
    tree = ast.parse((ROOT / "engine/models/base.py").read_text(encoding="utf-8"))
    return {name.partition(".")[2] for name, _ in public(tree) if "." in name}


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_every_public_name_says_what_it_is(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = [name for name, node in public(tree) if not ast.get_docstring(node)]
    if path.is_relative_to(ROOT / "engine/models/embedding"):
        silent = [name for name in silent if name.partition(".")[2] not in promised()]
    assert silent == []
