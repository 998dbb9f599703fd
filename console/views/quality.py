"""Quality: does the search find the right sources, and is it getting better."""

from typing import Any

import pandas as pd
import streamlit as st

from console import charts, data, filter_bar, filters, formats, frames, links, ui
from console.queries import quality as queries
from console.texts import LANGS, named, t
from console.views import quality_gate, quality_growth, quality_run, quality_source
from console.views.answer import literal
from console.views.quality_rows import day_and_time, not_compared, targets_below, version
from engine.wire.metrics import CHECKPOINT, STRETCH


def render() -> None:
    """The whole page."""
    ui.title("quality")
    chosen = filter_bar.show("quality", messages=False)
    trend = data.read(queries.trend, chosen)
    trend = trend[trend["value"].notna()]
    if trend.empty:
        _newest_of_all(chosen)
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        trend = trend[trend["set_name"] == _choose_set(trend)]
        run_id = _choose_run(trend)
    set_name = str(trend["set_name"].iloc[0])
    quality_source.show(run_id)
    quality_run.headline(run_id, set_name, chosen.lang)
    _trend(trend, chosen)
    if chosen.lang is None:
        _by_language(trend)
    _below(run_id, set_name, chosen.lang)


def _newest_of_all(chosen: filters.Filters) -> None:
    """A period without a run says so and shows the newest run there is: figures that came with the program age."""
    newest = data.read(queries.newest)
    if newest is None:
        ui.empty(t("quality.empty"), t("quality.empty_hint"))
        return
    ui.empty(t("quality.empty"), t("quality.newest_hint", at=formats.moment(newest.started_at)))
    quality_source.show(newest.run)
    quality_run.headline(newest.run, newest.set_name, chosen.lang)
    _below(newest.run, newest.set_name, chosen.lang)


def _below(run_id: str, set_name: str, lang: str | None) -> None:
    """What stands below the trend, or takes its place."""
    quality_growth.show(lang)
    quality_run.table(run_id, set_name, lang)
    quality_gate.show(run_id, lang)
    quality_run.details(run_id)


def _choose_set(trend: pd.DataFrame) -> str:
    """Which set of questions the trend is about; asked only where there is more than one."""
    names: list[str] = sorted(set(trend["set_name"]))
    default: str = queries.DEFAULT_SET if queries.DEFAULT_SET in names else names[0]
    if len(names) == 1:
        return names[0]
    return links.select("set", t("quality.set"), names, default, str, width=200)


def _choose_run(trend: pd.DataFrame) -> str:
    """The run that cards and tables are about; the last one unless the reader says otherwise."""
    runs = trend.drop_duplicates("run", keep="last").iloc[::-1]
    names = {row.run: _run_name(row) for row in frames.rows(runs)}
    return links.select("run", t("quality.run"), list(names), next(iter(names)), names.__getitem__)


def _run_name(row: Any) -> str:
    """When, which commit, and whether it was measured elsewhere."""
    name = f"{day_and_time(row.started_at)} · {version(row)}"
    return f"{name} · {t('quality.measured_elsewhere')}" if row.elsewhere else name


def _trend(trend: pd.DataFrame, chosen: filters.Filters) -> None:
    """The headline metric over the runs, with the last run of the period before for comparison."""
    series = chosen.lang or filters.ALL
    rows = _points(trend[trend["lang"] == series])
    set_name = str(trend["set_name"].iloc[0])
    ui.section(_of_set(t("quality.trend"), set_name), _csv(rows), "recall-by-run", help_text=t("quality.trend_help"))
    if rows.empty:
        ui.empty(t("quality.empty"), t("quality.empty_hint"))
        return
    last = float(rows["value"].iloc[-1])
    ui.chart(
        charts.recall_trend(rows, [named("lang", series)]),
        t(
            "quality.trend_alt",
            runs=len(rows),
            value=formats.decimal(last),
            checkpoint=formats.decimal(CHECKPOINT, 2),
            stretch=formats.decimal(STRETCH, 2),
        ),
    )
    for line in (targets_below(rows), _against_period_before(chosen, series, set_name, frames.rows(rows)[-1])):
        if line:
            st.caption(line)


def _of_set(heading: str, set_name: str) -> str:
    """A heading with the set that is shown below it."""
    return f"{heading} · {literal(set_name)}"


def _against_period_before(chosen: filters.Filters, series: str, set_name: str, last: Any) -> str | None:
    """The last run of this period against the last run of the period before; None where that has none.

    The cards compare with the run before, in whatever period: that there is none in this one says nothing of them.
    """
    before = data.read(queries.trend, chosen.previous())
    before = before[(before["lang"] == series) & (before["set_name"] == set_name) & before["value"].notna()]
    if before.empty:
        return None
    old = frames.rows(before)[-1]
    obstacle = not_compared(_basis(last), _basis(old))
    line = t("quality.period_before", days=chosen.days, value=formats.decimal(old.value))
    return f"{line} {obstacle or t('quality.change_since', change=formats.signed(last.value - old.value))}."


def _basis(row: Any) -> queries.Basis:
    return queries.Basis(row.corpus_hash, None if pd.isna(row.questions) else row.questions)


def _by_language(trend: pd.DataFrame) -> None:
    """The headline metric in each language."""
    rows = _points(trend[trend["lang"].isin(LANGS)])
    names = [named("lang", code) for code in LANGS]
    heading = _of_set(t("quality.by_language"), str(trend["set_name"].iloc[0]))
    ui.section(heading, _csv(rows), "recall-by-language")
    if rows.empty:
        ui.empty(t("quality.no_languages"), t("quality.no_languages_hint"))
        return
    ui.chart(charts.recall_trend(rows, names), heading)
    if below := targets_below(rows):
        st.caption(below)


def _points(trend: pd.DataFrame) -> pd.DataFrame:
    """The rows of a trend as a chart wants them: in order, and written out in the language of the page."""
    rows = trend.copy()
    rows["order"] = pd.factorize(rows["run"])[0]
    rows["when"] = [day_and_time(moment) for moment in rows["started_at"]]
    rows["series"] = [named("lang", code) for code in rows["lang"]]
    rows["scored"] = [f"{row.n_scored} / {row.n}" for row in frames.rows(rows)]
    rows["version"] = [version(row) for row in frames.rows(rows)]
    rows["corpus"] = [t("quality.corpus_size", documents=row.documents, chunks=row.chunks) for row in frames.rows(rows)]
    return rows


def _csv(rows: pd.DataFrame) -> pd.DataFrame:
    """The columns of a trend that are data, not decoration."""
    return rows[
        [
            "run",
            "started_at",
            "label",
            "git_revision",
            "git_dirty",
            "elsewhere",
            "documents",
            "chunks",
            "set_name",
            "lang",
            "value",
            "ci_low",
            "ci_high",
            "n_scored",
            "n",
        ]
    ]
