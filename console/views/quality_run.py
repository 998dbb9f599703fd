"""One run of the quality page: its headline, its metrics beside those of the run before, its provenance."""

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from console import data, filters, formats, ui
from console.queries import quality as queries
from console.texts import LANGS, named, t
from console.views.answer import literal
from console.views.quality_rows import interval, not_compared, rank
from engine.wire.metrics import CHECKPOINT, HEADLINE, LOWER_IS_BETTER, STRETCH

BESIDE = (("expect_none", "abstention"), (None, "false_abstention"), (None, "mrr"))
"""Set (None: the chosen one) and metric of the cards beside the headline: is it silent when it should be?"""


def headline(run_id: str, set_name: str, lang: str | None) -> None:
    """Cards: the headline metric as a whole and by language, and what has to be weighed against it."""
    now, earlier = _metrics(run_id), _earlier(run_id, set_name)
    slices = (lang,) if lang else (filters.ALL, *LANGS)
    cards = [(f"{HEADLINE} · {named('lang', code)}", set_name, HEADLINE, code) for code in slices]
    cards += [
        (_beside(metric, beside, set_name), beside or set_name, metric, lang or filters.ALL)
        for beside, metric in BESIDE
    ]
    grid = st.grid(3, min_column_width=220)
    for label, *key in cards:
        value, old = _pick(now, *key), _pick(earlier.metrics, *key)
        if value is not None or key[1] == HEADLINE:
            with grid.container(border=True, gap="xxsmall", height="stretch"):
                _card(label, key[1], value, old, earlier.obstacle(key[0]))


def table(run_id: str, set_name: str, lang: str | None) -> None:
    """Every metric of the run, with its change from the run before."""
    now, earlier = _metrics(run_id), _earlier(run_id, set_name)
    ui.section(t("quality.metrics"), now, "run-metrics", help_text=t("quality.metrics_help"))
    rows = _rows(now, earlier, lang or filters.ALL)
    columns: dict[str, str] = {
        "set": t("quality.set"),
        "metric": t("quality.metric"),
        "value": t("quality.value"),
        "interval": t("quality.interval"),
        "scored": t("quality.scored"),
        "change": t("quality.change"),
    }
    if lang is None:
        columns |= {code: named("lang", code) for code in LANGS}
    ui.table(rows, dict(columns), description=t("quality.metrics"))


def details(run_id: str) -> None:
    """Where the numbers come from."""
    run = data.read(queries.run, run_id)
    if run is None:
        return
    with st.expander(t("quality.details"), icon=":material/fact_check:"):
        rows = {
            "run": run.id,
            "status": run.status,
            "started": run.started_at.strftime("%Y-%m-%d %H:%M:%S UTC"),
            "measured": t("quality.measured_elsewhere" if run.imported_at else "quality.measured_here"),
            "finished": run.finished_at.strftime("%Y-%m-%d %H:%M:%S UTC") if run.finished_at else formats.NOTHING,
            "git": f"{run.git_revision} {t('quality.dirty')}" if run.git_dirty else run.git_revision,
            "corpus_hash": run.corpus_hash,
            "corpus": t("quality.corpus_size", documents=run.documents, chunks=run.chunks),
            "label": run.label or formats.NOTHING,
        }
        frame = pd.DataFrame({"key": [t(f"quality.detail_{key}") for key in rows], "value": list(rows.values())})
        ui.table(frame, {"key": t("quality.detail"), "value": t("quality.value")}, description=t("quality.details"))
        for heading, content in (("settings", run.settings), ("provenance", run.provenance)):
            st.caption(t(f"quality.detail_{heading}"))
            st.json(content, expanded=1)


def _card(
    label: str,
    metric: str,
    value: "pd.Series[float] | None",
    old: "pd.Series[float] | None",
    obstacle: str | None,
) -> None:
    """One card: the number, its change or why there is none, its interval and its counts; the targets that apply."""
    number = None if value is None or pd.isna(value["value"]) else float(value["value"])
    change = None
    if number is not None and old is not None and not pd.isna(old["value"]):
        change = obstacle or formats.signed(number - float(old["value"]))
    good = "inverse" if metric in LOWER_IS_BETTER else "normal"
    moved = formats.moved(change)
    st.metric(
        label,
        formats.decimal(number),
        delta=change,
        delta_color=good if moved else "off",  # type: ignore[arg-type]
        delta_arrow="auto" if moved else "off",
        delta_description=t("quality.vs_run_before") if change and not obstacle else None,
    )
    if value is None or number is None:
        st.badge(t("quality.not_measured"), icon=":material/help:", color="gray")
        return
    if metric == HEADLINE:
        key, icon, colour = verdict(number)
        st.badge(t(f"quality.verdict_{key}"), icon=icon, color=colour)  # type: ignore[arg-type]
    scored, total = int(value["n_scored"]), int(value["n"])
    st.caption(
        t(
            "quality.card_line",
            interval=interval(value["ci_low"], value["ci_high"]),
            scored=formats.integer(scored),
            total=formats.integer(total),
        )
    )
    if scored < total:
        st.badge(t("quality.unscored", count=total - scored), icon=":material/warning:", color="orange")


def verdict(value: float) -> tuple[str, str, str]:
    """How a recall stands to the two targets: a word, an icon and a colour, never the colour alone."""
    if value >= STRETCH:
        return "stretch", ":material/check_circle:", "green"
    if value >= CHECKPOINT:
        return "checkpoint", ":material/flag:", "blue"
    return "below", ":material/error:", "red"


def _metrics(run_id: str | None) -> pd.DataFrame:
    columns = ["set_name", "metric", "lang", "value", "ci_low", "ci_high", "n", "n_scored"]
    return data.read(queries.metrics, run_id) if run_id else pd.DataFrame(columns=columns)


@dataclass(frozen=True, slots=True)
class _Earlier:
    """The run before one that measured the same set; without a run its metrics are empty."""

    now: queries.Run | None
    before: queries.Run | None
    metrics: pd.DataFrame

    def obstacle(self, set_name: str) -> str | None:
        """Why the figures of a set are not compared, in words; None where they are."""
        if self.now is None or self.before is None:
            return None
        return not_compared(self.now.basis(set_name), self.before.basis(set_name))


def _earlier(run_id: str, set_name: str) -> _Earlier:
    now = data.read(queries.run, run_id)
    earlier = data.read(queries.run_before, now.started_at, set_name) if now else None
    before = data.read(queries.run, earlier) if earlier else None
    return _Earlier(now, before, _metrics(earlier))


def _beside(metric: str, beside: str | None, set_name: str) -> str:
    """The name of a card beside the headline, with its set where that is not the chosen one."""
    name = named("metric", metric)
    return name if beside in (None, set_name) else f"{name} · {literal(beside or '')}"


def _pick(frame: pd.DataFrame, set_name: str, metric: str, lang: str) -> "pd.Series[float] | None":
    """One measured value of a run, or None."""
    found = frame[(frame["set_name"] == set_name) & (frame["metric"] == metric) & (frame["lang"] == lang)]
    return None if found.empty else found.iloc[0]


def _rows(now: pd.DataFrame, earlier: _Earlier, lang: str) -> pd.DataFrame:
    """The table's rows; a metric that the run before had and this one has not is shown as missing."""
    before = earlier.metrics
    keys = sorted(
        {*zip(now["set_name"], now["metric"], strict=True), *zip(before["set_name"], before["metric"], strict=True)},
        key=lambda key: (key[0] != queries.DEFAULT_SET, key[0], rank(key[1])),
    )
    ran = set(now["set_name"])
    rows = []
    for set_name, metric in keys:
        value = _pick(now, set_name, metric, lang)
        old = _float(_pick(before, set_name, metric, lang))
        obstacle = earlier.obstacle(set_name) if set_name in ran and old is not None else None
        row = {
            "set": set_name,
            "metric": named("metric", metric),
            "value": _number(value),
            "interval": interval(value["ci_low"], value["ci_high"]) if value is not None else formats.NOTHING,
            "scored": f"{value['n_scored']:.0f} / {value['n']:.0f}" if value is not None else formats.NOTHING,
            "change": obstacle or change_text(metric, _float(value), old, ran=set_name in ran),
        }
        rows.append(row | {code: _number(_pick(now, set_name, metric, code)) for code in LANGS})
    return pd.DataFrame(rows)


def change_text(metric: str, value: float | None, old: float | None, *, ran: bool = True) -> str:
    """The change in words and signs; a score that is gone counts as a loss, unless its set was not run at all."""
    if old is None:
        return formats.NOTHING
    if value is None:
        return t("quality.change_missing" if ran else "quality.change_not_run")
    change = value - old
    if abs(change) < 0.0005:
        return t("quality.change_none")
    better = (change > 0) != (metric in LOWER_IS_BETTER)
    return f"{formats.signed(change)} · {t('quality.change_better' if better else 'quality.change_worse')}"


def _float(value: "pd.Series[float] | None") -> float | None:
    return None if value is None or pd.isna(value["value"]) else float(value["value"])


def _number(value: "pd.Series[float] | None") -> str:
    return formats.decimal(_float(value))
