"""The relevance gate of a run: what every threshold costs, and whether a score keeps what it promises."""

from typing import Any

import pandas as pd
import streamlit as st

from console import data, filters, formats, frames, quality_charts, ui
from console.queries import gate as queries
from console.texts import LANGS, named, t
from console.views.answer import literal

ERRORS = {"lost": "answerable", "passed": "unanswerable"}
"""Both errors of a gate, and out of which questions they are counted."""


def show(run_id: str, lang: str | None) -> None:
    """Both curves of a run, each with its table."""
    gate = data.read(queries.gate, run_id)
    curve = data.read(queries.curve, run_id)
    shown: list[str] = [lang] if lang else list(LANGS)
    curve = curve[curve["lang"].isin([*shown, filters.ALL] if lang is None else shown)].reset_index(drop=True)
    asked = ", ".join(literal(name) for name in data.read(queries.sets, run_id))
    ui.section(_over(t("gate.title"), asked), curve, "gate-errors", help_text=t("gate.help"))
    if gate is None or curve.empty:
        ui.empty(t("gate.empty"), t("gate.empty_hint"))
        return
    marks = _marks(gate)
    points = _points(curve[curve["lang"].isin(shown)])
    ui.chart(
        quality_charts.gate_errors(
            points,
            [t(f"gate.{error}") for error in ERRORS],
            [named("lang", code) for code in shown],
            {t(f"gate.mark_{name}", value=formats.decimal(value, 4)): value for name, value in marks.items()},
        ),
        _description(curve, marks, lang or filters.ALL),
    )
    for line in (t("gate.asked", sets=asked), *_notes(gate)):
        st.caption(line)
    _costs(curve, marks)
    _reliability(run_id, gate, shown, asked)


def _over(heading: str, asked: str) -> str:
    """A heading with the sets whose questions are counted below it: all of the run, whichever the page shows."""
    return f"{heading} · {asked}" if asked else heading


def _marks(gate: queries.Gate) -> dict[str, float]:
    """The thresholds that stand out, as far as they are known."""
    known = {"in_force": gate.in_force, "at_limit": gate.at_limit}
    return {name: value for name, value in known.items() if value is not None}


def _points(curve: pd.DataFrame) -> pd.DataFrame:
    """A row an error: what the curves are drawn from; where nothing was counted or known there is none."""
    points = [
        {
            "threshold": row.threshold,
            "error": t(f"gate.{error}"),
            "language": named("lang", row.lang),
            "share": counted / whole,
            "counts": _counts(counted, whole),
        }
        for row in frames.rows(curve)
        for error, of in ERRORS.items()
        if (whole := int(getattr(row, of))) and not pd.isna(counted := getattr(row, error))
    ]
    return pd.DataFrame(points, columns=["threshold", "error", "language", "share", "counts"])


def _notes(gate: queries.Gate) -> list[str]:
    """What the chart leaves open."""
    notes = []
    if gate.in_force is None:
        notes.append(t("gate.no_threshold"))
    if gate.unknown:
        notes.append(
            t("gate.unknown", count=formats.integer(gate.unknown), threshold=formats.decimal(gate.known_from, 4))
        )
    return notes


def _costs(curve: pd.DataFrame, marks: dict[str, float]) -> None:
    """What the thresholds that stand out cost, by language: the text beside the chart."""
    rows = [
        {
            "mark": t(f"gate.{name}"),
            "threshold": formats.decimal(value, 4),
            "language": named("lang", row.lang),
            **{error: _cost(getattr(row, error), getattr(row, of)) for error, of in ERRORS.items()},
        }
        for name, value in marks.items()
        for row in sorted(frames.rows(curve[curve["threshold"] == value]), key=lambda row: _order(row.lang))
    ]
    if rows:
        ui.table(
            pd.DataFrame(rows),
            {
                "mark": t("gate.which"),
                "threshold": t("gate.threshold"),
                "language": t("filter.lang"),
                "lost": t("gate.lost"),
                "passed": t("gate.passed"),
            },
            description=t("gate.title"),
        )


def _reliability(run_id: str, gate: queries.Gate, shown: list[str], asked: str) -> None:
    rows = data.read(queries.reliability, run_id, gate.known_from)
    rows = rows[rows["lang"].isin(shown)].reset_index(drop=True)
    ui.section(_over(t("gate.reliability"), asked), rows, "gate-reliability", help_text=t("gate.reliability_help"))
    if rows.empty:
        ui.empty(t("gate.no_reliability"), t("gate.no_reliability_hint"))
        return
    told = rows.copy()
    told["series"] = [named("lang", code) for code in rows["lang"]]
    told["share"] = rows["answerable"] / rows["questions"]
    told["span"] = [
        f"{formats.decimal(row.span_low, 1)}–{formats.decimal(row.span_high, 1)}" for row in frames.rows(rows)
    ]
    told["counts"] = [_counts(row.answerable, row.questions) for row in frames.rows(rows)]
    ends = [formats.wilson(row.answerable, row.questions) or (0.0, 1.0) for row in frames.rows(rows)]
    told["low"], told["high"] = [low for low, _ in ends], [high for _, high in ends]
    told["interval"] = [f"{_percent(low)}–{formats.percent(high, 0)}" for low, high in ends]
    told["written"] = [formats.percent(share, 0) for share in told["share"]]
    told["mean"] = [formats.decimal(score) for score in rows["mean_score"]]
    ui.chart(quality_charts.reliability(told, [named("lang", code) for code in shown]), _reliability_alt(told))
    ui.table(
        told,
        {
            "series": t("filter.lang"),
            "span": t("gate.span"),
            "mean": t("gate.mean"),
            "counts": t("gate.counts"),
            "written": t("gate.answerable_share"),
            "interval": t("quality.interval"),
        },
        description=t("gate.reliability"),
    )


def _description(curve: pd.DataFrame, marks: dict[str, float], lang: str) -> str:
    """The chart in words: what each threshold that stands out costs."""
    told = [t("gate.title")]
    for name, value in marks.items():
        (row,) = frames.rows(curve[(curve["threshold"] == value) & (curve["lang"] == lang)])
        costs = [
            f"{t(f'gate.{error}')}: {_cost(getattr(row, error), getattr(row, of))}" for error, of in ERRORS.items()
        ]
        told.append(f"{t(f'gate.mark_{name}', value=formats.decimal(value, 4))}: {'; '.join(costs)}")
    return ". ".join(told)


def _reliability_alt(rows: pd.DataFrame) -> str:
    spans = "; ".join(f"{row.series} {row.span}: {row.written} ({row.counts})" for row in frames.rows(rows))
    return f"{t('gate.reliability')}: {spans}"


def _cost(counted: Any, whole: int) -> str:
    """A count out of all, as a share with its interval; nothing where it is not known."""
    if pd.isna(counted) or not whole:
        return formats.NOTHING
    low, high = formats.wilson(int(counted), whole) or (0.0, 1.0)
    share = formats.percent(counted / whole)
    return f"{_counts(counted, whole)} · {share} ({_percent(low, 1)}–{formats.percent(high)})"


def _counts(part: float, whole: int) -> str:
    return t("card.counts", part=formats.count(part), whole=formats.integer(whole))


def _percent(share: float, digits: int = 0) -> str:
    """The lower end of an interval in percent: the sign stands after the upper one alone."""
    return formats.decimal(share * 100, digits)


def _order(lang: str) -> int:
    return (filters.ALL, *LANGS).index(lang)
