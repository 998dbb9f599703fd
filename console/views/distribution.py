"""A distribution of messages over the values of one property."""

from console import charts, data, filters, formats, frames, ui
from console.queries import messages
from console.texts import named, t

_GROUPS: dict[messages.Dimension, str] = {
    "guardrail_status": "guardrail",
    "outcome": "outcome",
    "judge": "judge",
    "kind": "kind",
    "lang": "lang",
    "chat": "chat",
    "origin": "origin",
}


def distribution(chosen: filters.Filters, dimension: messages.Dimension, heading: str, file_name: str) -> None:
    """Bars with the count and the share of each value."""
    rows = data.read(messages.counts, chosen, dimension)
    ui.section(heading, rows, file_name)
    if rows.empty:
        ui.empty(t("data.no_values"), t("data.no_values_hint"))
        return
    total = int(rows["messages"].sum())
    rows["share"] = rows["messages"] / total
    rows["name"] = [named(_GROUPS[dimension], value) for value in rows["value"]]
    rows["written"] = [f"{formats.integer(row.messages)} · {formats.percent(row.share)}" for row in frames.rows(rows)]
    ui.chart(charts.bars(rows), heading)
