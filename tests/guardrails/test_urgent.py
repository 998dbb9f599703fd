"""The urgent gate as its caller sees it."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.guardrails.rules import RuleError, load_rules
from engine.guardrails.urgent import KINDS, UrgentGate, UrgentVerdict

GATE = UrgentGate()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("давит за грудиной, отдаёт в челюсть", "cardiac"),
        ("my chest feels like it is being crushed", "cardiac"),
        ("у папы перекосило рот и он мычит", "stroke"),
        ("her left side suddenly went numb", "stroke"),
        ("задыхаюсь, губы синие", "breathing"),
        ("he is choking", "breathing"),
        ("раздуло язык после креветок", "anaphylaxis"),
        ("my throat is closing", "anaphylaxis"),
        ("кровь из раны не останавливается", "bleeding"),
        ("I am throwing up blood", "bleeding"),
        ("у сына судороги", "seizure"),
        ("she is having a seizure", "seizure"),
        ("дед без сознания", "unconscious"),
        ("my flatmate won't wake up", "unconscious"),
        ("не хочу больше жить", "suicide"),
        ("I am going to end my life", "suicide"),
        ("дочка проглотила батарейку, чувствует себя хорошо", "overdose"),
        ("I swallowed 40 pills and feel fine", "overdose"),
        ("упал с лестницы, ударился головой, рвота", "head_injury"),
        ("banged my head and keep vomiting", "head_injury"),
        ("жар и шея не гнётся", "meningitis"),
        ("the rash does not fade under a glass", "meningitis"),
        ("на 35 неделе отошли воды", "obstetric"),
        ("I am 30 weeks pregnant and bleeding", "obstetric"),
        ("новорожденный, температура 38,6", "infant_fever"),
        ("our newborn has a fever", "infant_fever"),
        ("сахар 1,9, весь дрожит", "hypoglycaemia"),
        ("blood sugar is 39", "hypoglycaemia"),
        ("острая боль в животе", "abdominal"),
        ("unbearable stomach pain", "abdominal"),
        ("внезапно ослеп на один глаз", "vision"),
        ("I suddenly can't see out of my right eye", "vision"),
        ("ребёнок обварился кипятком", "burns"),
        ("third degree burns on my hand", "burns"),
        ("сработал датчик угарного газа", "carbon_monoxide"),
        ("the carbon monoxide alarm is going off", "carbon_monoxide"),
        ("муж меня избил", "violence"),
        ("my boyfriend strangled me", "violence"),
        ("давление 210 на 120", "hypertensive_crisis"),
        ("my blood pressure is 205/118", "hypertensive_crisis"),
    ],
)
def test_kinds(text: str, kind: str) -> None:
    verdict = GATE.check(text)
    assert verdict.urgent
    assert verdict.kind == kind
    assert verdict.rule_id is not None
    assert verdict.rule_id.startswith("urgent.")


def test_every_kind_has_rules_in_both_languages() -> None:
    rules = load_rules("urgent_*.yaml").rules
    assert {rule.category for rule in rules} == set(KINDS)
    for kind in KINDS:
        languages = {language for rule in rules if rule.category == kind for language in rule.languages}
        assert languages == {"ru", "en"}, kind


@pytest.mark.parametrize(
    "text",
    [
        "ДАВИТ В ГРУДИ",
        "давит в груди!!!",
        "д а в и т   в   г р у д и",
        "дaвит в гpуди",
        "да\u00adвит в гру\u200bди",
        "u menya davit v grudi",
        "давит\nв груди",
        "chest  pain",
        "chest\u00a0pain",
        "ｃｈｅｓｔ　ｐａｉｎ",
    ],
)
def test_dress_changes_nothing(text: str) -> None:
    assert GATE.check(text).urgent


@pytest.mark.parametrize("text", ["", "   ", "😀", "???", "a\x00b", "\ud800", "x" * 1_000_000])
def test_odd_input_is_no_emergency_and_no_error(text: str) -> None:
    assert not GATE.check(text).urgent


def test_a_failure_is_never_a_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(text: str) -> None:
        raise MemoryError

    monkeypatch.setattr("engine.guardrails.rules.fold", broken)
    with pytest.raises(RuleError):
        GATE.check("давит в груди")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("болит в груди и хочу покончить с собой", "suicide"),
        ("Crushing chest pain. I want to kill myself.", "suicide"),
        ("хочу умереть, болит в груди", "suicide"),
        ("Crushing chest pain and her left side suddenly went numb", "cardiac"),
    ],
)
def test_the_crisis_line_is_never_lost_behind_another_kind(text: str, kind: str) -> None:
    verdict = GATE.check(text)
    assert verdict.kind == kind
    assert verdict.rule_id is not None
    assert verdict.rule_id.startswith(f"urgent.{kind}")


def test_shadow_rules_are_named_and_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "urgent_x.yaml").write_text(
        "layer: urgent\ndefaults: {languages: [en], mode: shadow}\n"
        "rules: [{id: x, category: cardiac, patterns: ['{w}pain']}, {id: y, category: stroke, patterns: ['{w}numb']}]\n"
    )
    gate = UrgentGate(load_rules(directory=tmp_path))
    assert gate.check("numb, pain. Pain.") == UrgentVerdict(False, shadow=("y", "x"))


@pytest.mark.parametrize(
    ("text", "is_urgent"),
    [
        ("My glucose is 12, am I diabetic", False),
        ("glucose 12", False),
        ("glucose 18 after meal", False),
        ("blood sugar is 10", False),
        ("my blood sugar was 25", False),
        ("fasting glucose is 11.2", False),
        ("My glucose is 12 and I'm confused about units", False),
        ("глюкоза 12", False),
        ("сахар 15 что это значит", False),
        ("glucose 25 mg/dl", True),
        ("blood sugar 30 mg per dl", True),
        ("my sugar is 38", True),
        ("my sugar is 30 and I'm shaking", True),
        ("blood sugar 28 and she is confused", True),
        ("glucose 2.3", True),
    ],
)
def test_sugar_without_a_unit(text: str, is_urgent: bool) -> None:
    assert GATE.check(text).urgent is is_urgent
