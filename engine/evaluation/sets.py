"""Evaluation sets: JSON Lines files of typed cases. What a file holds is told by its fields."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from engine.evaluation.errors import EvaluationError
from engine.wire import Turn
from engine.wire.chat import MAX_TURNS
from engine.wire.fields import Lang, Question, Text

EVALRUNS = Path(__file__).resolve().parents[2] / "evalruns"
SETS = EVALRUNS / "sets"
DEFAULT_SETS = ("retrieval", "follow_ups", "expect_none")
CALIBRATION_SETS = ("calibration_retrieval", "calibration_none")
"""They set the threshold; figures measured on them would flatter."""

_Name = Annotated[Text, StringConstraints(max_length=200, pattern=r"\S")]


class _Case(BaseModel):
    """Fields common to all cases; notes such as `added` and `origin` may stand beside them."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: _Name
    lang: Lang
    text: Annotated[Question, StringConstraints(pattern=r"\S")]
    style: Text | None = None
    history: tuple[Turn, ...] = Field(default=(), max_length=MAX_TURNS)
    """What was said before, oldest first; the question may make no sense without."""

    @property
    def asked(self) -> tuple[str, ...]:
        """All that the user says in the case, the question last."""
        return (*(turn.text for turn in self.history if turn.role == "user"), self.text)


class RetrievalCase(_Case):
    """A question that the corpus answers: a document of any of `topics` is right."""

    topics: tuple[_Name, ...] = Field(min_length=1)

    @property
    def cluster(self) -> str:
        """Cases about one topic hang together; the first topic is the one the case was written for."""
        return self.topics[0]


class NoneCase(_Case):
    """A question that nothing in the corpus answers: the right outcome is to abstain."""

    kind: _Name

    @property
    def cluster(self) -> str:
        """Cases of one kind hang together."""
        return self.kind


Case = RetrievalCase | NoneCase
SetKind = Literal["retrieval", "expect_none"]


@dataclass(frozen=True)
class EvalSet:
    """Cases of one kind in the order of their file."""

    name: str
    kind: SetKind
    cases: tuple[Case, ...]

    @property
    def hash(self) -> str:
        """SHA-256 over the canonical lines of the cases, whatever their order; notes are left out.

        A case without a history is written as it was before there were histories: recorded hashes stay true.
        """
        lines = sorted(
            json.dumps(
                case.model_dump(exclude=None if case.history else {"history"}),
                ensure_ascii=False,
                sort_keys=True,
                separators=(",", ":"),
            )
            for case in self.cases
        )
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def known_sets(root: Path = SETS) -> tuple[str, ...]:
    """Names of the sets that are shipped."""
    return tuple(sorted(path.stem for path in root.glob("*.jsonl")))


def resolve_sets(names: Iterable[str], files: Iterable[Path] = (), *, root: Path = SETS) -> tuple[EvalSet, ...]:
    """The named sets and those of files, the latter under the name of their file.

    Raises:
        EvaluationError: a name is unknown or stands for two sets, or a file is not in order.
    """
    known = known_sets(root)
    paths = []
    for name in names:
        if name not in known:
            raise EvaluationError(f"There is no set {name!r}. Known sets: {', '.join(known) or 'none'}.")
        paths.append(root / f"{name}.jsonl")
    paths.extend(files)
    loaded = tuple(load_set(path) for path in paths)
    seen = [eval_set.name for eval_set in loaded]
    twice = sorted({name for name in seen if seen.count(name) > 1})
    if twice:
        raise EvaluationError(f"The set {twice[0]!r} is given twice. Leave one out or rename its file.")
    return loaded


def load_set(path: Path) -> EvalSet:
    """Read and check one file.

    Raises:
        EvaluationError: the file cannot be read, or a line is not in order; the text names file and line.
    """
    cases: dict[str, Case] = {}
    first: dict[str, int] = {}
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        where = f"{path}:{number}"
        case = _case(where, line)
        if case.id in cases:
            raise EvaluationError(f"{where}: id {case.id!r} stands already in line {first[case.id]}.")
        if cases and type(case) is not type(next(iter(cases.values()))):
            raise EvaluationError(f"{where}: a file holds cases of one kind; this line differs from the first.")
        cases[case.id], first[case.id] = case, number
    if not cases:
        raise EvaluationError(f"{path}: the set is empty.")
    ordered = tuple(cases.values())
    kind: SetKind = "retrieval" if isinstance(ordered[0], RetrievalCase) else "expect_none"
    return EvalSet(path.stem, kind, ordered)


def _lines(path: Path) -> list[str]:
    try:
        return path.read_bytes().decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise EvaluationError(f"{path}:{line}: the file is not valid UTF-8.") from None
    except OSError as error:
        raise EvaluationError(f"{path}: {error.strerror or 'cannot be read'}.") from None


def _case(where: str, line: str) -> Case:
    try:
        row: Any = json.loads(line)
    except (ValueError, RecursionError):
        raise EvaluationError(f"{where}: the line is not valid JSON.") from None
    if not isinstance(row, dict):
        raise EvaluationError(f"{where}: a line holds one JSON object.")
    if ("topics" in row) == ("kind" in row):
        raise EvaluationError(f"{where}: a case has either `topics` (answerable) or `kind` (nothing answers it).")
    try:
        return RetrievalCase.model_validate(row) if "topics" in row else NoneCase.model_validate(row)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(str(part) for part in fault["loc"])
        raise EvaluationError(f"{where}: {field}: {fault['msg']}.") from None
