"""Times in milliseconds: their spread over many questions, and what of a question passes in the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from types import TracebackType
from typing import Any, Self

import numpy as np
import sqlalchemy as sa

from engine.evaluation.errors import EvaluationError


@dataclass(frozen=True)
class Spread:
    """Median and 95th percentile of `n` times."""

    p50: float
    p95: float
    n: int


def spread(times: Sequence[float]) -> Spread:
    """The spread of some times in milliseconds.

    Raises:
        EvaluationError: there are none.
    """
    if not times:
        raise EvaluationError("Nothing was timed. Ask at least one question.")
    p50, p95 = np.percentile(np.asarray(times), (50, 95))
    return Spread(round(float(p50), 3), round(float(p95), 3), len(times))


def milliseconds(since: float) -> float:
    """Passed since a reading of `perf_counter`."""
    return (perf_counter() - since) * 1000


class StatementClock:
    """Times the statements of this process by their kind, while it is entered; for one question after another.

    It listens to what the product sends: it need not know how the product comes to send it.
    """

    def __init__(self, kinds: Mapping[str, str]) -> None:
        """`kinds`: the name of a kind by a piece of text that only its statements hold."""
        self._kinds = dict(kinds)
        self._began = 0.0
        self._spent: dict[str, float] = {}

    def take(self) -> dict[str, float]:
        """Milliseconds by kind since the last call."""
        spent, self._spent = self._spent, {}
        return spent

    def __enter__(self) -> Self:
        sa.event.listen(sa.engine.Engine, "before_cursor_execute", self._before)
        sa.event.listen(sa.engine.Engine, "after_cursor_execute", self._after)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sa.event.remove(sa.engine.Engine, "before_cursor_execute", self._before)
        sa.event.remove(sa.engine.Engine, "after_cursor_execute", self._after)

    def _before(self, *_: Any) -> None:
        self._began = perf_counter()

    def _after(self, _connection: Any, _cursor: Any, statement: str, *_: Any) -> None:
        for piece, name in self._kinds.items():
            if piece in statement:
                self._spent[name] = self._spent.get(name, 0.0) + milliseconds(self._began)
                return
