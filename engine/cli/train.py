"""Commands that learn: `train retrieval`."""

import asyncio
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from engine.app import corpus_names, corpus_on_disk, corpus_passages
from engine.cli.batch import emit
from engine.cli.chats import running_engine
from engine.cli.errors import CommandError
from engine.cli.options import AsJson
from engine.cli.progress import set_progress
from engine.evaluation.provenance import git_state
from engine.evaluation.train_retrieval import train_retrieval
from engine.models.registry import embedders
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

    @room.command(epilog="Example: anamnesis train retrieval")
    def retrieval(
        dry_run: Annotated[bool, typer.Option("--dry-run", help="Learn and show, write nothing.")] = False,
        as_json: AsJson = False,
    ) -> None:
        """Learn the topic head, the order and the gate for the active encoders and the stored corpus."""
        try:
            import scipy  # noqa: F401
            import sklearn  # noqa: F401
        except ImportError:
            raise CommandError("Training needs the extra: pip install -e '.[train]'") from None
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
