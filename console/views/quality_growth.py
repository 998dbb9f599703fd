"""recall@4 as the corpus grew: one recorded run a step, whatever the period of the page."""

import pandas as pd
import streamlit as st

from console import data, formats, frames, quality_charts, ui
from console.queries import quality as queries
from console.texts import LANGS, named, t
from console.views.quality_rows import interval, targets_below, version
from engine.wire.metrics import CHECKPOINT, GROWTH, STRETCH


def show(lang: str | None) -> None:
    """Chart and table of all steps, in one language or in both."""
    found = data.read(queries.growth)
    shown = [lang] if lang else list(LANGS)
    rows = found[found["lang"].isin(shown)].reset_index(drop=True)
    heading = f"{t('quality.growth')} · {queries.DEFAULT_SET}"
    ui.section(heading, rows, "recall-by-corpus-size", help_text=t("quality.growth_help"))
    if rows.empty:
        ui.empty(t("quality.no_growth"), t("quality.no_growth_hint", label=GROWTH))
        return
    told = _told(rows)
    ui.chart(quality_charts.growth(told, [named("lang", code) for code in shown]), _description(told))
    if below := targets_below(rows):
        st.caption(below)
    ui.table(
        told.sort_values(["documents", "lang"], ascending=[True, False]),
        {
            "documents": t("quality.growth_axis"),
            "series": t("filter.lang"),
            "written": t("quality.value"),
            "interval": t("quality.interval"),
            "scored": t("quality.scored"),
            "version": t("quality.version"),
            "at": t("quality.detail_started"),
            "source": t("quality.measured"),
        },
        description=heading,
    )


def _told(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with everything written out in the language of the page."""
    told = rows.copy()
    told["series"] = [named("lang", code) for code in rows["lang"]]
    told["written"] = [formats.decimal(value) for value in rows["value"]]
    told["interval"] = [interval(row.ci_low, row.ci_high) for row in frames.rows(rows)]
    told["scored"] = [f"{row.n_scored} / {row.n}" for row in frames.rows(rows)]
    told["version"] = [version(row) for row in frames.rows(rows)]
    told["at"] = [formats.moment(at) for at in rows["started_at"]]
    told["source"] = [
        t("quality.measured_elsewhere" if row.elsewhere else "quality.measured_here") for row in frames.rows(rows)
    ]
    return told


def _description(rows: pd.DataFrame) -> str:
    """Every point in words: the chart for those who cannot see it."""
    points = "; ".join(
        f"{row.series}, {t('quality.growth_point', documents=row.documents, value=row.written)}"
        for row in frames.rows(rows)
    )
    targets = {"checkpoint": formats.decimal(CHECKPOINT, 2), "stretch": formats.decimal(STRETCH, 2)}
    return t("quality.growth_alt", points=points, **targets)
