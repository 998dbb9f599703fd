"""Every text stands in both languages, and no page has one of its own."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from console import texts
from engine.wire.metrics import CHECKPOINT, STRETCH

CONSOLE = texts.DIRECTORY.parent
SOURCES = sorted(CONSOLE.rglob("*.py"))
KEYS = set(texts.catalogue("ru"))


def test_both_languages_have_the_same_keys_and_placeholders() -> None:
    russian, english = texts.catalogue("ru"), texts.catalogue("en")
    assert set(russian) == set(english)
    for key, text in english.items():
        assert _placeholders(text) == _placeholders(russian[key]), key
        assert text.strip(), key
        assert russian[key].strip(), key


def test_every_named_key_exists_and_every_key_is_named() -> None:
    used: set[str] = set()
    prefixes: set[str] = set()
    for call in _calls():
        name, first = _name(call), call.args[0] if call.args else None
        if name == "t" and isinstance(first, ast.Constant):
            assert first.value in KEYS, first.value
            used.add(first.value)
        elif name == "t" and isinstance(first, ast.JoinedStr):
            prefixes.add(_prefix(first))
        elif name == "t" and isinstance(first, ast.IfExp):
            used |= {branch.value for branch in (first.body, first.orelse) if isinstance(branch, ast.Constant)}
        elif name in {"title", "begin"} and isinstance(first, ast.Constant):
            used |= {f"{first.value}.title", f"{first.value}.purpose"}
    groups = {"role", "origin", "lang", "chat", "outcome", "guardrail", "judge", "kind", "stage", "metric"}
    unused = {
        key for key in KEYS - used if key.split(".")[0] not in groups and not any(map(key.startswith, prefixes - {""}))
    }
    assert not unused


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(CONSOLE)))
def test_no_element_is_given_a_text_of_its_own(path: Path) -> None:
    for call in _calls([path]):
        if not isinstance(call.func, ast.Attribute) or _owner(call.func) not in {"st", "grid", "ui"}:
            continue
        given = [
            *call.args[:1],
            *(word.value for word in call.keywords if word.arg in {"label", "help", "placeholder"}),
        ]
        for node in given:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and call.func.attr not in _NOT_TEXT:
                assert node.value == "CSV", f"{path.name}:{node.lineno}: {node.value}"


def test_targets_are_written_down_in_one_place_alone() -> None:
    written = {f"{target:.2f}".replace(".", mark) for target in (CHECKPOINT, STRETCH) for mark in ".,"}
    for path in (*SOURCES, *texts.DIRECTORY.glob("*.yaml")):
        assert not [text for text in written if text in path.read_text(encoding="utf-8")], path.name


_NOT_TEXT = {"title", "form", "chat_message"}
"""Calls whose first argument is a key or a name."""


def _calls(paths: list[Path] = SOURCES) -> Iterator[ast.Call]:
    for path in paths:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield node


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _owner(node: ast.Attribute) -> str:
    return node.value.id if isinstance(node.value, ast.Name) else ""


def _prefix(node: ast.JoinedStr) -> str:
    first = node.values[0]
    return str(first.value) if isinstance(first, ast.Constant) else ""


def _placeholders(text: str) -> set[str | None]:
    return {field for _, field, _, _ in string.Formatter().parse(text) if field is not None}
