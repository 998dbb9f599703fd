"""Performance: how long answers take and where the time goes."""

import streamlit as st

from console import charts, data, filters, formats, frames, ui
from console.queries import messages
from console.queries import performance as queries
from console.texts import named, t
from console.views.period import begin


def render() -> None:
    """The whole page."""
    period = begin("performance")
    if period.now.messages:
        _cards(period.now, period.before)
        _over_time(period.chosen)
        _stages(period.chosen)
        _tokens(period.chosen)
    _holdings()


def _cards(now: messages.Totals, before: messages.Totals) -> None:
    grid = st.grid(3, min_column_width=180)
    with grid:
        ui.number_card(t("performance.p50"), now.p50, before.p50, formats.milliseconds, good="inverse")
    with grid:
        ui.number_card(t("performance.p95"), now.p95, before.p95, formats.milliseconds, good="inverse")
    with grid:
        ui.number_card(t("card.messages"), now.messages, before.messages, formats.count)


def _over_time(chosen: filters.Filters) -> None:
    rows = data.read(queries.by_day, chosen)
    ui.section(t("performance.over_time"), rows, "latency-by-day")
    rows["series"] = rows["percentile"]
    drawing = charts.lines(rows, "ms", ("p50", "p95"), axis_title=t("performance.ms"), number_format=",.0f")
    ui.chart(drawing, t("performance.over_time"))


def _stages(chosen: filters.Filters) -> None:
    rows = data.read(queries.stages, chosen)
    ui.section(t("performance.stages"), rows, "latency-by-stage", help_text=t("performance.stages_help"))
    if rows.empty:
        ui.empty(t("performance.no_stages"), t("performance.no_stages_hint"))
        return
    rows = rows.round(1)
    rows["name"] = [named("stage", stage) for stage in rows["stage"]]
    ui.chart(charts.stage_spans(rows), t("performance.stages"))
    number = st.column_config.NumberColumn
    ui.table(
        rows,
        {
            "name": t("performance.stage"),
            "messages": number(t("chart.messages")),
            "p50": number(t("performance.p50_ms"), format="localized"),
            "p95": number(t("performance.p95_ms"), format="localized"),
            "max": number(t("performance.max_ms"), format="localized"),
        },
        description=t("performance.stages"),
    )


def _tokens(chosen: filters.Filters) -> None:
    rows = data.read(queries.tokens, chosen)
    if rows.empty:
        return
    rows = rows.round(1)
    ui.section(t("performance.tokens"), rows, "tokens")
    number = st.column_config.NumberColumn
    ui.table(
        rows,
        {
            "kind": t("performance.token_kind"),
            "tokens": number(t("performance.token_sum"), format="localized"),
            "mean": number(t("performance.token_mean"), format="localized"),
            "messages": number(t("chart.messages")),
        },
        description=t("performance.tokens"),
    )


def _holdings() -> None:
    """What the engine holds now; the filters do not touch it."""
    corpus = data.read(queries.corpus)
    languages = data.read(queries.corpus_languages)
    ui.section(t("performance.holdings"), languages, "corpus", help_text=t("performance.holdings_help"))
    if corpus is None:
        ui.empty(t("performance.no_corpus"), t("performance.no_corpus_hint"))
        return
    rows = {str(row.relation): int(row.rows) for row in frames.rows(data.read(queries.storage))}
    cards = (
        (t("performance.documents"), corpus.documents, None),
        (t("performance.chunks"), corpus.chunks, None),
        (t("performance.all_chunks"), rows.get("chunk"), t("performance.all_chunks_help")),
        (t("performance.log_rows"), rows.get("query_log"), None),
    )
    grid = st.grid(4, min_column_width=160)
    for label, count, help_text in cards:
        grid.metric(label, formats.integer(count), border=True, help=help_text)
    st.caption(
        t(
            "performance.corpus_line",
            hash=corpus.hash[:12],
            spaces=", ".join(corpus.spaces),
            seeded=corpus.seeded_at.strftime("%Y-%m-%d %H:%M UTC"),
        )
    )
    if languages.empty:
        return
    languages["name"] = [named("lang", code) for code in languages["lang"]]
    ui.table(
        languages,
        {"name": t("filter.lang"), "documents": t("performance.documents"), "chunks": t("performance.chunks")},
        description=t("performance.holdings"),
    )
