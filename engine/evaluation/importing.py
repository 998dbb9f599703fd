"""Take over runs that were recorded elsewhere: those that come with the program, or those of a folder."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from engine.evaluation import history, store
from engine.evaluation.errors import EvaluationError
from engine.storage.errors import StorageError
from engine.storage.sessions import Database


@dataclass(frozen=True)
class ImportReport:
    """Ids of runs that were added, how many were there already, and files that hold no run, with why."""

    added: tuple[str, ...]
    known: int
    faults: tuple[str, ...]


async def import_runs(database: Database, paths: Iterable[Path]) -> ImportReport:
    """Store what is missing, by the id of the run; a second call adds nothing, and one bad file stops no other."""
    added: list[str] = []
    faults: list[str] = []
    known = 0
    for path in paths:
        try:
            run = history.read(path)
        except EvaluationError as error:
            faults.append(str(error))
            continue
        try:
            new = await store.take_over(database, run)
        except StorageError as error:
            faults.append(f"{path.name}: {error}")
            continue
        if new:
            added.append(str(run.head.id))
        else:
            known += 1
    return ImportReport(tuple(added), known, tuple(faults))
