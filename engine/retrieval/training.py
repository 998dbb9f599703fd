"""Learning a topic head, an order and a gate from labelled questions: deterministic, given the same rows in any order.

Features that come out of the head are made out of fold: a question's evidence for training the order and the gate never
rests on a head that has seen that question.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.models.kernel import KernelClassifier
from engine.retrieval.evidence import FEATURES, Evidence, gather
from engine.retrieval.trained import GATE_FEATURES, Coefficients, Projection, TrainedModel, gate_rows
from engine.storage.search_store import Candidate

FOLDS = 5
SECOND_SPACE_SCALE = 3.0
"""The second encoder's vectors lie in a narrow cone: centred, they are this much shorter than the first one's."""
PASSAGE_WEIGHT = 0.5
"""Weight of a passage of the corpus or a name beside 1 of a question, in the topic head."""
HEAD_C = 30.0
"""Inverse regularisation of the topic head; of 3, 10 and 30 the best log-loss out of fold."""
OFF_CORPUS_C = 5.0
ORDER_C = 1.0
GATE_C = 1.0
MAX_LOST = 0.05
"""Share of answerable questions that the threshold may lose in each language, on average over the sets that set it."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Sample:
    """A labelled question with what the search found for it; no topics: nothing in the corpus answers it."""

    id: str
    lang: str
    topics: tuple[str, ...]
    vectors: Mapping[str, Sequence[float]]
    candidates: Sequence[Candidate]
    named: Mapping[str, frozenset[int]]
    """Slots of the words by which the question names a topic."""


@dataclass(frozen=True)
class Passage:
    """A passage of the corpus, or a name, with its topic, one vector a space."""

    topic: str
    vectors: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Space:
    """An encoder's space as the features see it."""

    name: str
    floor: float


def train(
    samples: Sequence[Sample],
    held_out: Sequence[Sample],
    passages: Sequence[Passage],
    names: Sequence[Passage],
    spaces: Sequence[Space],
    provenance: Mapping[str, Any],
) -> TrainedModel:
    """Learn from `samples`; the threshold also keeps what it must of `held_out`, which nothing else learns from.

    The head also learns the topics of `passages`, and of their `names`, encoded as questions are.

    Raises:
        ValueError: there are no answerable samples, or no unanswerable ones.
    """
    samples = sorted(samples, key=lambda sample: sample.id)
    if not any(sample.topics for sample in samples) or all(sample.topics for sample in samples):
        raise ValueError("Training needs questions that the corpus answers and questions that it does not.")
    frame = _Frame.of(samples, passages, names, spaces)
    folds = np.asarray([int(hashlib.sha256(sample.id.encode()).hexdigest(), 16) % FOLDS for sample in samples])
    parts: list[Projection] = [frame.fit(folds != fold) for fold in range(FOLDS)]
    floors = [space.floor for space in spaces]
    rows = [_Row.of(sample, parts[fold], floors, spaces) for sample, fold in zip(samples, folds, strict=True)]
    order = _fit_order(rows)
    gate, intercept = _fit_gate(rows, order)
    unfinished = TrainedModel(
        Coefficients(
            spaces=tuple(space.name for space in spaces),
            floors=tuple(floors),
            order={name: round(float(value), 4) for name, value in zip(FEATURES, order, strict=True)},
            gate={name: round(float(value), 4) for name, value in zip(GATE_FEATURES, gate, strict=True)},
            gate_intercept=round(intercept, 4),
            threshold=0.0,
            provenance=dict(provenance),
        ),
        frame.fit(np.ones(len(samples), bool)),
    )
    unseen = [_Row.of(sample, unfinished.projection, floors, spaces) for sample in held_out]
    threshold = choose_threshold([_top_scores(rows, unfinished), _top_scores(unseen, unfinished)])
    coefficients = unfinished.coefficients.model_copy(update={"threshold": threshold})
    return TrainedModel(coefficients, unfinished.projection)


def choose_threshold(sets: Sequence[Mapping[str, Sequence[float]]], max_lost: float = MAX_LOST) -> float:
    """The highest threshold, in thousandths, that loses at most `max_lost` of the answerable questions a language;
    a score equal to it is kept. Sets are of different hands and count alike, however many questions each has."""
    languages = {lang for by_lang in sets for lang in by_lang}

    def lost(threshold: float, lang: str) -> float:
        shares = [float(np.mean(np.asarray(by_lang[lang]) < threshold)) for by_lang in sets if by_lang.get(lang)]
        return float(np.mean(shares)) if shares else 0.0

    steps = (step / 1000 for step in range(1000, -1, -1))
    return next(
        step for step in steps if (languages and all(lost(step, lang) <= max_lost for lang in languages)) or not step
    )


@dataclass(frozen=True)
class _Frame:
    """Vectors of samples and passages, centred and scaled, with their labels."""

    topics: tuple[str, ...]
    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    questions: Floats
    labels: NDArray[np.int64]
    """Topic of each question; -1: none."""
    texts: Floats
    """Passages and names."""
    text_labels: NDArray[np.int64]

    @classmethod
    def of(
        cls, samples: Sequence[Sample], passages: Sequence[Passage], names: Sequence[Passage], spaces: Sequence[Space]
    ) -> "_Frame":
        topics = tuple(sorted({sample.topics[0] for sample in samples if sample.topics}))
        place = {topic: at for at, topic in enumerate(topics)}
        questions = _joined([sample.vectors for sample in samples], spaces)
        sizes = [len(samples[0].vectors[space.name]) for space in spaces]
        scale = np.repeat([1.0, SECOND_SPACE_SCALE][: len(spaces)], sizes)
        centre = questions.mean(axis=0)
        texts: list[Floats] = []
        labels: list[int] = []
        # Passages and names lie elsewhere than questions: each kind is centred by its own mean.
        for kind in (passages, names):
            known = [text for text in kind if text.topic in place]
            if known:
                vectors = _joined([text.vectors for text in known], spaces)
                texts.append((vectors - vectors.mean(axis=0)) * scale)
                labels += [place[text.topic] for text in known]
        return cls(
            topics,
            centre.astype(np.float32),
            scale.astype(np.float32),
            (questions - centre) * scale,
            np.asarray([place[sample.topics[0]] if sample.topics else -1 for sample in samples]),
            np.vstack([np.empty((0, len(scale))), *texts]),
            np.asarray(labels, np.int64),
        )

    def fit(self, chosen: NDArray[np.bool_]) -> Projection:
        """The head of the chosen questions and all passages, and what tells questions on nothing in the corpus."""
        from sklearn.linear_model import LogisticRegression

        on_topic = chosen & (self.labels >= 0)
        head = LogisticRegression(C=HEAD_C, max_iter=300)
        head.fit(
            np.vstack([self.questions[on_topic], self.texts]),
            np.concatenate([self.labels[on_topic], self.text_labels]),
            sample_weight=np.r_[np.ones(on_topic.sum()), np.full(len(self.texts), PASSAGE_WEIGHT)],
        )
        weights = np.zeros((len(self.scale), len(self.topics)))
        bias = np.full(len(self.topics), -50.0)
        # Two topics have one column of weights in this library.
        coefficients = head.coef_ if len(head.classes_) > 2 else np.vstack([-head.coef_, head.coef_]) / 2
        intercepts = head.intercept_ if len(head.classes_) > 2 else np.r_[-head.intercept_, head.intercept_] / 2
        weights[:, head.classes_], bias[head.classes_] = coefficients.T, intercepts
        return Projection(
            self.topics,
            self.centre,
            self.scale,
            weights.astype(np.float16).astype(np.float32),
            bias.astype(np.float32),
            KernelClassifier.learn(self.questions[chosen], self.labels[chosen] < 0, OFF_CORPUS_C),
        )


def _joined(vectors: Sequence[Mapping[str, Sequence[float]]], spaces: Sequence[Space]) -> Floats:
    return np.asarray([np.concatenate([of_text[space.name] for space in spaces]) for of_text in vectors])


@dataclass(frozen=True)
class _Row:
    """One question's evidence."""

    sample: Sample
    topics: tuple[str, ...]
    evidence: Floats
    off_corpus: float

    @classmethod
    def of(cls, sample: Sample, projection: Projection, floors: Sequence[float], spaces: Sequence[Space]) -> "_Row":
        features = projection.features(sample.vectors, [space.name for space in spaces])
        found = gather(sample.candidates, floors, projection.log_probabilities(features), sample.named)
        return cls(sample, found.topics, found.values, projection.off_corpus.decision(features))

    @property
    def right(self) -> NDArray[np.bool_]:
        return np.asarray([topic in self.sample.topics for topic in self.topics], bool)


def _fit_order(rows: Sequence[_Row]) -> Floats:
    """Weights of a conditional logit: the chance of the right topics among all that were found."""
    from scipy.optimize import minimize

    answerable = [(row.evidence, row.right) for row in rows if row.right.any()]

    def loss(weights: Floats) -> tuple[float, Floats]:
        total, slope = weights @ weights / (2 * ORDER_C), weights / ORDER_C
        for evidence, right in answerable:
            scores = evidence @ weights
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            found = chances[right].sum()
            total -= np.log(found)
            slope = slope + (chances - np.where(right, chances, 0.0) / found) @ evidence
        return float(total), slope

    return np.asarray(minimize(loss, np.ones(len(FEATURES)), jac=True, method="L-BFGS-B").x, np.float64)


def _fit_gate(rows: Sequence[_Row], order: Floats) -> tuple[Floats, float]:
    """Weights of raw features and the intercept: whether the best document answers."""
    from sklearn.linear_model import LogisticRegression

    best = np.asarray([_best_row(row, order) for row in rows if row.topics])
    labels = np.asarray([bool(row.sample.topics) for row in rows if row.topics])
    middle, spread = best.mean(axis=0), best.std(axis=0)
    spread[spread < 1e-6] = np.inf  # what never varies says nothing
    model = LogisticRegression(C=GATE_C, max_iter=1_000).fit((best - middle) / spread, labels)
    weights = model.coef_[0] / spread
    return weights, float(model.intercept_[0] - weights @ middle)


def _best_row(row: _Row, order: Floats) -> Floats:
    best: Floats = _gate_rows(row, order)[int(np.argmax(row.evidence @ order))]
    return best


def _gate_rows(row: _Row, order: Floats) -> Floats:
    first = row.sample.candidates[0]
    return gate_rows(
        Evidence(row.topics, row.evidence), row.evidence @ order, row.off_corpus, first.terms, first.unknown
    )


def _top_scores(rows: Sequence[_Row], model: TrainedModel) -> dict[str, list[float]]:
    """The gate's best score of each answerable question, by language; 0 where nothing was found."""
    order = np.asarray([model.coefficients.order[name] for name in FEATURES])
    scores: dict[str, list[float]] = {}
    for row in rows:
        if row.sample.topics:
            best = float(model.scores(_gate_rows(row, order)).max()) if row.topics else 0.0
            scores.setdefault(row.sample.lang, []).append(best)
    return scores
