"""The classifiers beside the rules: what they learn, what they keep, and that they only ever add an escalation."""

from collections.abc import Sequence
from dataclasses import replace
from math import isclose
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.evaluation.model_card import FOLDER as CARDS
from engine.evaluation.train_guards import Share, figures, load_texts, train_guard, with_corpus
from engine.guardrails.classifier import FOLDER, OUTPUT, REFUSAL, URGENT, Reader, load, ngrams, reader, save
from engine.guardrails.learning import LabelledText, choose_threshold, learn
from engine.guardrails.output import CLASSIFIER as OUTPUT_CLASSIFIER
from engine.guardrails.output import OutputGuard
from engine.guardrails.rules import load_rules
from engine.guardrails.urgent import CLASSIFIER, CRISIS, UrgentGate
from engine.models.base import ModelError, Vectors
from engine.models.registry import embedded
from engine.text.normalise import normalise

KINDS = ("cardiac", "suicide", "shark")


class TopicEncoder:
    """Points where the text's telling word does; a fault can be set off."""

    space, dimension, sentence_vectors, model = "topics8", 8, False, "topics/1"
    words = ("chest", "die", "bite", "lab", "cake", "cinema", "vet", "thanks")

    def __init__(self) -> None:
        self.broken = False

    def queries(self, texts: Sequence[str]) -> Vectors:
        if self.broken:
            raise ModelError("The model topics/1 failed.")
        rows = [[float(word in text.casefold()) + 0.01 for word in self.words] for text in texts]
        return np.asarray(rows, np.float32) / np.linalg.norm(rows, axis=1, keepdims=True).astype(np.float32)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self.queries(texts)


ENCODER = TopicEncoder()


def labelled(hand: str, lang: str, at: int) -> LabelledText:
    """A text with one of the encoder's words; the first three are what is looked for."""
    place = at % len(ENCODER.words)
    text = f"{hand} {lang} says {ENCODER.words[place]} {at}"
    kind = KINDS[place] if place < len(KINDS) else "other"
    vectors = {ENCODER.space: ENCODER.queries([text])[0].tolist()}
    return LabelledText(f"{hand}-{lang}-{at:03d}", hand, lang, text, place < len(KINDS), kind, vectors, place in (0, 4))


ROWS = [labelled(hand, lang, at) for hand in ("h1", "h2", "h3") for lang in ("ru", "en") for at in range(24)]


def trained(rows: Sequence[LabelledText] = ROWS):
    found, _ = learn(
        rows, [ENCODER.space], specificity=0.95, with_kinds=True, provenance={"models": {ENCODER.space: ENCODER.model}}
    )
    return found


@pytest.fixture(scope="module")
def read() -> Reader:
    found = Reader(trained(), [ENCODER])
    found.threshold = 0.5  # in so small a world the lowest threshold lies right beside the harmless texts
    return found


def test_what_was_learnt_holds_for_a_writer_who_was_not_seen(read: Reader) -> None:
    texts = [f"h4 en says {word} 5" for word in ENCODER.words]
    found = read.read(texts, [False] * len(texts))
    assert [chance >= read.threshold for chance, _ in found] == [True] * 3 + [False] * 5
    assert [kind for _, kind in found[:3]] == list(KINDS)


def test_the_order_of_rows_does_not_matter() -> None:
    one, other = trained(), trained(ROWS[::-1])
    assert one.blend == other.blend
    assert np.array_equal(one.kernel.support, other.kernel.support)
    assert np.array_equal(one.ngrams, other.ngrams)


def test_a_saved_classifier_is_the_one_that_is_read(tmp_path: Path) -> None:
    first = trained()
    save("urgent.topics8", first, tmp_path)
    known = reader("urgent", [ENCODER], tmp_path)
    assert known is not None
    texts = [row.text for row in ROWS[:10]]
    assert known.read(texts, [True] * 10) == Reader(first, [ENCODER]).read(texts, [True] * 10)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    again = load("urgent.topics8", tmp_path)
    assert again is not None
    save("urgent.topics8", again, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("threshold: ", "threshold: 7 #"),
        ("intercept: ", "intercept: .nan #"),
        ("arrays: ", "arrays: 0"),
        ("rules:", "rulez:"),
    ],
)
def test_damaged_files_are_told_in_one_line(tmp_path: Path, old: str, new: str) -> None:
    save("urgent.topics8", trained(), tmp_path)
    path = tmp_path / "urgent.topics8.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    load.cache_clear()
    with pytest.raises(ModelError, match="anamnesis train urgent") as told:
        reader("urgent", [ENCODER], tmp_path)
    assert "\n" not in str(told.value)


def test_a_classifier_of_another_version_of_the_encoder_is_not_used(tmp_path: Path) -> None:
    other = trained()
    save(
        "urgent.topics8", replace(other, blend=other.blend.model_copy(update={"provenance": {"models": {}}})), tmp_path
    )
    assert reader("urgent", [ENCODER], tmp_path) is None
    assert reader("nothing", [ENCODER], tmp_path) is None


@pytest.mark.parametrize("rows", [[row for row in ROWS if row.label], [row for row in ROWS if row.hand == "h1"], []])
def test_training_needs_both_labels_and_two_hands(rows: list[LabelledText]) -> None:
    with pytest.raises(ValueError, match="two hands"):
        trained(rows)


@given(
    st.lists(st.tuples(st.floats(0, 1), st.booleans(), st.sampled_from(["ru", "en"])), min_size=1, max_size=60),
    st.floats(0.5, 0.99),
)
def test_the_threshold_leaves_as_many_alone_as_it_must(rows: list[tuple[float, bool, str]], specificity: float) -> None:
    chances = np.asarray([row[0] for row in rows])
    labels = np.asarray([row[1] for row in rows], bool)
    languages = [row[2] for row in rows]
    threshold = choose_threshold(chances, labels, languages, specificity)
    for lang in set(languages):
        of = chances[~labels & (np.asarray(languages) == lang)]
        assert threshold == 0.999 or not len(of) or float((of < threshold).mean()) >= specificity


@given(st.text(max_size=80))
def test_shares_of_ngrams_have_a_length_of_one_whatever_the_case(text: str) -> None:
    found = ngrams(text)
    assert not found or isclose(sum(share * share for share in found.values()), 1.0)
    assert bool(found) == bool(normalise(text).split())
    assert ngrams(normalise(text)) == found


RULES = """
layer: urgent
defaults: {category: cardiac, since: "2026-12-01"}
rules:
  - id: test.certain
    languages: [en]
    patterns: ['{w}crushing{w}']
    hits: [it is crushing me]
    passes: [nothing]
  - id: test.hint
    mode: evidence
    languages: [en]
    patterns: ['{w}pressure{w}']
    hits: [a pressure on me]
    passes: [nothing]
"""


@pytest.fixture
def rules(tmp_path: Path):
    (tmp_path / "urgent_test.yaml").write_text(RULES, encoding="utf-8")
    return load_rules("urgent_*.yaml", tmp_path)


def test_it_only_adds_to_what_the_rules_are_certain_of(rules, read: Reader) -> None:
    gate = UrgentGate(rules, read)
    assert gate.check("crushing cake").rule_id == "test.certain"
    assert gate.check("my chest").rule_id == CLASSIFIER
    assert not gate.check("h4 en says cake 5, pressure").urgent
    assert not gate.check("h4 en says cake 5").urgent


def test_what_is_only_evidence_escalates_where_no_classifier_reads(rules) -> None:
    assert UrgentGate(rules).check("pressure on a cake").rule_id == "test.hint"
    broken = TopicEncoder()
    broken.broken = True
    gate = UrgentGate(rules, Reader(trained(), [broken]))
    assert gate.check("pressure on a cake").rule_id == "test.hint"
    assert not gate.check("a cake").urgent
    assert not gate.check("\u200b").urgent


def test_its_kind_is_told_and_a_crisis_goes_before_what_a_rule_named(rules, read: Reader) -> None:
    gate = UrgentGate(rules, read)
    assert gate.check("I want to die").kind == CRISIS
    assert gate.check("pressure, I want to die").kind == CRISIS
    assert gate.check("pressure in the chest").kind == "cardiac"
    assert gate.check("a bite").kind == "other"


def test_an_answer_is_read_sentence_by_sentence(read: Reader) -> None:
    guard = OutputGuard(reader=read)
    text = "h4 en says cake 5. It is your chest. h4 en says thanks 4."
    verdict = guard.check(text)
    assert (verdict.status, verdict.rule_ids, verdict.categories) == ("blocked", (OUTPUT_CLASSIFIER,), ("cardiac",))
    assert [text[start:end] for start, end in verdict.spans] == ["It is your chest."]
    assert guard.check("h4 en says cake 5. 1. 2.").status == "ok"
    assert guard.check("").status == "ok"


def test_an_answer_that_the_classifier_cannot_read_is_not_shown() -> None:
    broken = TopicEncoder()
    broken.broken = True
    assert OutputGuard(reader=Reader(trained(), [broken])).check("A cake.").status == "guard_error"


@pytest.mark.parametrize(("name", "least", "hands"), [(URGENT, 1_500, 5), (REFUSAL, 1_000, 4), (OUTPUT, 1_000, 4)])
def test_the_sets_are_large_and_of_several_hands(name: str, least: int, hands: int) -> None:
    cases = load_texts(name).cases
    for lang in ("ru", "en"):
        of = [case for case in cases if case.lang == lang]
        assert len(of) >= least
        assert 0.3 <= sum(case.label for case in of) / len(of) <= 0.7
    assert len({case.id.split("-")[0] for case in cases}) >= hands


@pytest.mark.parametrize("name", [URGENT, REFUSAL, OUTPUT])
def test_the_shipped_classifiers_are_of_the_shipped_sets_and_have_their_cards(name: str) -> None:
    files = load_texts(name).files
    shipped = sorted(path.stem for path in FOLDER.glob(f"{name}.*.yaml"))
    assert shipped
    for stem in shipped:
        known = load(stem)
        assert known is not None
        assert known.blend.provenance["sets"] == files
        assert f"{known.blend.threshold:.3f}" in (CARDS / f"{stem}.md").read_text(encoding="utf-8")
    assert reader(name, embedded()[:1]) is not None


def test_the_card_counts_what_the_classifier_adds(tmp_path: Path) -> None:
    (tmp_path / "topics").mkdir()
    lines = [
        f'{{"id": "{row.id}", "lang": "{row.lang}", "text": "{row.text}", "label": {str(row.label).lower()}, '
        f'"kind": "{row.kind}", "added": "2026-12-01"}}'
        for row in ROWS
    ]
    (tmp_path / "topics" / "hands.jsonl").write_text("\n".join(lines), encoding="utf-8")
    texts = with_corpus(load_texts("topics", tmp_path), {"ru": ["о кино"], "en": ["on cinema", "on cinema"]}, 5)
    assert len(texts.cases) == len(ROWS) + 2
    found = train_guard(
        texts, [ENCODER], lambda text: "chest" in text, specificity=0.95, with_kinds=True, provenance={"revision": "r"}
    )
    told = figures(found, lambda text: False)
    assert told["en"]["sensitivity"].value == 1.0
    assert told["ru"]["specificity"].value >= 0.95
    assert told["en"]["rules alone, sensitivity"].value == pytest.approx(1 / 3)
    assert set(told["found"]) == set(KINDS)
    assert Share.of([]).n == 0
