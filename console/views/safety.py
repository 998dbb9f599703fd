"""Safety: what the guards let through, stopped, and could not judge."""

import pandas as pd
import streamlit as st

from console import charts, data, filters, formats, ui
from console.queries import messages
from console.queries import safety as queries
from console.texts import named, t
from console.views.distribution import distribution
from console.views.period import begin

EVENTS = ("escalated", "ungrounded", "withheld", "judge_error")


def render() -> None:
    """The whole page."""
    period = begin("safety")
    if not period.now.messages:
        st.stop()
    chosen = period.chosen
    _cards(period.now, period.before)
    left, right = st.columns(2, gap="large")
    with left:
        distribution(chosen, "guardrail_status", t("safety.statuses"), "guardrail-statuses")
    with right:
        distribution(chosen, "outcome", t("safety.outcomes"), "outcomes")
    _over_time(chosen)
    left, right = st.columns(2, gap="large")
    with left:
        distribution(chosen, "judge", t("safety.judge"), "judge-verdicts")
    with right:
        distribution(chosen, "kind", t("safety.kinds"), "kinds")
    _rules(chosen, shadow=False)
    _rules(chosen, shadow=True)


def _cards(now: messages.Totals, before: messages.Totals) -> None:
    cards = (
        ("urgent", (now.escalated, now.messages), (before.escalated, before.messages), "off"),
        ("ungrounded", (now.ungrounded, now.messages), (before.ungrounded, before.messages), "inverse"),
        ("blocked", (now.blocked, now.messages), (before.blocked, before.messages), "off"),
        ("guard_error", (now.guard_error, now.messages), (before.guard_error, before.messages), "inverse"),
        ("judge_error", (now.judge_error, now.judged), (before.judge_error, before.judged), "inverse"),
    )
    grid = st.grid(5, min_column_width=160)
    for key, counted, earlier, good in cards:
        with grid:
            ui.share_card(t(f"safety.{key}"), counted, earlier, good=good, help_text=t(f"safety.{key}_help"))


def _over_time(chosen: filters.Filters) -> None:
    rows = data.read(queries.events_by_day, chosen)
    ui.section(t("safety.over_time"), rows, "safety-by-day", help_text=t("safety.over_time_help"))
    names = {event: t(f"safety.event_{event}") for event in EVENTS}
    rows["series"] = [names[event] for event in rows["event"]]
    drawing = charts.lines(rows, "share", list(names.values()), axis_title=t("chart.share"), number_format=".0%")
    ui.chart(drawing, t("safety.over_time"))


def _rules(chosen: filters.Filters, *, shadow: bool) -> None:
    """The table of the rules that spoke."""
    group = "shadow" if shadow else "rules"
    rows: pd.DataFrame = data.read(queries.rule_hits, chosen, shadow=shadow)
    ui.section(t(f"safety.{group}"), rows, f"{group}-hits", help_text=t(f"safety.{group}_help"))
    if rows.empty:
        ui.empty(t(f"safety.no_{group}"), t(f"safety.no_{group}_hint"))
        return
    rows["last"] = [formats.moment(at) for at in rows["last_at"]]
    ui.table(
        rows,
        {
            "rule_id": t("safety.rule"),
            "hits": t("safety.hits"),
            "messages": t("chart.messages"),
            "ru": named("lang", "ru"),
            "en": named("lang", "en"),
            "last": t("safety.last"),
        },
        description=t(f"safety.{group}"),
    )
