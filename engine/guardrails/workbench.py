"""For whoever writes rules: do the examples hold, what hits a text, and what would a change newly catch or let go.

Pure over rule sets: nothing is stored, and no text is kept.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from engine.guardrails.loading import Rule, RuleFileError, load_files
from engine.guardrails.rules import RULES, Hit, RuleSet, load_rules


@dataclass(frozen=True)
class BrokenExample:
    """An example that does not do what its rule says."""

    rule_id: str
    file: str
    expected: Literal["hit", "pass"]
    text: str


@dataclass(frozen=True)
class Found:
    """A hit with the piece of the text that it stands on."""

    hit: Hit
    piece: str


@dataclass(frozen=True)
class Change:
    """A text on which two rule sets disagree in a layer."""

    place: int
    """Of the text in what was given, from 0."""
    layer: str
    before: tuple[str, ...]
    """Rules that are enforced or evidence and hit, by the old set."""
    after: tuple[str, ...]

    @property
    def kind(self) -> Literal["newly hit", "newly passed", "other rules"]:
        """Whether the layer now says something of the text, nothing, or the same by other rules."""
        if bool(self.before) == bool(self.after):
            return "other rules"
        return "newly hit" if self.after else "newly passed"


def read_rules(place: Path | None) -> RuleSet:
    """The rules of a file, of a folder, or the shipped ones. Shared words (`_*.yaml`) are those beside the file, or the
    shipped ones where there are none. Raises RuleFileError."""
    if place is None:
        return load_rules()
    if place.is_dir():
        return load_rules(directory=place)
    if not place.is_file():
        raise RuleFileError(f"{place}: there is no such file or folder of rules.")
    shared = sorted(place.parent.glob("_*.yaml")) or sorted(RULES.glob("_*.yaml"))
    return RuleSet(load_files([place], shared))


def broken_examples(rules: RuleSet) -> list[BrokenExample]:
    """Examples that do not hold, each looked at with its own rule switched on. Raises RuleError."""
    return [broken for rule in rules.rules for broken in _broken(rule, rules)]


def explain(text: str, rules: RuleSet) -> list[Found]:
    """All hits of a text, shadow rules and evidence too, in text order. Raises RuleError."""
    return [Found(hit, text[hit.start : hit.end]) for hit in rules.match(text)]


def differences(old: RuleSet, new: RuleSet, texts: Iterable[str]) -> Iterator[Change]:
    """Texts on which both sets disagree, layer by layer, in the order of the texts. Raises RuleError."""
    for place, text in enumerate(texts):
        before, after = _by_layer(old.match(text)), _by_layer(new.match(text))
        for layer in sorted({*before, *after}):
            if before.get(layer, ()) != after.get(layer, ()):
                yield Change(place, layer, before.get(layer, ()), after.get(layer, ()))


def _broken(rule: Rule, rules: RuleSet) -> Iterator[BrokenExample]:
    if rule.mode == "off":
        return
    wanted: Sequence[tuple[Literal["hit", "pass"], tuple[str, ...]]] = (("hit", rule.hits), ("pass", rule.passes))
    for expected, texts in wanted:
        for text in texts:
            hit = any(found.rule_id == rule.id for found in rules.match(text))
            if hit != (expected == "hit"):
                yield BrokenExample(rule.id, rule.file, expected, text)


def _by_layer(hits: Iterable[Hit]) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for hit in hits:
        if hit.counts:
            found.setdefault(hit.layer, {})[hit.rule_id] = None
    return {layer: tuple(sorted(ids)) for layer, ids in found.items()}
