"""A run, a list of runs and a gate report as tables for people."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from engine.evaluation.calibrate import GateReport, LanguageGate
from engine.evaluation.compare import Comparison, Paired, Regression
from engine.evaluation.gate_report import GatePoint
from engine.evaluation.metrics import PROPORTIONS
from engine.evaluation.records import ALL, CaseResult, MetricRow, RecordedRun, RunHead
from engine.evaluation.statistics import Interval
from engine.evaluation.store import IMPORTED_AT
from engine.wire.metrics import CHECKPOINT, HEADLINE, LOWER_IS_BETTER, METRICS, STRETCH

NOTHING = "—"
SHOWN_REGRESSIONS = 20
"""Of the cases that became worse; JSON has all."""
_LISTED = (HEADLINE, "mrr", "false_abstention", "abstention")
_DROPPED = ("mrr", "false_abstention", "abstention", "status")
"""Columns of the list of runs that a narrow screen can do without, the first one first."""
_COLUMNS = ("run", "started (UTC)", "status", "documents", *_LISTED, "label")
_LABEL_ROOM = 14
"""Width at which a label is folded rather than a column left out."""


def run_table(run: RecordedRun) -> RenderableType:
    """One table a set: metrics down, languages across, each with its 95 % interval and number of cases."""
    head = run.head
    dirty = " with changes" if head.git_dirty else ""
    title = Text(
        f"Run {head.short_id} · {head.status} · {head.started_at:%Y-%m-%d %H:%M} UTC"
        f" · {head.corpus.documents} documents, {head.corpus.chunks} chunks · {head.git_revision[:10]}{dirty}"
    )
    if taken_over := head.provenance.get(IMPORTED_AT):
        title.append(f" · recorded elsewhere, taken over {taken_over}")
    names = sorted({row.set_name for row in run.metrics}, reverse=True)
    parts: list[RenderableType] = [title, *(_set_table(run.metrics, name) for name in names)]
    parts.extend(Text(line) for line in _by_kind(run.cases))
    crashed = sum(case.error is not None for case in run.cases)
    if crashed:
        kinds = ", ".join(sorted({case.error for case in run.cases if case.error}))
        parts.append(Text(f"{crashed} of {len(run.cases)} cases could not be scored: {kinds}.", style="yellow"))
    return Group(*parts)


def left_out_line(run: RecordedRun, left_out: Mapping[str, int]) -> str:
    """How many questions of each set were not asked, since the corpus lacks their topics."""
    asked = {row.set_name: row.n for row in run.metrics if row.lang == ALL}
    told = ", ".join(f"{name} {count} of {count + asked.get(name, 0)}" for name, count in left_out.items())
    return f"left out, their topics are not in the corpus: {told}"


def _by_kind(cases: Iterable[CaseResult]) -> list[str]:
    """How often each kind of unanswerable question was declined: some kinds lie much nearer to the corpus."""
    kinds: dict[str, list[float]] = {}
    for case in cases:
        if case.error is None and "kind" in case.answer:
            kinds.setdefault(str(case.answer["kind"]), []).append(case.scores["abstention"])
    if not kinds:
        return []
    shares = (f"{kind} {sum(values) / len(values):.2f} (n {len(values)})" for kind, values in sorted(kinds.items()))
    return [f"abstention by kind: {', '.join(shares)}"]


def comparison_table(found: Comparison, metric: str) -> RenderableType:
    """Which runs, what the second one gained and lost, what was not compared, and which cases became worse."""
    left_out = (
        f"not compared: before {found.before.unscored} unscored, {found.before.missing} missing; "
        f"after {found.after.unscored} unscored, {found.after.missing} missing; {found.reworded} reworded"
    )
    names = dict.fromkeys(pair.set_name for pair in found.pairs)
    parts: list[RenderableType] = [
        *(_compared_line(side, head) for side, head in zip(("before", "after"), found.heads, strict=True)),
        *(
            _paired_table([pair for pair in found.pairs if pair.set_name == name], f"{metric} · {name}")
            for name in names
        ),
        Text(left_out),
    ]
    if found.regressions:
        parts.append(_regressions_table(found.regressions))
    return Group(*parts)


def _compared_line(side: str, head: RunHead) -> Text:
    """One run of a comparison: other corpora make other figures."""
    label = f" · {head.label}" if head.label else ""
    corpus = f"{head.corpus.documents} documents, corpus {head.corpus.hash[:12]}"
    return Text(f"{side}: run {head.short_id}{label} · {head.started_at:%Y-%m-%d %H:%M} UTC · {corpus}")


def _regressions_table(regressions: Sequence[Regression]) -> RenderableType:
    table = _table(("set", "case", "language", "style", "why"), title=f"Regressions: {len(regressions)}")
    for case in regressions[:SHOWN_REGRESSIONS]:
        table.add_row(*(Text(cell) for cell in (case.set_name, case.case_id, case.lang, case.style or "", case.why)))
    if (more := len(regressions) - SHOWN_REGRESSIONS) > 0:
        table.caption = f"{more} more; --json has all"
    return table


def _paired_table(pairs: Sequence[Paired], title: str) -> RenderableType:
    table = _table(("language", "style", "n", "before", "after", "gained", "lost", "p"), title=title)
    for pair in pairs:
        table.add_row(
            pair.lang,
            pair.style,
            str(pair.n),
            f"{pair.before:.3f}",
            f"{pair.after:.3f}",
            str(pair.gained),
            str(pair.lost),
            f"{pair.p_value:.3g}",
        )
    return table


def runs_table(runs: Iterable[RecordedRun]) -> RenderableType:
    """Recorded runs, newest first, with the figures that are looked at first."""
    return _Fitting([_listed(run) for run in runs])


def _listed(run: RecordedRun) -> dict[str, str]:
    """One run of the list, by the heading of the column."""
    rows = {row.metric: row for row in run.metrics if row.lang == ALL}
    head = run.head
    return {
        "run": head.short_id,
        "started (UTC)": f"{head.started_at:%Y-%m-%d %H:%M}",
        "status": head.status,
        "documents": str(head.corpus.documents),
        **{name: _share(rows[name].value) if name in rows else NOTHING for name in _LISTED},
        "label": head.label,
    }


@dataclass(frozen=True)
class _Fitting:
    """The list of runs, without the columns that a narrow screen does not hold; only the label is ever folded."""

    rows: Sequence[Mapping[str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Leave out one column after another until the rest fits."""
        del console
        shown = list(_COLUMNS)
        gone: list[str] = []
        while self._width(shown) > options.max_width and len(gone) < len(_DROPPED):
            gone.append(_DROPPED[len(gone)])
            shown.remove(gone[-1])
        table = _table(shown)
        for column in table.columns[:-1]:
            column.no_wrap = True
        for row in self.rows:
            table.add_row(*(Text(row[heading]) for heading in shown))
        if gone:
            table.caption = f"left out for want of width: {', '.join(gone)}; --json has all"
        yield table

    def _width(self, headings: Sequence[str]) -> int:
        """What the columns need with their borders; a label that is longer than its room is folded."""
        cells = [max(cell_len(text) for text in (name, *(row[name] for row in self.rows))) for name in headings]
        return sum(cells[:-1]) + min(cells[-1], _LABEL_ROOM) + 3 * len(cells) + 1


def _table(headings: Iterable[str], title: str | None = None) -> Table:
    """A table that folds what is too long for its column: an id that is cut off names nothing."""
    table = Table(title=None if title is None else Text(title), title_justify="left")
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def cases_table(run: RecordedRun) -> RenderableType:
    """Cases that went wrong: what was missed, what stood first instead, and the question."""
    table = _table(("set", "case", "fault", "first", "question"), title="Cases that went wrong")
    for case in run.cases:
        faults = [case.error] if case.error else _faults(case.scores)
        if faults:
            hits = case.answer.get("hits", [])
            first = f"{hits[0]['document']} {hits[0]['score']:.3f}" if hits else NOTHING
            cells = (case.set_name, case.case_id, ", ".join(faults), first, str(case.answer["text"]))
            table.add_row(*(Text(cell) for cell in cells))
    return table


def _faults(scores: Mapping[str, float]) -> list[str]:
    """Shares that missed: all are best at 1, the lost questions at 0."""
    best = {name: float(name not in LOWER_IS_BETTER) for name in PROPORTIONS}
    return [name for name in sorted(PROPORTIONS & scores.keys()) if scores[name] != best[name]]


def gate_table(report: GateReport, sets: Sequence[str]) -> RenderableType:
    """Both errors over rising thresholds in each language; thresholds that change nothing are left out.

    What stands out is told above the table: beside the numbers it would be broken on a narrow screen.
    """
    langs = list(report.by_lang)
    headings = ("threshold", *(f"{lang} {error}" for lang in langs for error in ("lost", "let through")))
    table = _table(headings, title=f"Over the sets {', '.join(sets)}")
    table.columns[0].min_width = len("0.0000")
    said: list[Text] = []
    present = report.by_lang[ALL].present
    columns = [_points(gate) for gate in report.by_lang.values()]
    rows = {points[0].threshold: points for points in zip(*columns, strict=True)}
    shown: tuple[object, ...] = ()
    for threshold, points in sorted(rows.items()):
        errors = tuple((point.false_abstention, point.missed_abstention) for point in points)
        notes = []
        if threshold == report.threshold:
            notes.append(f"recommended: loses at most {report.max_lost:.0%}")
        if present and threshold == present.threshold:
            notes.append("in use")
        if notes or errors != shown:
            cells = [_share(error) for pair in errors for error in pair]
            table.add_row(f"{threshold:.4f}", *cells, style="bold" if notes else None)
        if notes:
            said.append(Text(" · ".join([f"{threshold:.4f}", *notes]), style="bold"))
        shown = errors
    counts = ", ".join(f"{lang} {gate.answerable} + {gate.unanswerable}" for lang, gate in report.by_lang.items())
    unscored = "" if report.n == report.n_scored else f"; {report.n - report.n_scored} of {report.n} not scored"
    table.caption_justify = "left"
    table.caption = f"Answerable + unanswerable questions: {counts}{unscored}"
    return Group(*said, table)


def _points(gate: LanguageGate) -> list[GatePoint]:
    """The curve with the thresholds that stand out."""
    return [*gate.curve, gate.recommended, *([gate.present] if gate.present else [])]


def _set_table(rows: Iterable[MetricRow], name: str) -> Table:
    mine = {(row.metric, row.lang): row for row in rows if row.set_name == name}
    langs = [ALL, *sorted({lang for _, lang in mine} - {ALL}, reverse=True)]
    table = Table("metric", *langs, title=Text(name), title_justify="left")
    for metric in METRICS:
        if (metric, ALL) in mine:
            table.add_row(metric, *(_figure(mine[metric, lang]) for lang in langs))
    if (HEADLINE, ALL) in mine:
        table.caption = f"{HEADLINE}: checkpoint {CHECKPOINT:.2f}, stretch {STRETCH:.2f}"
    return table


def _figure(row: MetricRow) -> str:
    counted = f"n {row.n}" if row.n == row.n_scored else f"n {row.n_scored} of {row.n}"
    return f"{_share(row.value)} {_interval(row.ci)} {counted}"


def _share(value: float | None) -> str:
    return NOTHING if value is None else f"{value:.3f}"


def _interval(ci: Interval | None) -> str:
    return "" if ci is None else f"[{ci.low:.3f}, {ci.high:.3f}]"
