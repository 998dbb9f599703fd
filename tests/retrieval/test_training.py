"""Training on a small world where the right answer is known, and the model that is shipped."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.knowledge.corpus import DEFAULT_CORPUS, load_corpus
from engine.models.base import ModelError
from engine.retrieval.evidence import FEATURES, Evidence
from engine.retrieval.rank import rank_trained, score_chunks
from engine.retrieval.relevance import calibration
from engine.retrieval.trained import GATE_FEATURES, TrainedModel, gate_rows, save, trained_model
from engine.retrieval.training import Passage, Sample, Space, choose_threshold, train
from tests.retrieval.candidates import candidate

SPACES = [Space("use512", 0.0), Space("nano384", 0.7)]
NAMES = ("use512", "nano384")
TOPICS = ("iron", "salt", "sleep")


def sample(at: int, topic: str | None, lang: str) -> Sample:
    """A question whose vectors point to its topic; one on nothing points elsewhere and finds everything a little."""
    noise = np.random.default_rng(at)
    direction = TOPICS.index(topic) if topic else 3
    vectors = {name: (np.eye(5)[direction] + noise.normal(0, 0.15, 5)).tolist() for name in NAMES}
    near = [
        candidate(name, cosine=(0.6 if name == topic else 0.2, 0.8), lexical=4.0 if name == topic else 0.2)
        for name in TOPICS
    ]
    return Sample(f"{lang}-{topic}-{at}", lang, (topic,) if topic else (), vectors, near, {})


def samples(first: int, count: int) -> list[Sample]:
    return [
        sample(first + at * 8 + place * 2 + side, topic, lang)
        for at in range(count)
        for place, topic in enumerate((*TOPICS, None))
        for side, lang in enumerate(("ru", "en"))
    ]


TITLES = [Passage(topic, {name: (3 * np.eye(5)[at]).tolist() for name in NAMES}) for at, topic in enumerate(TOPICS)]
PASSAGES = [Passage(topic, {name: np.eye(5)[at].tolist() for name in NAMES}) for at, topic in enumerate(TOPICS)]


@pytest.fixture(scope="module")
def learnt() -> TrainedModel:
    return train(samples(0, 12), samples(1_000, 6), PASSAGES, TITLES, SPACES, {"corpus": "none"})


def ranked(model: TrainedModel, asked: Sample) -> list[tuple[str | None, float]]:
    chunks = score_chunks(asked.candidates, NAMES, calibration(NAMES))
    found = rank_trained(chunks, asked.lang, model, asked.vectors, asked.named)
    return [(item.best.candidate.topic, item.score) for item in found]


def test_what_was_learnt_holds_on_questions_that_were_not_seen(learnt: TrainedModel) -> None:
    answerable, none = [], []
    for asked in samples(5_000, 5):
        topic, score = ranked(learnt, asked)[0]
        (answerable if asked.topics else none).append(score)
        if asked.topics:
            assert topic == asked.topics[0]
    assert max(none) < learnt.coefficients.threshold
    assert min(answerable) > max(none)


def test_training_does_not_depend_on_the_order_of_its_rows(learnt: TrainedModel) -> None:
    other = train(samples(0, 12)[::-1], samples(1_000, 6)[::-1], PASSAGES, TITLES, SPACES, {"corpus": "none"})
    assert other.coefficients == learnt.coefficients
    assert np.array_equal(other.projection.weights, learnt.projection.weights)


def test_a_saved_model_is_the_one_that_is_read(learnt: TrainedModel, tmp_path: Path) -> None:
    save(learnt, tmp_path)
    first = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    read = trained_model(NAMES, tmp_path)
    assert read is not None
    assert read.coefficients.model_copy(update={"arrays": ""}) == learnt.coefficients
    asked = samples(9_000, 1)[0]
    assert ranked(read, asked) == ranked(learnt, asked)
    save(read, tmp_path)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == first


def test_files_of_two_models_are_refused(learnt: TrainedModel, tmp_path: Path) -> None:
    save(learnt, tmp_path)
    (tmp_path / "other.yaml").write_bytes((tmp_path / "use512+nano384.yaml").read_bytes())
    (tmp_path / "other.npz").write_bytes((tmp_path / "use512+nano384.npz").read_bytes())
    with pytest.raises(ModelError, match="train retrieval"):
        trained_model(("other",), tmp_path)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("first_chunk:", "first_chunkk:"),
        ("threshold:", "threshold: x"),
        ("arrays: ", "arrays: 0"),
        ("gate_intercept: ", "gate_intercept: .inf #"),
        ("gate_intercept: ", "gate_intercept: .nan #"),
        ("- 0.7", ""),
    ],
)
def test_a_damaged_file_is_told_in_one_line(learnt: TrainedModel, tmp_path: Path, old: str, new: str) -> None:
    save(learnt, tmp_path)
    path = tmp_path / "use512+nano384.yaml"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    with pytest.raises(ModelError, match="train retrieval") as told:
        trained_model(NAMES, tmp_path)
    assert "\n" not in str(told.value)


def test_arrays_of_another_training_are_refused(learnt: TrainedModel, tmp_path: Path) -> None:
    save(learnt, tmp_path)
    path = tmp_path / "use512+nano384.npz"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(ModelError, match="train retrieval"):
        trained_model(NAMES, tmp_path)


def test_spaces_that_nothing_was_learnt_for_have_no_model(tmp_path: Path) -> None:
    assert trained_model(NAMES, tmp_path) is None


@pytest.mark.parametrize("topic", [None, "iron"])
def test_training_needs_both_kinds_of_questions(topic: str | None) -> None:
    with pytest.raises(ValueError, match="does not"):
        train([sample(at, topic, "ru") for at in range(8)], [], PASSAGES, TITLES, SPACES, {})


def test_the_threshold_keeps_what_it_must_in_the_worst_language_on_average_over_the_sets() -> None:
    many = [at / 100 for at in range(100)]
    assert choose_threshold([{"ru": many, "en": [0.9] * 40}]) == 0.05
    assert choose_threshold([{"ru": many}, {"en": [0.01, *[0.8] * 18]}]) == 0.01
    # A small set and a large one: a tenth of the one and none of the other.
    assert choose_threshold([{"ru": [0.2, *[0.9] * 9]}, {"ru": [0.7] * 500}]) == 0.7
    assert choose_threshold([]) == 0.0


def test_the_margin_is_the_lead_of_the_first_and_the_lag_of_all_others() -> None:
    evidence = Evidence(("a", "b", "c"), np.zeros((3, len(FEATURES))))
    rows = gate_rows(evidence, np.asarray([1.0, 4.0, 2.5]), 0.3, words=4, unknown=1)
    at = GATE_FEATURES.index("margin")
    assert rows[:, at].tolist() == [-3.0, 1.5, -1.5]
    assert rows[:, GATE_FEATURES.index("unknown")].tolist() == [0.25] * 3


def test_one_candidate_has_no_rival(learnt: TrainedModel) -> None:
    asked = samples(7_000, 1)[0]
    assert len(ranked(learnt, replace(asked, candidates=asked.candidates[:1]))) == 1
    assert ranked(learnt, replace(asked, candidates=[])) == []


def test_the_shipped_model_knows_every_topic_of_the_corpus() -> None:
    shipped = trained_model(NAMES)
    assert shipped is not None
    assert {document.topic for document in load_corpus(DEFAULT_CORPUS)} == set(shipped.projection.topics)
    assert 0 < shipped.coefficients.threshold < 1
    assert shipped.coefficients.provenance["documents"] == 272
