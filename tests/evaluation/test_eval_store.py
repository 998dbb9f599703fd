"""Runs in a real Postgres, as the engine's own role: whole or not at all, and read again as they were."""

import asyncio
import json
from collections.abc import AsyncIterator, Coroutine
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from engine.evaluation import store
from engine.evaluation.errors import EvaluationError
from engine.evaluation.evaluate import Subject, evaluate
from engine.evaluation.history import files
from engine.evaluation.importing import ImportReport, import_runs
from engine.evaluation.provenance import Scoring
from engine.evaluation.records import Corpus, RecordedRun
from engine.evaluation.report import cases_of, summary
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError
from engine.storage.schema import eval_case, eval_metric, eval_run
from engine.storage.sessions import Database
from tests.evaluation.stand_in import THRESHOLD, StandIn, answerable_set, asked, head, none_set, off_corpus

LABEL = "a test of the store"
ANSWERS = {
    "$5 and $6 <script>": [("tsh", 0.9), ("hba1c", 0.5)],
    "ж": [("tsh", 0.7), ("ferritin", 1 / 3)],
    "cat": [],
    "lost": LookupError("words of the question"),
}
SETS = (
    answerable_set(
        asked("2", "tsh", text="$5 and $6 <script>"), asked("10", "ferritin", text="ж"), asked("1", "tsh", text="lost")
    ),
    none_set(off_corpus("cat", lang="en")),
)


@pytest.fixture
async def database(urls: ConnectionUrls) -> AsyncIterator[Database]:
    """The shared test database; the runs of other tests are left alone, those of this test removed."""
    database = Database(urls.engine, pool_size=2)
    yield database
    async with database.transaction() as connection:
        await connection.execute(sa.delete(eval_run).where(eval_run.c.label == LABEL))
    await database.close()


async def mine(database: Database) -> list[RecordedRun]:
    """The runs of this test, newest first: each has a label of this module."""
    return [run for run in await store.recent(database, 1_000) if run.head.label == LABEL]


def subject(engine: StandIn, texts: dict[str, str] | None = None) -> Subject:
    scoring = Scoring("similarity", THRESHOLD, None)
    return Subject(engine, Corpus("c0ffee", 34, 170), texts or {}, Settings(pool=50), {"embedder": "stand-in"}, scoring)


def measured(*arguments: Any, **options: Any) -> Coroutine[Any, Any, RecordedRun]:
    return evaluate(*arguments, label=LABEL, **options)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def counts(database: Database, run_id: UUID) -> tuple[int, int]:
    async with database.transaction() as connection:
        tables = [
            (await connection.execute(sa.select(t).where(t.c.run_id == run_id))).all() for t in (eval_metric, eval_case)
        ]
    return len(tables[0]), len(tables[1])


async def test_a_run_is_read_again_as_it_was(database: Database, tmp_path: Path) -> None:
    run = await measured(subject(StandIn(ANSWERS)), SETS, database, history=tmp_path)
    again = await store.load(database, str(run.head.id))
    assert again == run
    assert (summary(again), cases_of(again)) == (summary(run), cases_of(run))
    assert again.head.settings["pool"] == 50
    assert again.head.provenance["models"] == {"embedder": "stand-in"}
    assert again.head.provenance["scorer"] == "similarity"
    assert again.head.provenance["threshold"] == THRESHOLD
    assert [case.error for case in again.cases] == [None, "LookupError", None, None]


async def test_the_same_again_gives_the_same_figures_and_cases(database: Database, tmp_path: Path) -> None:
    first = await measured(subject(StandIn(ANSWERS)), SETS, database, history=tmp_path)
    second = await measured(subject(StandIn(ANSWERS)), SETS, database, concurrency=1, history=tmp_path)
    assert (first.metrics, first.cases) == (second.metrics, second.cases)
    assert first.head.id != second.head.id


async def test_the_file_of_a_run_holds_what_the_database_holds(database: Database, tmp_path: Path) -> None:
    run = await measured(subject(StandIn(ANSWERS)), SETS, database, history=tmp_path)
    (name,) = names(tmp_path)
    assert json.loads(read(tmp_path / name)) == {**summary(run), "cases": cases_of(run)}


async def test_a_run_is_known_while_it_runs_and_has_no_results_yet(database: Database, tmp_path: Path) -> None:
    seen: list[RecordedRun] = []

    class Watched(StandIn):
        async def __call__(self, request):  # type: ignore[no-untyped-def]
            seen.extend(await mine(database))
            return await super().__call__(request)

    run = await measured(subject(Watched(ANSWERS)), SETS, database, history=tmp_path)
    assert {(known.head.id, known.head.status, known.metrics) for known in seen} == {(run.head.id, "running", ())}


async def test_a_run_in_which_no_case_could_be_scored_has_failed(database: Database, tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match=r"No case of 4 could be scored \(KeyError\)\."):
        await measured(subject(StandIn({})), SETS, database, history=tmp_path / "history")
    (run,) = await mine(database)
    assert (run.head.status, run.metrics) == ("failed", ())
    assert run.head.finished_at is not None
    assert await counts(database, run.head.id) == (0, 0)
    assert not (tmp_path / "history").exists()


async def test_a_fault_while_results_are_written_leaves_none_of_them(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = store._end

    async def refusing(connection, run_id, status, at):  # type: ignore[no-untyped-def]
        if status == "done":
            await connection.execute(sa.text("SELECT 1 / 0"))
        await real(connection, run_id, status, at)

    monkeypatch.setattr(store, "_end", refusing)
    with pytest.raises(StorageError):
        await measured(subject(StandIn(ANSWERS)), SETS, database, history=tmp_path)
    (run,) = await mine(database)
    assert run.head.status == "failed"
    assert await counts(database, run.head.id) == (0, 0)
    assert names(tmp_path) == []


async def test_a_folder_that_cannot_be_written_fails_the_run_before_anything_is_stored(
    database: Database, tmp_path: Path
) -> None:
    blocked = tmp_path / "history"
    blocked.write_text("a file")
    with pytest.raises(OSError, match="exists"):
        await measured(subject(StandIn(ANSWERS)), SETS, database, history=blocked)
    (run,) = await mine(database)
    assert run.head.status == "failed"
    assert await counts(database, run.head.id) == (0, 0)


async def test_a_cancelled_run_is_told_as_such(database: Database, tmp_path: Path) -> None:
    begun = asyncio.Event()

    class Endless(StandIn):
        async def __call__(self, request):  # type: ignore[no-untyped-def]
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(measured(subject(Endless({})), SETS, database, history=tmp_path))
    await begun.wait()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()
    (run,) = await mine(database)
    assert run.head.status == "cancelled"


async def test_a_question_that_stands_in_the_corpus_stops_the_run_before_it_begins(
    database: Database, tmp_path: Path
) -> None:
    sets = (answerable_set(asked("q", "tsh", text="what does a high tsh level mean")),)
    engine = StandIn({})
    with pytest.raises(EvaluationError, match=r"Case 'q' stands in document 'tsh\.en'"):
        await measured(subject(engine, {"tsh.en": "So what does a high TSH level mean?"}), sets, database)
    assert engine.requests == []
    assert await mine(database) == []


async def test_runs_are_listed_newest_first_and_found_by_the_beginning_of_their_id(database: Database) -> None:
    noon = datetime(2126, 11, 30, 12, tzinfo=UTC)  # newer than any other test's run
    ids = [UUID(f"{n}abc{uuid4().hex[4:]}") for n in (1, 2, 3)]
    for hour, run_id in enumerate(ids):
        await store.begin(database, head(label=LABEL, id=run_id, started_at=noon + timedelta(hours=hour)))
    assert [run.head.id for run in await mine(database)] == ids[::-1]
    assert [run.head.id for run in await store.recent(database, 1)] == [ids[2]]
    assert (await store.load(database, "2ABC")).head.id == ids[1]
    assert (await store.load(database, str(ids[0]))).head.id == ids[0]


@pytest.mark.parametrize("wanted", ["ffff", "", "%", "_", "not a run", "1abc; --"])
async def test_a_run_that_is_not_there_is_told_in_one_line(database: Database, wanted: str) -> None:
    await store.begin(database, head(label=LABEL, id=UUID(f"1abc{uuid4().hex[4:]}")))
    with pytest.raises(EvaluationError, match=r"There is no run .*`anamnesis eval list` shows the runs\."):
        await store.load(database, wanted)


async def test_a_beginning_of_two_ids_names_neither(database: Database) -> None:
    for _ in range(2):
        await store.begin(database, head(label=LABEL, id=UUID(f"1abc{uuid4().hex[4:]}")))
    with pytest.raises(EvaluationError, match="More than one run begins with '1abc'"):
        await store.load(database, "1abc")


async def forgotten(database: Database, tmp_path: Path) -> RecordedRun:
    """A run whose file is there and whose rows are gone: a new installation's view of it."""
    run = await measured(subject(StandIn(ANSWERS)), SETS, database, history=tmp_path)
    async with database.transaction() as connection:
        await connection.execute(sa.delete(eval_run).where(eval_run.c.id == run.head.id))
    return run


async def test_a_recorded_run_is_taken_over_once_and_says_so(database: Database, tmp_path: Path) -> None:
    run = await forgotten(database, tmp_path)
    assert await import_runs(database, files(tmp_path)) == ImportReport((str(run.head.id),), 0, ())
    assert await import_runs(database, files(tmp_path)) == ImportReport((), 1, ())
    again = await store.load(database, str(run.head.id))
    assert (again.metrics, again.cases) == (run.metrics, run.cases)
    taken = dict(again.head.provenance)
    assert datetime.fromisoformat(taken.pop(store.IMPORTED_AT)).tzinfo is not None
    assert replace(again.head, provenance=taken) == run.head


async def test_a_run_of_this_installation_is_not_called_one_from_elsewhere(database: Database, tmp_path: Path) -> None:
    run = await measured(subject(StandIn(ANSWERS)), SETS, database, history=tmp_path)
    assert (await import_runs(database, files(tmp_path))).known == 1
    assert await store.load(database, str(run.head.id)) == run


async def test_two_imports_at_once_store_a_run_once(database: Database, tmp_path: Path) -> None:
    run = await forgotten(database, tmp_path)
    reports = await asyncio.gather(*(import_runs(database, files(tmp_path)) for _ in range(2)))
    assert sorted(len(report.added) for report in reports) == [0, 1]
    assert await counts(database, run.head.id) == (len(run.metrics), len(run.cases))


async def test_a_file_that_is_no_run_stops_no_other(database: Database, tmp_path: Path) -> None:
    run = await forgotten(database, tmp_path)
    (tmp_path / "0.json").write_text("{}")
    report = await import_runs(database, files(tmp_path))
    assert report.added == (str(run.head.id),)
    assert len(report.faults) == 1
    assert "0.json: not a recorded run" in report.faults[0]


async def test_an_import_that_breaks_off_leaves_nothing(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = await forgotten(database, tmp_path)

    async def refusing(connection, run):  # type: ignore[no-untyped-def]
        await connection.execute(sa.text("SELECT 1 / 0"))

    monkeypatch.setattr(store, "_results", refusing)
    report = await import_runs(database, files(tmp_path))
    assert report.added == ()
    assert len(report.faults) == 1
    with pytest.raises(EvaluationError):
        await store.load(database, str(run.head.id))
