"""Learning a classifier of texts from labelled ones: pure, and deterministic for the same rows in any order.

The blend and the threshold are fitted on scores out of hand: nobody's texts are scored by parts that have seen texts of
the same writer. That is as near as the project's own set comes to texts that its authors never saw.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.guardrails.classifier import BUCKETS, PARTS, Blend, TextClassifier, joined, ngrams, told
from engine.models.kernel import KernelClassifier

KERNEL_C = 5.0
NGRAM_C = 10.0
KIND_C = 3.0
FOLDS = 10
"""Most groups of hands that are left out in turn."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabelledText:
    """A text with its label, one vector a space, and whether a rule hit."""

    id: str
    hand: str
    lang: str
    text: str
    label: bool
    kind: str
    vectors: Mapping[str, Sequence[float]]
    rule_hit: bool
    parts: tuple["LabelledText", ...] = ()
    """Its sentences and windows, where it has some (`engine.guardrails.parts`): it counts by its most telling part."""


@dataclass(frozen=True)
class OutOfHand:
    """What the classifier says of each text without having seen its writer, in the order of ids."""

    rows: tuple[LabelledText, ...]
    probabilities: Floats


def learn(
    given: Sequence[LabelledText],
    spaces: Sequence[str],
    *,
    specificity: float,
    with_kinds: bool,
    provenance: Mapping[str, Any],
) -> tuple[TextClassifier, OutOfHand]:
    """The classifier, and its scores out of hand. The threshold is the lowest one that leaves at least `specificity` of
    the negative texts of each language alone.

    Raises:
        ValueError: there are no rows of one label, or only one hand.
    """
    rows = tuple(sorted(given, key=lambda row: row.id))
    labels = np.asarray([row.label for row in rows], bool)
    hands = sorted({row.hand for row in rows})
    if labels.all() or not labels.any() or len(hands) < 2:
        raise ValueError("Training needs texts of both labels by at least two hands.")
    vectors = _vectors(rows, spaces)
    counts = _matrix([row.text for row in rows])
    folds = np.asarray([hands.index(row.hand) % FOLDS for row in rows])
    pieces = [(at, part) for at, row in enumerate(rows) for part in row.parts]
    owners = np.asarray([at for at, _ in pieces], np.int64)
    piece_vectors = _vectors([part for _, part in pieces], spaces)
    piece_counts = _matrix([part.text for _, part in pieces])
    scores, piece_scores = np.zeros((len(rows), len(PARTS))), np.zeros((len(pieces), len(PARTS)))
    scores[:, 2], piece_scores[:, 2] = [row.rule_hit for row in rows], [part.rule_hit for _, part in pieces]
    for fold in sorted(set(folds.tolist())):
        seen, unseen = folds != fold, folds == fold
        kernel = KernelClassifier.learn(vectors[seen], labels[seen], KERNEL_C)
        weights = _linear(counts[seen], labels[seen], NGRAM_C)
        of = folds[owners] == fold if pieces else np.zeros(0, bool)
        for chosen, into, some_vectors, some_counts in (
            (unseen, scores, vectors, counts),
            (of, piece_scores, piece_vectors, piece_counts),
        ):
            into[chosen, 0] = [kernel.decision(row) for row in some_vectors[chosen]]
            into[chosen, 1] = some_counts[chosen] @ weights[:-1] + weights[-1]
    blend_weights, intercept = _blend(scores, labels)
    probabilities = _told(scores, blend_weights, intercept)
    np.maximum.at(probabilities, owners, _told(piece_scores, blend_weights, intercept))
    kinds = tuple(sorted({row.kind for row in rows if row.label})) if with_kinds else ()
    if len(kinds) < 3:  # two would be told apart by one column, and one by none
        kinds = ()
    blend = Blend(
        spaces=tuple(spaces),
        weights={part: round(float(value), 4) for part, value in zip(PARTS, blend_weights, strict=True)},
        intercept=round(intercept, 4),
        threshold=choose_threshold(probabilities, labels, [row.lang for row in rows], specificity),
        kinds=kinds,
        provenance=dict(provenance),
    )
    classifier = TextClassifier(
        blend,
        KernelClassifier.learn(vectors, labels, KERNEL_C),
        _linear(counts, labels, NGRAM_C).astype(np.float16).astype(np.float32),
        _kind_weights(vectors, rows, kinds).astype(np.float16).astype(np.float32),
    )
    return classifier, OutOfHand(rows, probabilities)


def choose_threshold(
    probabilities: Floats, labels: NDArray[np.bool_], languages: Sequence[str], specificity: float
) -> float:
    """The lowest threshold, in thousandths, that leaves at least `specificity` of the negatives of each language below
    it."""
    lang = np.asarray(languages)
    harmless = [probabilities[~labels & (lang == name)] for name in sorted(set(languages))]
    steps = [step / 1000 for step in range(1, 1000)]
    fits = (step for step in steps if all(float((of < step).mean()) >= specificity for of in harmless if len(of)))
    return next(fits, steps[-1])


def _vectors(rows: Sequence[LabelledText], spaces: Sequence[str]) -> NDArray[np.float32]:
    if not rows:
        return np.empty((0, 0), np.float32)
    return joined([np.asarray([row.vectors[space] for row in rows], np.float32) for space in spaces])


def _matrix(texts: Sequence[str]) -> Any:
    from scipy.sparse import csr_matrix

    counts = [ngrams(text) for text in texts]
    places = np.cumsum([0, *(len(row) for row in counts)])
    columns = np.fromiter((bucket for row in counts for bucket in row), np.int64)
    values = np.fromiter((share for row in counts for share in row.values()), np.float64)
    return csr_matrix((values, columns, places), shape=(len(texts), BUCKETS))


def _linear(rows: Any, labels: NDArray[np.bool_], inverse_regularisation: float) -> Floats:
    from sklearn.linear_model import LogisticRegression

    found = LogisticRegression(C=inverse_regularisation, max_iter=3_000).fit(rows, labels)
    weights: Floats = np.r_[found.coef_[0], found.intercept_]
    return weights


def _told(scores: Floats, weights: Floats, intercept: float) -> Floats:
    """Probabilities as the threshold sees them; see `told`."""
    chances = 1 / (1 + np.exp(-(scores @ weights + intercept)))
    return np.asarray(
        [told(float(chance), rule_hit=bool(hit)) for chance, hit in zip(chances, scores[:, 2], strict=True)], np.float64
    )


def _blend(scores: Floats, labels: NDArray[np.bool_]) -> tuple[Floats, float]:
    weights = _linear(scores, labels, 1.0)
    # A rule speaks for what it looks for, or for nothing: never against it.
    return np.r_[weights[:2], max(0.0, weights[2])], float(weights[3])


def _kind_weights(vectors: NDArray[np.float32], rows: Sequence[LabelledText], kinds: Sequence[str]) -> Floats:
    from sklearn.linear_model import LogisticRegression

    if not kinds:
        return np.zeros((vectors.shape[1] + 1, 0))
    chosen = np.asarray([row.label for row in rows], bool)
    found = LogisticRegression(C=KIND_C, max_iter=2_000).fit(vectors[chosen], [row.kind for row in rows if row.label])
    return np.vstack([found.coef_.T, found.intercept_])
