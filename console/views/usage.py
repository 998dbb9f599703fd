"""Usage: how much is asked, in which language, and whether something is found."""

import streamlit as st

from console import charts, data, filters, formats, ui
from console.queries import messages
from console.texts import LANGS, named, t
from console.views.distribution import distribution
from console.views.period import begin


def render() -> None:
    """The whole page."""
    period = begin("usage")
    if not period.now.messages:
        st.stop()
    chosen = period.chosen
    _cards(period.now, period.before)
    _volume(chosen)
    left, right = st.columns(2, gap="large")
    with left:
        distribution(chosen, "lang", t("usage.languages"), "languages")
        distribution(chosen, "chat", t("usage.chats"), "chats")
    with right:
        distribution(chosen, "outcome", t("usage.outcomes"), "outcomes")
        if len(chosen.origins) > 1:
            distribution(chosen, "origin", t("usage.origins"), "origins")
    _top_hashes(chosen)


def _cards(now: messages.Totals, before: messages.Totals) -> None:
    grid = st.grid(4, min_column_width=190)
    with grid:
        ui.number_card(t("card.messages"), now.messages, before.messages, formats.count)
    shares = (
        ("answered", (now.answered, now.messages), (before.answered, before.messages), "normal"),
        ("empty", (now.empty, now.searched), (before.empty, before.searched), "inverse"),
        ("cited", (now.cited, now.answered), (before.cited, before.answered), "normal"),
    )
    for key, counted, earlier, good in shares:
        with grid:
            ui.share_card(t(f"usage.{key}"), counted, earlier, good=good, help_text=t(f"usage.{key}_help"))


def _volume(chosen: filters.Filters) -> None:
    rows = data.read(messages.by_day, chosen)
    ui.section(t("usage.volume"), rows, "messages-by-day")
    rows["series"] = [named("lang", code) for code in rows["lang"]]
    shown = [named("lang", code) for code in LANGS if chosen.lang in (None, code)]
    ui.chart(charts.columns(rows, shown), t("usage.volume"))


def _top_hashes(chosen: filters.Filters) -> None:
    rows = data.read(messages.top_hashes, chosen)
    ui.section(t("usage.hashes"), rows, "top-queries", help_text=t("usage.hashes_help"))
    rows["top_score"] = rows["top_score"].astype(float).round(3)
    rows["last"] = [formats.moment(at) for at in rows["last_at"]]
    number = st.column_config.NumberColumn
    ui.table(
        rows,
        {
            "query_hash": t("usage.hash"),
            "messages": number(t("chart.messages")),
            "share": number(t("chart.share"), format="percent"),
            "answered": number(t("usage.answered"), format="percent"),
            "empty": number(t("usage.empty"), format="percent"),
            "top_score": number(t("usage.top_score"), format="localized"),
            "last": t("safety.last"),
        },
        description=t("usage.hashes"),
    )
