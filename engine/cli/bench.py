"""Commands that measure speed and sameness: `bench retrieval`."""

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

import typer
from rich.console import Console

from engine.app import build_engine, connect
from engine.cli.batch import emit
from engine.cli.bench_tables import corpus_table, determinism_text, personal_table
from engine.cli.chats import running_engine
from engine.cli.options import AsJson
from engine.cli.progress import set_progress
from engine.evaluation.bench.corpus import CorpusTimes, sample, time_corpus
from engine.evaluation.bench.determinism import Determinism, prove
from engine.evaluation.bench.personal import PersonalTimes, time_personal
from engine.evaluation.bench.reorder import copy_corpus
from engine.evaluation.bench.scratch import scratch_database
from engine.evaluation.runner import Progress
from engine.evaluation.sets import Case, resolve_sets
from engine.models.registry import embedders
from engine.settings import Settings, load_settings
from engine.storage.sessions import Database

QUESTIONS = "retrieval"
"""The set whose questions are asked."""


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    room = typer.Typer(help="Measure how fast the engine is, as ratios within one run.", no_args_is_help=True)
    app.add_typer(room, name="bench")

    @room.command(epilog="Example: anamnesis bench retrieval --chunks 20000 --users 40")
    def retrieval(
        chunks: Annotated[int, typer.Option(min=0, help="Made-up chunks of users' own; 0 leaves them out.")] = 100_000,
        users: Annotated[int, typer.Option(min=1, help="Made-up users.")] = 200,
        questions: Annotated[int, typer.Option(min=1, help="Questions of each kind.")] = 200,
        seed: Annotated[int, typer.Option(min=0, help="Of the sample and of the made-up data.")] = 0,
        determinism: Annotated[
            bool, typer.Option("--determinism", help="Instead: same answers when stored rows change their order?")
        ] = False,
        runs: Annotated[int, typer.Option(min=2, help="Runs of --determinism.")] = 20,
        as_json: AsJson = False,
    ) -> None:
        """Time a search stage by stage, and against hand-written SQL, in databases that are dropped after it."""
        if 0 < chunks < users:
            raise typer.BadParameter("Every user has a chunk; name no more users than chunks.", param_hint="--users")
        settings = load_settings()
        cases = sample(resolve_sets([QUESTIONS])[0], questions, seed)
        with set_progress(as_json) as progress:
            if determinism:
                same = asyncio.run(_prove(settings, cases, runs, progress))
                _show_determinism(same, as_json)
                return
            corpus = asyncio.run(_time_corpus(settings, cases, progress))
            personal = (
                asyncio.run(_time_personal(settings, chunks, users, questions, seed, progress)) if chunks else None
            )
        _show(corpus, personal, as_json)


async def _time_corpus(settings: Settings, cases: tuple[Case, ...], progress: Progress) -> CorpusTimes:
    async with running_engine(settings) as engine:
        owner = Database(connect(settings).admin)
        try:
            texts = [case.text for case in cases]
            active = embedders(settings)
            return await time_corpus(texts, engine.retrieve, active, engine.database, owner, settings.pool, progress)
        finally:
            await owner.close()


async def _time_personal(
    settings: Settings, chunks: int, users: int, questions: int, seed: int, progress: Progress
) -> PersonalTimes:
    spaces = {embedder.space: embedder.dimension for embedder in embedders(settings)}
    return await time_personal(
        connect(settings),
        spaces,
        chunks=chunks,
        users=users,
        questions=questions,
        seed=seed,
        pool=settings.pool,
        progress=progress,
    )


async def _prove(settings: Settings, cases: tuple[Case, ...], runs: int, progress: Progress) -> Determinism:
    urls = connect(settings)
    with scratch_database(urls) as place:
        tables = copy_corpus(urls.admin, place.admin)
        engine = build_engine(settings, place)
        try:
            await engine.ready()
            return await prove(cases, engine.retrieve, place.admin, tables, runs, progress=progress)
        finally:
            await engine.close()


def _show(corpus: CorpusTimes, personal: PersonalTimes | None, as_json: bool) -> None:
    if as_json:
        emit({"corpus": asdict(corpus), "personal": None if personal is None else asdict(personal)})
        return
    console = Console()
    console.print(corpus_table(corpus))
    if personal is not None:
        console.print(personal_table(personal))


def _show_determinism(same: Determinism, as_json: bool) -> None:
    """Exit code 1 where an answer changed."""
    if as_json:
        told: dict[str, Any] = asdict(same)
        emit({"same": not same.differences, **told})
    else:
        Console().print(determinism_text(same))
    if same.differences:
        raise typer.Exit(1)
