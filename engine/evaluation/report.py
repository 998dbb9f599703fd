"""A run and a gate report as plain objects for machines; the form is that of the command line's JSON."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

from engine.evaluation.calibrate import GateReport
from engine.evaluation.chart import Step
from engine.evaluation.compare import Comparison
from engine.evaluation.records import ALL, MetricRow, RecordedRun, RunHead


def summary(run: RecordedRun) -> dict[str, Any]:
    """What was run, on what, and every figure with its interval and how many cases it rests on."""
    head = run.head
    return {
        "run": str(head.id),
        "status": head.status,
        "label": head.label,
        "started_at": head.started_at.isoformat(),
        "finished_at": head.finished_at.isoformat() if head.finished_at else None,
        "corpus": asdict(head.corpus),
        "git": {"revision": head.git_revision, "dirty": head.git_dirty},
        "settings": dict(head.settings),
        "provenance": dict(head.provenance),
        "sets": {name: _set(run.metrics, name) for name in sorted({row.set_name for row in run.metrics})},
    }


def cases_of(run: RecordedRun) -> list[dict[str, Any]]:
    """The results case by case, sets in order, cases in the order of their set."""
    return [
        {
            "set": case.set_name,
            "id": case.case_id,
            "lang": case.lang,
            "style": case.style,
            "scores": dict(case.scores),
            "answer": dict(case.answer),
            "error": case.error,
        }
        for case in run.cases
    ]


def comparison_of(found: Comparison, metric: str) -> dict[str, Any]:
    """Two runs case by case: which they are, pairs in groups, what is left out of them, and what became worse."""
    before, after = found.heads
    return {
        "metric": metric,
        "runs": {"before": _compared(before), "after": _compared(after)},
        "pairs": [asdict(pair) for pair in found.pairs],
        "before": asdict(found.before),
        "after": asdict(found.after),
        "reworded": found.reworded,
        "regressions": [asdict(case) for case in found.regressions],
    }


def _compared(head: RunHead) -> dict[str, Any]:
    """Which run stands on one side of a comparison, and on which corpus it was measured."""
    return {
        "run": str(head.id),
        "label": head.label,
        "started_at": head.started_at.isoformat(),
        "corpus": asdict(head.corpus),
    }


def gate_summary(report: GateReport, sets: Sequence[str]) -> dict[str, Any]:
    """The recommended threshold, the sets that it is read from, and the curve of both errors in each language."""
    return {
        "sets": list(sets),
        "threshold": report.threshold,
        "max_lost": report.max_lost,
        "n": report.n,
        "n_scored": report.n_scored,
        "by_lang": {lang: asdict(gate) for lang, gate in report.by_lang.items()},
    }


def steps_of(steps: Sequence[Step]) -> list[dict[str, Any]]:
    """The steps of the corpus' growth, as they were drawn."""
    return [{**vars(step), "ci": list(step.ci)} for step in steps]


def _set(rows: Iterable[MetricRow], name: str) -> dict[str, Any]:
    mine = [row for row in rows if row.set_name == name]
    langs = sorted({row.lang for row in mine} - {ALL}, reverse=True)
    return {
        **_figures(row for row in mine if row.lang == ALL),
        "by_lang": {lang: _figures(row for row in mine if row.lang == lang) for lang in langs},
    }


def _figures(rows: Iterable[MetricRow]) -> dict[str, Any]:
    figures = list(rows)
    return {
        "n": max((row.n for row in figures), default=0),
        "n_scored": min((row.n_scored for row in figures), default=0),
        "metrics": {
            row.metric: {"value": row.value, "ci": list(row.ci) if row.ci else None, "n_scored": row.n_scored}
            for row in figures
        },
    }
