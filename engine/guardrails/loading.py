"""Reads rule files; what is wrong in one is a `RuleFileError` that names the file, the rule and the spot."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args

import yaml

from engine.guardrails.matching import Cue, Excuse, Matcher, Where
from engine.guardrails.patterns import PatternError, check, compile_pattern, expand

Layer = Literal["urgent", "refusal", "output", "injection"]
Mode = Literal["enforce", "evidence", "shadow", "off"]
Scope = Literal["sentence", "text"]
Severity = Literal["low", "medium", "high"]


class RuleFileError(ValueError):
    """A rule file that cannot be used."""


@dataclass(frozen=True)
class Exemption:
    """What excuses a match of a rule, and where it must stand for that."""

    pattern: str
    where: Where = "overlap"
    unless: str | None = None
    unless_anywhere: str | None = None


@dataclass(frozen=True)
class Pattern:
    """A pattern of a rule; `others` must be in the same sentence too, anywhere."""

    text: str
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Rule:
    """A rule as its file states it, with the file's defaults filled in."""

    id: str
    layer: Layer
    category: str
    languages: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    exceptions: tuple[Exemption, ...]
    scope: Scope
    severity: Severity
    mode: Mode
    since: str
    hits: tuple[str, ...]
    passes: tuple[str, ...]
    file: str


_RULE_KEYS = frozenset(Rule.__dataclass_fields__) - {"file"} | {"use"}
_EXCEPTION_KEYS = frozenset({"pattern", "where", "unless", "unless_anywhere", "use"})
_PARTS = ("pattern", "unless", "unless_anywhere")
_LINE_BREAK = re.compile(r"\n[ ]*")
_FILE_KEYS = frozenset({"layer", "defaults", "macros", "words", "sets", "rules"})


def load_files(paths: Iterable[Path], shared: Iterable[Path] = ()) -> list[tuple[Rule, Matcher]]:
    """The rules of the files with their matchers, in order.

    What the `shared` files declare serves every file, and each of them the ones after it.
    """
    common: _Book | None = None
    for path in shared:
        common = _Book(path, common)
    out: list[tuple[Rule, Matcher]] = []
    seen: dict[str, str] = {}
    for path in paths:
        book = _Book(path, common)
        for raw in book.rules:
            rule, matcher = book.build(raw)
            if rule.id in seen:
                raise RuleFileError(f"{path.name}: rule {rule.id}: the id is already in {seen[rule.id]}")
            seen[rule.id] = path.name
            out.append((rule, matcher))
    return out


class _Book:
    """One rule file."""

    def __init__(self, path: Path, common: _Book | None = None) -> None:
        self.name = path.name
        try:
            raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeError, yaml.YAMLError) as error:
            raise RuleFileError(f"{path.name}: cannot be read: {error}") from error
        top = self._mapping(raw, "the file", _FILE_KEYS)
        self.macros: dict[str, str] = dict(common.macros) if common else {}
        self.sets: dict[str, tuple[Exemption, ...]] = dict(common.sets) if common else {}
        for name, words in self._mapping(top.get("words") or {}, "words").items():
            self.macros[str(name)] = "|".join(str(word).replace(" ", "[ \n]+") for word in words)
        for name, macro in self._mapping(top.get("macros") or {}, "macros").items():
            self.macros[str(name)] = self._pattern(macro, f"macro {name}")
        for name, macro in self.macros.items():
            self._expand(macro, f"macro {name}")
        for name, entries in self._mapping(top.get("sets") or {}, "sets").items():
            self.sets[str(name)] = self._exceptions(entries, f"set {name}")
        self.defaults = self._mapping(top.get("defaults") or {}, "defaults", _RULE_KEYS)
        self.layer = top.get("layer")
        self.rules = top.get("rules") or []

    def _fail(self, where: str, why: object) -> RuleFileError:
        return RuleFileError(f"{self.name}: {where}: {why}")

    def _mapping(self, raw: Any, where: str, keys: frozenset[str] | None = None) -> Mapping[str, Any]:
        if not isinstance(raw, Mapping):
            raise self._fail(where, f"a mapping is wanted, not {type(raw).__name__}")
        if keys is not None and (unknown := {str(key) for key in raw} - keys):
            raise self._fail(where, f"unknown keys: {', '.join(sorted(unknown))}")
        return raw

    def _strings(self, raw: Any, where: str) -> tuple[str, ...]:
        if isinstance(raw, str):
            return (raw,)
        if not isinstance(raw, list) or not all(isinstance(one, str) for one in raw):
            raise self._fail(where, "a list of strings is wanted")
        return tuple(raw)

    def _pattern(self, raw: Any, where: str) -> str:
        """A pattern; one that is broken over lines is put together without the breaks."""
        if not isinstance(raw, str):
            raise self._fail(where, f"a pattern is a string, not {type(raw).__name__}")
        return _LINE_BREAK.sub("", raw)

    def _patterns(self, raw: Any, where: str) -> tuple[Pattern, ...]:
        if not isinstance(raw, list):
            raise self._fail(where, "patterns are a list")
        out: list[Pattern] = []
        for entry in raw:
            if isinstance(entry, Mapping):
                parts = self._mapping(entry, where, frozenset({"all"})).get("all")
                first, *others = [self._pattern(one, where) for one in self._strings(parts or [], where)] or [""]
                if not first:
                    raise self._fail(where, "all: an empty list")
                out.append(Pattern(first, tuple(others)))
            else:
                out.append(Pattern(self._pattern(entry, where)))
        return tuple(out)

    def _exceptions(self, raw: Any, where: str) -> tuple[Exemption, ...]:
        if not isinstance(raw, list):
            raise self._fail(where, "exceptions are a list")
        out: list[Exemption] = []
        for entry in raw:
            if isinstance(entry, str):
                out.append(Exemption(self._pattern(entry, where)))
                continue
            one = self._mapping(entry, where, _EXCEPTION_KEYS)
            if "use" in one:
                out.extend(self._set(one["use"], where))
                continue
            place = one.get("where", "overlap")
            if place not in get_args(Where):
                raise self._fail(where, f"where: {place}; known are {', '.join(get_args(Where))}")
            if "pattern" not in one:
                raise self._fail(where, "an exception without a pattern")
            parts = {key: self._pattern(one[key], where) for key in _PARTS if key in one}
            out.append(Exemption(where=cast(Where, place), **parts))
        return tuple(out)

    def _set(self, name: Any, where: str) -> tuple[Exemption, ...]:
        if name not in self.sets:
            raise self._fail(where, f"use: {name}: no such set")
        return self.sets[name]

    def _choice(self, raw: Mapping[str, Any], key: str, kind: Any, where: str, default: str | None = None) -> Any:
        value = raw.get(key, self.defaults.get(key, default))
        if value not in get_args(kind):
            raise self._fail(where, f"{key}: {value}; known are {', '.join(get_args(kind))}")
        return value

    def build(self, raw: Any) -> tuple[Rule, Matcher]:
        """One rule of this file, compiled."""
        where = f"rule {raw.get('id', '?')}" if isinstance(raw, Mapping) else "a rule"
        given = self._mapping(raw, where, _RULE_KEYS)
        value = {**self.defaults, **given}
        if missing := [key for key in ("id", "category", "languages", "patterns") if not value.get(key)]:
            raise self._fail(where, f"missing: {', '.join(missing)}")
        exceptions = self._exceptions(value.get("exceptions") or [], where)
        for name in self._strings(value.get("use") or [], where):
            exceptions += self._set(name, where)
        rule = Rule(
            id=str(value["id"]),
            layer=self._choice({"layer": given.get("layer", self.layer)}, "layer", Layer, where),
            category=str(value["category"]),
            languages=self._strings(value["languages"], where),
            patterns=self._patterns(value["patterns"], where),
            exceptions=exceptions,
            scope=self._choice(given, "scope", Scope, where, "sentence"),
            severity=self._choice(given, "severity", Severity, where, "high"),
            mode=self._choice(given, "mode", Mode, where, "enforce"),
            since=str(value.get("since", "")),
            hits=self._strings(value.get("hits") or [], where),
            passes=self._strings(value.get("passes") or [], where),
            file=self.name,
        )
        return rule, self._compile(rule, where)

    def _compile(self, rule: Rule, where: str) -> Matcher:
        looks = [f"(?:{self._expand(one.text, where, loose=True)})" for one in rule.patterns]
        cues = tuple(
            Cue(self._compiled(one.text, where), tuple(self._compiled(other, where) for other in one.others))
            for one in rule.patterns
        )
        excuses = tuple(
            Excuse(
                self._compiled(one.pattern, where),
                one.where,
                one.unless and self._compiled(one.unless, where),
                one.unless_anywhere and self._compiled(one.unless_anywhere, where),
            )
            for one in rule.exceptions
        )
        return Matcher(compile_pattern("|".join(looks)), cues, excuses)

    def _compiled(self, source: str, where: str) -> Any:
        return compile_pattern(self._expand(source, where))

    def _expand(self, source: str, where: str, *, loose: bool = False) -> str:
        try:
            check(source)
            expanded = expand(source, self.macros, loose=loose)
            compile_pattern(expanded)
        except PatternError as error:
            raise self._fail(where, f"pattern {source!r}: {error}") from error
        return expanded
