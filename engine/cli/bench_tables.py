"""Benchmarks as tables for people."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from engine.evaluation.bench.compare import Comparison
from engine.evaluation.bench.corpus import CorpusTimes
from engine.evaluation.bench.determinism import Determinism
from engine.evaluation.bench.personal import K, PersonalTimes
from engine.evaluation.bench.timing import Spread

SHOWN = 5
"""Differences that are told one by one."""


def corpus_table(times: CorpusTimes) -> RenderableType:
    """Stages down, then the search statement against bare SQL."""
    table = Table("stage", "p50 ms", "p95 ms", title=Text(f"Corpus, {times.questions} questions"), title_justify="left")
    for name, spread in times.stages.items():
        _row(table, name, spread)
    return Group(table, _comparison("The same scope in bare SQL", times.search))


def personal_table(times: PersonalTimes) -> RenderableType:
    """Both kinds of questions against bare SQL, with the rows that were found."""
    head = (
        f"{times.chunks} chunks of {times.users} made-up users (median {times.median}, largest {times.largest} a user)"
    )
    parts: list[RenderableType] = [
        Text(head),
        _comparison("On the user's own topics", times.own_topic),
        _comparison("On other topics", times.other_topic),
    ]
    for kind, spaces in times.recall.items():
        shares = ", ".join(f"{space} {of.mean:.4f} (worst {of.worst:.2f})" for space, of in spaces.items())
        parts.append(Text(f"recall@{K}, {kind.replace('_', ' ')}: {shares}"))
    return Group(*parts)


def determinism_text(same: Determinism) -> RenderableType:
    """Whether the answers were the same, and the first ones that were not."""
    asked = f"{same.runs} runs of {same.questions} questions, {same.hits} hits compared"
    if not same.differences:
        return Text(f"{asked}: the same hits with the same scores in the same order.")
    lines = [Text(f"{asked}: {len(same.differences)} answers differ from the first run.", style="red")]
    for found in same.differences[:SHOWN]:
        changed = sorted(
            key for key in found.first.keys() | found.now.keys() if found.first.get(key) != found.now.get(key)
        )
        pairs = ", ".join(f"{key} {found.first.get(key)!r} → {found.now.get(key)!r}" for key in changed)
        lines.append(Text(f"run {found.run}, {found.case}, rank {found.rank}: {pairs}"))
    return Group(*lines)


def _comparison(title: str, against: Comparison) -> Table:
    table = Table("statement", "p50 ms", "p95 ms", title=Text(title), title_justify="left")
    _row(table, "search", against.product)
    _row(table, "search without words", against.without_words)
    _row(table, "bare exact scan", against.bare)
    table.add_row("search / bare", f"{against.ratio_p50:.2f}×", f"{against.ratio_p95:.2f}×", style="bold")
    return table


def _row(table: Table, name: str, spread: Spread) -> None:
    table.add_row(name, f"{spread.p50:.2f}", f"{spread.p95:.2f}")
