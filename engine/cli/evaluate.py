"""Commands that measure: `eval run`, `eval gate-report`."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from engine.app import Engine, corpus_dir
from engine.cli.batch import emit
from engine.cli.chats import running_engine
from engine.cli.eval_records import Cases, show_run
from engine.cli.eval_records import register as register_records
from engine.cli.eval_tables import gate_table
from engine.cli.options import AsJson
from engine.cli.progress import set_progress
from engine.evaluation.calibrate import GateReport, calibrate
from engine.evaluation.coverage import Covered, covered
from engine.evaluation.errors import EvaluationError
from engine.evaluation.evaluate import Subject, evaluate
from engine.evaluation.gate_report import MAX_LOST
from engine.evaluation.history import HISTORY
from engine.evaluation.provenance import Scoring, trained_model_hash
from engine.evaluation.records import Corpus, RecordedRun
from engine.evaluation.report import gate_summary
from engine.evaluation.sets import CALIBRATION_SETS, DEFAULT_SETS, EvalSet, known_sets, resolve_sets
from engine.knowledge.corpus import CorpusDocument, load_corpus
from engine.knowledge.seeding import corpus_hash
from engine.models.registry import embedders
from engine.retrieval.calibrated import trained_for
from engine.settings import Settings, SettingsError, load_settings
from engine.wire.metrics import GROWTH

SetNames = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME", help=f"A shipped set ({', '.join(known_sets())}); repeatable."),
]
SetFiles = Annotated[list[Path] | None, typer.Option("--set-file", help="A set of your own; repeatable.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--setting", metavar="KEY=VALUE", help="Overrides a setting; repeatable.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    room = typer.Typer(help="Measure the engine and keep what was measured.", no_args_is_help=True)
    app.add_typer(room, name="eval")
    register_records(room)
    example = "Example: anamnesis eval run --set retrieval --setting fusion=dense --label dense"
    room.command("run", epilog=example)(run)
    room.command("gate-report", epilog="Example: anamnesis eval gate-report --max-lost 0.03")(gate_report)


def run(
    names: SetNames = None,
    files: SetFiles = None,
    setting: Overrides = None,
    label: Annotated[
        str, typer.Option(help=f"A word on what is tried; `{GROWTH}` is a step of the corpus' growth.")
    ] = "",
    only_covered: Annotated[
        bool, typer.Option("--covered", help="Leave out questions on topics that the stored corpus lacks.")
    ] = False,
    history: Annotated[Path, typer.Option(help="Folder for the run's file.", show_default=False)] = HISTORY,
    cases: Cases = False,
    as_json: AsJson = False,
) -> None:
    """Run evaluation sets (by default: retrieval, follow_ups and expect_none) and record the run."""
    sets = _sets(names, files, DEFAULT_SETS)
    for eval_set in sets:
        if eval_set.name in CALIBRATION_SETS:
            raise typer.BadParameter(f"{eval_set.name} sets the threshold; see gate-report.", param_hint="--set")
    settings = _settings(setting)

    async def go() -> tuple[RecordedRun, Mapping[str, int]]:
        async with running_engine(settings) as engine:
            documents = load_corpus(corpus_dir(settings))
            subject = await _subject(engine, settings, documents)
            asked = _covered(sets, subject.corpus, documents) if only_covered else Covered(sets, {})
            with set_progress(as_json) as progress:
                measured = await evaluate(
                    subject, asked.sets, engine.database, label=label, progress=progress, history=history
                )
            return measured, asked.left_out

    measured, left_out = asyncio.run(go())
    show_run(measured, cases=cases, as_json=as_json, left_out=left_out if only_covered else None)


def gate_report(
    names: SetNames = None,
    files: SetFiles = None,
    setting: Overrides = None,
    max_lost: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Share of answerable questions that may be lost.")
    ] = MAX_LOST,
    as_json: AsJson = False,
) -> None:
    """Recommend a relevance threshold (from the calibration sets) and show what each one costs."""
    sets = _sets(names, files, CALIBRATION_SETS)
    settings = _settings(setting)

    async def go() -> tuple[Subject, GateReport]:
        async with running_engine(settings) as engine:
            subject = await _subject(engine, settings, load_corpus(corpus_dir(settings)))
            with set_progress(as_json) as progress:
                report = await calibrate(
                    sets, engine.retrieve, max_lost=max_lost, present=engine.threshold, progress=progress
                )
            return subject, report

    subject, report = asyncio.run(go())
    asked = [eval_set.name for eval_set in sets]
    if as_json:
        emit({"corpus": vars(subject.corpus), "models": dict(subject.models), **gate_summary(report, asked)})
    else:
        Console().print(gate_table(report, asked))


def _sets(names: Sequence[str] | None, files: Sequence[Path] | None, default: Sequence[str]) -> tuple[EvalSet, ...]:
    try:
        return resolve_sets(names or (() if files else default), files or ())
    except EvaluationError as error:
        raise typer.BadParameter(str(error)) from None


def _settings(pairs: Sequence[str] | None) -> Settings:
    """The settings of the environment with those of the command line over them."""
    given: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or key not in Settings.model_fields:
            known = ", ".join(sorted(Settings.model_fields))
            what = f"there is no setting {key!r}. Settings: {known}." if equals else f"{pair!r} is not KEY=VALUE."
            raise typer.BadParameter(what, param_hint="--setting")
        given[key] = value
    try:
        return load_settings(**given)
    except SettingsError as error:
        if not given:
            raise
        raise typer.BadParameter(str(error), param_hint="--setting") from None


async def _subject(engine: Engine, settings: Settings, documents: Sequence[CorpusDocument]) -> Subject:
    state = await engine.corpus_state()
    return Subject(
        retrieve=engine.retrieve,
        corpus=Corpus(state.hash, state.documents, state.chunks),
        texts={document.name: f"{document.title}\n{document.body}" for document in documents},
        # The threshold that was in force, whether it was set or calibrated: the record must say which one it was.
        settings=settings.model_copy(update={"relevance_threshold": engine.threshold}),
        models=engine.describe(),
        scoring=_scoring(engine, settings),
    )


def _scoring(engine: Engine, settings: Settings) -> Scoring:
    active = embedders(settings)
    trained = trained_for(active, settings.fusion)
    return Scoring(
        scorer=engine.search.scorer,
        threshold=engine.threshold,
        trained_model=trained_model_hash([embedder.space for embedder in active]) if trained else None,
    )


def _covered(sets: Sequence[EvalSet], stored: Corpus, documents: Sequence[CorpusDocument]) -> Covered:
    """The questions that the stored corpus covers; which topics it holds is read where it was stored from."""
    if corpus_hash(documents) != stored.hash:
        raise EvaluationError("The stored corpus is not the one on disk. Run `anamnesis seed`.")
    return covered(sets, {document.topic for document in documents})
