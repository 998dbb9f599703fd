"""Timing of the stages of a pipeline."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any


@dataclass
class Stage:
    """A timed stage; `detail` takes numbers, ids and names, never a text of the user's."""

    name: str
    ms: float = 0.0
    detail: dict[str, Any] = field(default_factory=dict)


@dataclass
class Stopwatch:
    """The stages of one question in the order in which they began."""

    stages: list[Stage] = field(default_factory=list)
    started: float = field(default_factory=perf_counter)

    @contextmanager
    def stage(self, name: str) -> Iterator[Stage]:
        """Time the block; the stage is kept also when the block raises."""
        current = Stage(name)
        self.stages.append(current)
        began = perf_counter()
        try:
            yield current
        finally:
            current.ms = round((perf_counter() - began) * 1000, 3)

    @property
    def total_ms(self) -> float:
        return round((perf_counter() - self.started) * 1000, 3)
