"""What a classifier can and cannot do, for whoever decides to use it: a page written by the training that made it."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from engine.evaluation.provenance import PROJECT
from engine.evaluation.train_guards import Share, Trained

FOLDER = PROJECT / "docs" / "models"
PURPOSE = {
    "urgent": "Adds escalations to those of the rules: messages that tell of a possible emergency in their own words.",
    "refusal": "Adds refusals to those of the rules: requests for a dose, a prescription, a diagnosis, doing harm.",
    "output": (
        "Blocks sentences of an answer that diagnose, dose, endanger or tell of hidden instructions by meaning. "
        "It stands in for the judge where no language model is configured."
    ),
}
Figures = Mapping[str, Mapping[str, Share]]


def write_card(name: str, trained: Trained, measured: Figures, folder: Path = FOLDER) -> Path:
    """Write the card; equal trainings give equal cards."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.md"
    path.write_text("\n".join(_lines(name, trained, measured)) + "\n", encoding="utf-8")
    return path


def _lines(name: str, trained: Trained, measured: Figures) -> Iterator[str]:
    blend = trained.classifier.blend
    origin = blend.provenance
    yield f"# {name}"
    yield ""
    yield f"{PURPOSE[name.split('.')[0]]} Written by `anamnesis train {name.split('.')[0]}`; do not edit."
    yield ""
    yield "- Reads: vectors of " + ", ".join(f"{space} ({model})" for space, model in sorted(origin["models"].items()))
    yield "  by a Gaussian kernel, character n-grams by a linear model, and whether a rule hit; blended."
    texts = ", ".join(f"{count} {lang}" for lang, count in sorted(origin["texts"].items()))
    yield f"- Learnt from: {texts} texts by {origin['hands']} hands (`evalruns/sets/training/{name.split('.')[0]}`)."
    yield f"- Threshold: {blend.threshold:.3f}, the lowest that leaves at least {origin['specificity']:.1%} of the"
    yield "  harmless texts of each language alone, out of hand: every text is scored by a model that has seen none of"
    yield "  its writer's."
    yield "- Not meant for: deciding alone. A rule that is enforced is never overruled by it."
    yield "- Known to be weak: each label is one person's; the texts were written for this purpose and come from no"
    yield "  patient, so real messages will be harder."
    for lang in ("ru", "en"):
        yield from _table({"ru": "Russian", "en": "English"}[lang] + ", out of hand", measured.get(lang, {}))
    yield from _table("Found, by kind", measured.get("found", {}))
    yield from _table("Left alone, by kind", measured.get("left alone", {}))


def _table(title: str, rows: Mapping[str, Share]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    yield "| | share | 95% interval | n |"
    yield "|---|---|---|---|"
    for name, share in rows.items():
        yield f"| {name} | {share.value:.3f} | {share.low:.3f} to {share.high:.3f} | {share.n} |"
