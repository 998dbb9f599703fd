"""Commands on recorded runs: `eval list`, `eval show`, `eval compare`, `eval import`, `eval chart`."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from engine.app import connect
from engine.cli.batch import emit
from engine.cli.errors import CommandError
from engine.cli.eval_tables import cases_table, comparison_table, left_out_line, run_table, runs_table
from engine.cli.options import AsJson
from engine.evaluation import store
from engine.evaluation.chart import growth_steps, recall_chart
from engine.evaluation.compare import COMPARABLE, Comparison
from engine.evaluation.compare import compare as compare_runs
from engine.evaluation.history import HISTORY, files, read
from engine.evaluation.importing import ImportReport, import_runs
from engine.evaluation.provenance import PROJECT
from engine.evaluation.records import RecordedRun
from engine.evaluation.report import cases_of, comparison_of, steps_of, summary
from engine.settings import load_settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.sessions import Database
from engine.wire.metrics import GROWTH, HEADLINE

FIGURE = PROJECT / "docs" / "figures" / "recall-by-step.svg"
"""The picture that the README shows."""

Cases = Annotated[bool, typer.Option("--cases", help="Also case by case; without --json what went wrong.")]


def register(room: typer.Typer) -> None:
    """Add the commands to the evaluation room."""
    room.command("list", epilog="Example: anamnesis eval list --limit 5")(list_runs)
    room.command("show", epilog="Example: anamnesis eval show 1f0c22ab --cases")(show)
    room.command("compare", epilog="Example: anamnesis eval compare 1f0c22ab 7be90d11 --metric recall@4")(compare)
    room.command("import", epilog="Example: anamnesis eval import evalruns/history")(import_)
    room.command("chart", epilog="Example: anamnesis eval chart --out docs/figures/recall-by-step.svg")(chart)


def list_runs(
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many, newest first.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List recorded runs."""

    async def go() -> list[RecordedRun]:
        async with _database() as database:
            return await store.recent(database, limit)

    runs = asyncio.run(go())
    if as_json:
        emit({"runs": [summary(recorded) for recorded in runs]})
    else:
        Console().print(runs_table(runs))


def show(
    which: Annotated[str, typer.Argument(metavar="RUN", help="A run's id or the beginning of it.")],
    cases: Cases = False,
    as_json: AsJson = False,
) -> None:
    """Show a recorded run."""

    async def go() -> RecordedRun:
        async with _database() as database:
            return await store.load(database, which)

    show_run(asyncio.run(go()), cases=cases, as_json=as_json)


def compare(
    before: Annotated[str, typer.Argument(help="A run's id or the beginning of it.")],
    after: Annotated[str, typer.Argument(help="Another run over the same sets.")],
    metric: Annotated[str, typer.Option(help=f"One of: {', '.join(COMPARABLE)}.")] = HEADLINE,
    as_json: AsJson = False,
) -> None:
    """Compare two runs case by case, by language and style, with paired tests; what is not compared is counted."""

    async def go() -> Comparison:
        async with _database() as database:
            one, other = await store.load(database, before), await store.load(database, after)
            return compare_runs(one, other, metric)

    found = asyncio.run(go())
    if as_json:
        emit(comparison_of(found, metric))
    else:
        Console().print(comparison_table(found, metric))


def import_(
    place: Annotated[
        Path,
        typer.Argument(metavar="PATH", exists=True, help="A run's file, or a folder.", show_default=False),
    ] = HISTORY,
    as_json: AsJson = False,
) -> None:
    """Store runs that were recorded elsewhere; by default those that come with the program.

    A run that is there already is left alone.
    """
    report = import_recorded(connect(load_settings()), place)
    if as_json:
        emit(vars(report))
    else:
        Console().print(f"{import_line(report)}.")
    if report.faults:
        raise CommandError(" ".join(report.faults))


def chart(
    out: Annotated[Path, typer.Option(dir_okay=False, help="File to write.", show_default=False)] = FIGURE,
    history: Annotated[Path, typer.Option(help="Folder of recorded runs.", show_default=False)] = HISTORY,
    as_json: AsJson = False,
) -> None:
    """Draw recall@4 by corpus size from the recorded runs labelled `growth`, as SVG; by default the README's."""
    steps = growth_steps(read(path) for path in files(history))
    if not steps:
        raise CommandError(
            f"No recorded run of {history} has the label `{GROWTH}`; nothing is drawn. "
            f"Record one: anamnesis eval run --covered --label {GROWTH}"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(recall_chart(steps), encoding="utf-8")
    if as_json:
        emit({"out": str(out), "steps": steps_of(steps)})
        return
    Console().print(f"{out}: {len({step.documents for step in steps})} steps.", highlight=False, soft_wrap=True)


def show_run(run: RecordedRun, *, cases: bool, as_json: bool, left_out: Mapping[str, int] | None = None) -> None:
    """Print a run; `left_out` counts the questions of each set that were not asked."""
    if as_json:
        extra = {} if left_out is None else {"left_out": dict(left_out)}
        emit({**summary(run), **extra, **({"cases": cases_of(run)} if cases else {})})
        return
    console = Console()
    console.print(run_table(run))
    if left_out is not None:
        console.print(left_out_line(run, left_out), highlight=False, soft_wrap=True)
    if cases:
        console.print(cases_table(run))


def import_recorded(urls: ConnectionUrls, place: Path = HISTORY) -> ImportReport:
    """Store the recorded runs of a place where they are missing."""

    async def go() -> ImportReport:
        database = Database(urls.engine, pool_size=1)
        try:
            return await import_runs(database, files(place))
        finally:
            await database.close()

    return asyncio.run(go())


def import_line(report: ImportReport) -> str:
    """What an import did, in a few words."""
    unread = f", {len(report.faults)} could not be read" if report.faults else ""
    return f"{len(report.added)} added, {report.known} there already{unread}"


@asynccontextmanager
async def _database() -> AsyncIterator[Database]:
    database = Database(connect(load_settings()).engine)
    try:
        yield database
    finally:
        await database.close()
