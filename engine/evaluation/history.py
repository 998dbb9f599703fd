"""A recorded run as a file: one JSON object, its cases a line each, so that two runs compare as texts."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engine.evaluation.errors import EvaluationError
from engine.evaluation.recorded_file import parse
from engine.evaluation.records import RecordedRun, RunHead
from engine.evaluation.report import cases_of, summary
from engine.evaluation.sets import EVALRUNS

HISTORY = EVALRUNS / "history"


def file_name(head: RunHead) -> str:
    """Time first, so that a listing is in order."""
    return f"{head.started_at:%Y%m%dT%H%M%SZ}-{head.short_id}.json"


def render(run: RecordedRun) -> str:
    """The run as JSON with its keys in alphabetical order."""
    head = json.dumps(summary(run), ensure_ascii=False, sort_keys=True, indent=1, allow_nan=False)
    cases = ",\n".join(f"  {_line(case)}" for case in cases_of(run))
    # `cases` comes first in the alphabet.
    return f'{{\n "cases": [\n{cases}\n ],\n{head[2:]}\n'


def _line(case: dict[str, Any]) -> str:
    return json.dumps(case, ensure_ascii=False, sort_keys=True, allow_nan=False)


def read(path: Path) -> RecordedRun:
    """A run as it was recorded.

    Raises:
        EvaluationError: the file cannot be read or is no recorded run; the text names file and fault.
    """
    try:
        return parse(path.read_bytes())
    except OSError as error:
        raise EvaluationError(f"{path}: {error.strerror or 'cannot be read'}.") from None
    except EvaluationError as error:
        raise EvaluationError(f"{path}: {error}") from None


def files(place: Path = HISTORY) -> tuple[Path, ...]:
    """The recorded runs of a folder, oldest first, or the one file that was named; none where nothing is."""
    return tuple(sorted(place.glob("*.json"))) if place.is_dir() else (place,) if place.exists() else ()


@contextmanager
def published(run: RecordedRun, folder: Path) -> Iterator[Path]:
    """The file appears when the block ends well, whole or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / file_name(run.head)
    draft = target.with_suffix(".partial")
    try:
        with draft.open("w", encoding="utf-8") as file:
            file.write(render(run))
            file.flush()
            os.fsync(file.fileno())
        yield target
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)
