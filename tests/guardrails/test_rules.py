"""The rule engine: every rule's own examples, and the mechanics that every rule relies on."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

from engine.guardrails.clauses import split_clauses
from engine.guardrails.rules import Rule, RuleError, RuleFileError, RuleSet, load_rules

RULES = load_rules()
LAYERS = {
    layer: load_rules(pattern)
    for layer, pattern in {
        "urgent": "urgent_*.yaml",
        "refusal": "refusal*.yaml",
        "output": "output*.yaml",
        "injection": "injection*.yaml",
    }.items()
}

FILE = """
layer: output
macros:
  amount: '{n}{s}?(?:mg|мг)'
sets:
  quoted: [{pattern: '{w}label{s}says{s}{end}', where: before}]
rules:
  - id: take
    category: dose
    languages: [en, ru]
    patterns:
      - '{w}take{gap:3}{amount}{w}'
      - '{w}прими{l}{gap:3}{amount}{w}'
      - '{w}йод{w}'
      - all: ['{w}swallow{l}', '{amount}', '{w}twice{w}']
      - |-
          {w}break{s}
          this{w}
    exceptions:
      - '{w}not{s}take{w}'
      - {pattern: "{w}can't{s}tell{gap:3}dose{w}", where: clause}
      - {use: quoted}
"""


def rules_of(tmp_path: Path, text: str = FILE, name: str = "output.yaml") -> RuleSet:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return load_rules(directory=tmp_path)


def spans(rules: RuleSet, text: str) -> list[str]:
    return [text[hit.start : hit.end] for hit in rules.match(text)]


def examples(kind: str) -> list[object]:
    return [
        pytest.param(rule, text, id=f"{rule.id}-{number}")
        for rule in RULES.rules
        for number, text in enumerate(getattr(rule, kind))
    ]


@pytest.mark.parametrize(("rule", "text"), examples("hits"))
def test_rule_hits_what_it_says_it_hits(rule: Rule, text: str) -> None:
    assert rule.id in {hit.rule_id for hit in LAYERS[rule.layer].match(text)}


@pytest.mark.parametrize(("rule", "text"), examples("passes"))
def test_rule_passes_what_it_says_it_passes(rule: Rule, text: str) -> None:
    assert rule.id not in {hit.rule_id for hit in LAYERS[rule.layer].match(text)}


@pytest.mark.parametrize("rule", RULES.rules, ids=lambda rule: rule.id)
def test_every_gate_rule_has_examples_of_both_kinds(rule: Rule) -> None:
    if rule.layer in ("urgent", "refusal"):
        assert rule.hits
        assert rule.passes


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Please take 500 mg.", ["take 500 mg"]),
        ("I can't tell you the dose. But take 500 mg.", ["take 500 mg"]),
        ("I can't tell you the dose, but take 500 mg", ["take 500 mg"]),
        ("Do not take 400 mg, take 500mg", ["take 500mg"]),
        ("Do not take 500 mg", []),
        ("The label says take 500 mg", []),
        ("The label says a lot; take 500 mg", ["take 500 mg"]),
        ("Примите 500\u00a0м\u200bг", ["Примите 500\u00a0м\u200bг"]),
        ("примите 500\u202fмг", ["примите 500\u202fмг"]),
        ("t a k e   500 mg", ["t a k e   500 mg"]),
        ("tаkе 500 mg", ["tаkе 500 mg"]),
        ("take 5OO mg", ["take 5OO mg"]),
        ("Take\n500 mg", ["Take\n500 mg"]),
        ("😀😀 take 500 mg 😀", ["take 500 mg"]),
        (unicodedata.normalize("NFD", "принимайте йод"), [unicodedata.normalize("NFD", "йод")]),
        ("swallow it: 500 mg, twice", ["swallow"]),
        ("Twice I was told of 500 mg to swallow", ["swallow"]),
        ("swallow 500 mg", []),
        ("swallow 500 mg. Twice.", []),
        ("break this", ["break this"]),
        ("йодный", []),
        ("retake 500 mgs", []),
        ("", []),
        ("a\x00b", []),
    ],
)
def test_matches_in_the_original_text(tmp_path: Path, text: str, found: list[str]) -> None:
    assert spans(rules_of(tmp_path), text) == found


def test_shadow_is_reported_and_not_enforced_and_off_is_silent(tmp_path: Path) -> None:
    shadow = rules_of(tmp_path, FILE.replace("category: dose", "category: dose\n    mode: shadow"))
    [hit] = shadow.match("take 500 mg")
    assert (hit.mode, hit.enforced) == ("shadow", False)
    off = rules_of(tmp_path, FILE.replace("category: dose", "category: dose\n    mode: 'off'"))
    assert off.match("take 500 mg") == []


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("{w}йод{w}", r"\bйод"), ["output.yaml", "take", r"\bйод"]),
        (("{w}йод{w}", "йод[0-9]*("), ["output.yaml", "take", "йод"]),
        (("{w}йод{w}", "a.*b"), ["take", "a.*b", "unbounded"]),
        (("{w}йод{w}", "Йод"), ["take", "Йод"]),
        (("{w}йод{w}", "{nope}"), ["take", "{nope}"]),
        (("{w}йод{w}", "^йод"), ["take", "^йод"]),
        (("use: quoted", "use: lost"), ["take", "lost"]),
        (("where: before", "where: nowhere"), ["quoted", "nowhere"]),
        (("category: dose", "categroy: dose"), ["take", "categroy"]),
        (("layer: output", "layer: outputs"), ["take", "outputs"]),
        (("languages: [en, ru]", "severity: odd\n    languages: [en]"), ["take", "odd"]),
        (("layer: output", "layer: [output"), ["output.yaml"]),
        (("all: ['{w}swallow{l}', '{amount}', '{w}twice{w}']", "all: []"), ["take", "all"]),
        (("- '{w}йод{w}'", "- 7"), ["take", "string"]),
    ],
)
def test_a_bad_file_says_where_it_is_bad(tmp_path: Path, change: tuple[str, str], named: list[str]) -> None:
    with pytest.raises(RuleFileError) as error:
        rules_of(tmp_path, FILE.replace(*change))
    assert all(part in str(error.value) for part in named)


def test_an_id_is_unique_over_files(tmp_path: Path) -> None:
    rules_of(tmp_path)
    with pytest.raises(RuleFileError, match=r"b\.yaml: rule take: .*output"):
        rules_of(tmp_path, FILE, "output_b.yaml")


def test_a_failure_inside_is_a_rule_error_without_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise ValueError(text)

    monkeypatch.setattr("engine.guardrails.rules.fold", broken)
    with pytest.raises(RuleError) as error:
        RULES.match("secret")
    assert "secret" not in str(error.value)


def test_clauses() -> None:
    sentence = 'no fever, but crushing chest pain 2,5 hours - help "now"'
    clauses = split_clauses(sentence)
    at = sentence.index("chest")
    assert sentence[clauses.start_of(at) : clauses.end_of(at)] == " crushing chest pain 2,5 hours"
    assert clauses.start_of(0) == 0
    assert clauses.end_of(len(sentence)) == len(sentence)
