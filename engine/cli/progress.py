"""Progress of long work, for people."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bar
from rich.progress import TaskID

from engine.evaluation.runner import Progress


@contextmanager
def set_progress(quiet: bool) -> Iterator[Progress]:
    """A bar for each set of questions, or what else is named, on standard error; none where `quiet`."""
    with Bar(console=Console(stderr=True), transient=True, disable=quiet) as bar:
        tasks: dict[str, TaskID] = {}

        def step(name: str, done: int, total: int) -> None:
            if name not in tasks:
                tasks[name] = bar.add_task(name, total=total)
            bar.update(tasks[name], completed=done)

        yield step
