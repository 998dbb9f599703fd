"""Commands that learn: `train retrieval`, and a classifier beside the rules of each guard."""

import asyncio
import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from engine.app import corpus_names, corpus_on_disk, corpus_passages, corpus_sentences
from engine.cli.batch import emit
from engine.cli.chats import running_engine
from engine.cli.errors import CommandError
from engine.cli.options import AsJson
from engine.cli.progress import set_progress
from engine.evaluation.model_card import Figures, write_card
from engine.evaluation.provenance import git_state
from engine.evaluation.train_guards import TextSet, Trained, figures, load_texts, train_guard, with_corpus
from engine.evaluation.train_retrieval import train_retrieval
from engine.guardrails.classifier import OUTPUT, REFUSAL, URGENT
from engine.guardrails.classifier import save as save_classifier
from engine.guardrails.gate import Gate
from engine.guardrails.output import OutputGuard
from engine.guardrails.refusal import RefusalGate
from engine.guardrails.urgent import UrgentGate
from engine.models.base import Embedder
from engine.models.registry import embedded, embedders
from engine.retrieval.relevance import calibration
from engine.retrieval.trained import TrainedModel, save
from engine.retrieval.training import Space
from engine.settings import load_settings


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    room = typer.Typer(
        help="Learn from the project's own labelled sets (needs the extra `train`).", no_args_is_help=True
    )
    app.add_typer(room, name="train")

    room.command(epilog="Example: anamnesis train urgent")(urgent)
    room.command(epilog="Example: anamnesis train refusal")(refusal)
    room.command(epilog="Example: anamnesis train output")(output)

    @room.command(epilog="Example: anamnesis train retrieval")
    def retrieval(
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Learn and show, write nothing.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Learn the topic head, the order and the gate for the active encoders and the stored corpus."""
        _require_extra()
        # The former model must not be needed for making a new one.
        settings = load_settings(fusion="rescored")
        names = tuple(embedder.space for embedder in embedders(settings))
        floors = calibration(names).floors
        passages, titles = corpus_passages(settings), corpus_names(settings)

        async def go() -> TrainedModel:
            async with running_engine(settings) as engine:
                state = await engine.corpus_state()
                if state.hash != corpus_on_disk(settings):
                    raise CommandError("The database holds another corpus than the disk. Run `anamnesis seed` first.")
                git = git_state()
                origin = {
                    "corpus": state.hash,
                    "documents": state.documents,
                    "models": {name: state.models[name] for name in names},
                    "revision": git.revision,
                    "dirty": git.dirty,
                }
                with set_progress(as_json) as progress:
                    return await train_retrieval(
                        engine.search,
                        passages,
                        titles,
                        [Space(name, floors[name]) for name in names],
                        provenance=origin,
                        progress=progress,
                    )

        model = asyncio.run(go())
        if not dry_run:
            save(model)
        _show(model, as_json=as_json)


DryRun = Annotated[bool, typer.Option("--dry-run", help="Learn and show, write nothing.")]


def urgent(dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Learn to tell emergencies by meaning, beside the rules of the urgent gate."""
    _train_guard(URGENT, load_texts(URGENT), embedded()[:1], UrgentGate(), SPECIFICITY[URGENT], dry_run, as_json)


def refusal(dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Learn to tell requests that are not served by meaning, beside the rules of the refusal gate."""
    _train_guard(REFUSAL, load_texts(REFUSAL), embedded()[:1], RefusalGate(), SPECIFICITY[REFUSAL], dry_run, as_json)


def output(dry_run: DryRun = False, as_json: AsJson = False) -> None:
    """Learn to tell sentences that no answer may hold by meaning, beside the output rules."""
    texts = with_corpus(load_texts(OUTPUT), corpus_sentences(load_settings()), CORPUS_SENTENCES)
    _train_guard(OUTPUT, texts, embedded()[:1], OutputGuard(), SPECIFICITY[OUTPUT], dry_run, as_json)


CORPUS_SENTENCES = 1_000
"""Sentences of the corpus a language that the output classifier learns to leave alone."""
SPECIFICITY = {URGENT: 0.92, REFUSAL: 0.97, OUTPUT: 0.996}
"""Share of the harmless texts of each language that a classifier must leave alone, out of hand. Half of the messages
are near twins of emergencies, so real ones are left alone more often; and a missed emergency costs more than an alarm.
An answer has several sentences, and each of them can block it."""


def _train_guard(
    name: str,
    texts: TextSet,
    active: Sequence[Embedder],
    gate: Gate,
    specificity: float,
    dry_run: bool,
    as_json: bool,
) -> None:
    _require_extra()
    git = git_state()
    with set_progress(as_json) as progress:
        trained = train_guard(
            texts,
            active,
            gate.evidence,
            specificity=specificity,
            with_kinds=True,
            provenance={"revision": git.revision, "dirty": git.dirty},
            progress=partial(progress, name),
        )
    full = f"{name}.{'+'.join(item.space for item in active)}"
    measured = figures(trained, gate.enforced)
    if not dry_run:
        save_classifier(full, trained.classifier)
        write_card(full, trained, measured)
    if as_json:
        emit(json.loads(json.dumps(measured, default=vars)))
    else:
        _print_figures(full, trained, measured)


def _print_figures(name: str, trained: Trained, measured: Figures) -> None:
    """The figures by language, for a person at a terminal."""
    table = Table("Language", "Figure", "Value", "95% interval", "n", title=name)
    for lang in ("ru", "en"):
        for figure, share in measured.get(lang, {}).items():
            table.add_row(lang, figure, f"{share.value:.3f}", f"{share.low:.3f} to {share.high:.3f}", str(share.n))
    Console().print(table)
    Console().print(f"Threshold {trained.classifier.blend.threshold:.3f}.")


def _require_extra() -> None:
    try:
        import scipy  # noqa: F401
        import sklearn  # noqa: F401
    except ImportError:
        raise CommandError("Training needs the extra: pip install -e '.[train]'") from None


def _show(model: TrainedModel, *, as_json: bool) -> None:
    learnt = model.coefficients
    if as_json:
        emit(learnt.model_dump(mode="json"))
        return
    table = Table("Feature", "Order", "Gate")
    for name, weight in learnt.gate.items():
        table.add_row(name, f"{learnt.order[name]:.3f}" if name in learnt.order else "", f"{weight:.3f}")
    console = Console()
    console.print(table)
    console.print(f"Threshold {learnt.threshold:.3f}; {len(model.projection.topics)} topics.")
