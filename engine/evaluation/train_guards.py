"""From labelled messages and answers to the classifiers beside the rules, and to their cards."""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError

from engine.evaluation.errors import EvaluationError
from engine.evaluation.sets import SETS
from engine.evaluation.statistics import wilson
from engine.guardrails.classifier import TextClassifier
from engine.guardrails.learning import LabelledText, OutOfHand, learn
from engine.guardrails.parts import parts
from engine.models.base import Embedder

TRAINING = SETS / "training"
BATCH = 64
_PLAIN = re.compile(r"[\W_]+")


class TextCase(BaseModel):
    """A line of a set: what somebody wrote, and whether it is what the guard looks for."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    id: str
    lang: Literal["ru", "en"]
    text: str
    label: bool
    kind: str
    style: str | None = None
    added: str


@dataclass(frozen=True)
class TextSet:
    """The texts of all hands, each once, and the hashes of their files."""

    cases: tuple[TextCase, ...]
    files: dict[str, str]


def load_texts(name: str, folder: Path = TRAINING) -> TextSet:
    """The set of a guard; of texts that two hands wrote the first is kept.

    Raises:
        EvaluationError: a file is not in order, or there is none.
    """
    paths = sorted((folder / name).glob("*.jsonl"))
    if not paths:
        raise EvaluationError(f"{folder / name}: no *.jsonl to learn from.")
    known: dict[str, TextCase] = {}
    ids: set[str] = set()
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            case = _case(line, f"{path.name}:{number}")
            if case.id in ids:
                raise EvaluationError(f"{path.name}:{number}: the id {case.id} stands twice.")
            ids.add(case.id)
            known.setdefault(_PLAIN.sub(" ", case.text.casefold()).strip(), case)
    return TextSet(
        tuple(known.values()), {path.stem: hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in paths}
    )


def with_corpus(texts: TextSet, sentences: Mapping[str, Sequence[str]], count: int) -> TextSet:
    """The same, and `count` sentences a language of the corpus as another hand's harmless ones: what the program itself
    says must pass. Which ones is settled by their hashes."""
    added: list[TextCase] = []
    for lang in ("ru", "en"):
        chosen = sorted(set(sentences[lang]), key=lambda text: hashlib.sha256(text.encode()).hexdigest())[:count]
        added += [
            TextCase(id=f"corpus-{lang}-{at}", lang=lang, text=text, label=False, kind="corpus", added="")
            for at, text in enumerate(chosen)
        ]
    return TextSet((*texts.cases, *added), texts.files)


def _case(line: str, where: str) -> TextCase:
    try:
        return TextCase.model_validate(json.loads(line))
    except (json.JSONDecodeError, ValidationError) as error:
        raise EvaluationError(f"{where}: not a labelled text ({type(error).__name__}).") from None


def _pieces(text: str) -> list[str]:
    """The whole text, then its parts as a gate would read them."""
    return [text[start:end] for start, end in parts(text)]


@dataclass(frozen=True)
class Trained:
    """A classifier with what it says of texts of hands that it had not seen."""

    classifier: TextClassifier
    unseen: OutOfHand


def train_guard(
    texts: TextSet,
    embedders: Sequence[Embedder],
    rule_hits: Callable[[str], bool],
    *,
    specificity: float,
    with_kinds: bool,
    provenance: Mapping[str, Any],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trained:
    """Encode, look at the rules, learn. Raises EvaluationError, ModelError."""
    cases = texts.cases
    pieces = [_pieces(case.text) for case in cases]
    unique = list(dict.fromkeys(text for of in pieces for text in of))
    vectors: dict[str, dict[str, Any]] = {text: {} for text in unique}
    for start in range(0, len(unique), BATCH):
        part = unique[start : start + BATCH]
        for embedder in embedders:
            for text, vector in zip(part, embedder.queries(part), strict=True):
                vectors[text][embedder.space] = vector
        progress(min(start + BATCH, len(unique)), len(unique))

    def labelled(case: TextCase, text: str, of: Sequence[str] = ()) -> LabelledText:
        return LabelledText(
            id=case.id,
            hand=case.id.split("-")[0],
            lang=case.lang,
            text=text,
            label=case.label,
            kind=case.kind,
            vectors=vectors[text],
            rule_hit=rule_hits(text),
            parts=tuple(labelled(case, piece) for piece in of),
        )

    rows = [labelled(case, of[0], of[1:]) for case, of in zip(cases, pieces, strict=True)]
    origin = {
        **provenance,
        "models": {embedder.space: embedder.model for embedder in embedders},
        "texts": {lang: sum(case.lang == lang for case in cases) for lang in ("ru", "en")},
        "hands": len({row.hand for row in rows}),
        "sets": texts.files,
        "specificity": specificity,
    }
    classifier, unseen = learn(
        rows,
        [embedder.space for embedder in embedders],
        specificity=specificity,
        with_kinds=with_kinds,
        provenance=origin,
    )
    return Trained(classifier, unseen)


@dataclass(frozen=True)
class Share:
    """A share of some texts with its 95% interval (Wilson)."""

    value: float
    low: float
    high: float
    n: int

    @classmethod
    def of(cls, flags: Iterable[bool]) -> "Share":
        """Of the texts that are flagged; 0 of none."""
        known = [bool(flag) for flag in flags]
        interval = wilson(sum(known), len(known))
        return cls(0.0, 0.0, 1.0, 0) if interval is None else cls(sum(known) / len(known), *interval, len(known))


def figures(trained: Trained, flagged_by_rules: Callable[[str], bool]) -> dict[str, dict[str, Share]]:
    """Sensitivity and specificity out of hand, by language, then by kind. `flagged_by_rules`: enforced without it."""
    threshold = trained.classifier.blend.threshold
    rows = trained.unseen.rows
    alone = np.asarray([flagged_by_rules(row.text) for row in rows])
    flagged = (trained.unseen.probabilities >= threshold) | alone
    found: dict[str, dict[str, Share]] = {}
    for lang in sorted({row.lang for row in rows}):
        of = [at for at, row in enumerate(rows) if row.lang == lang]
        found[lang] = {
            "sensitivity": Share.of(flagged[at] for at in of if rows[at].label),
            "specificity": Share.of(not flagged[at] for at in of if not rows[at].label),
            "rules alone, sensitivity": Share.of(rows[at].rule_hit for at in of if rows[at].label),
            "rules alone, specificity": Share.of(not rows[at].rule_hit for at in of if not rows[at].label),
        }
    for label, prefix in ((True, "found"), (False, "left alone")):
        for kind in sorted({row.kind for row in rows if row.label == label}):
            of = [at for at, row in enumerate(rows) if row.kind == kind and row.label == label]
            found.setdefault(prefix, {})[kind] = Share.of(flagged[at] == label for at in of)
    return found
