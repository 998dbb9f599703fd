"""Charts. Colours come from the theme, one palette for light and one for dark; shapes say the same once more."""

import json
from collections.abc import Sequence
from math import floor

import altair as alt
import pandas as pd

from console import formats
from console.texts import lang, t
from engine.wire.metrics import CHECKPOINT, HEADLINE, STRETCH

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3], [10, 2])
Drawing = alt.Chart | alt.LayerChart | alt.FacetChart

BAR_HEIGHT = 30
"""Pixels of a row in a chart of names."""
SHORTEST = 0.1
"""Milliseconds: a logarithmic axis has no zero, what is shorter is drawn here."""
GREY = "#8a94a0"
"""Readable on both backgrounds."""


def localised(drawing: Drawing) -> Drawing:
    """The drawing with numbers as they are written in the language of the page."""
    if lang() == "en":
        return drawing
    number = alt.NumberLocale(decimal=",", thousands="\u202f", grouping=[3], currency=["", "\u202f₽"])
    told: Drawing = drawing.configure(locale=alt.Locale(number=number))
    return told


def day_format() -> str:
    """How a day is written on an axis."""
    return "%d.%m" if lang() == "ru" else "%b %d"


def recall_trend(frame: pd.DataFrame, series: Sequence[str]) -> Drawing:
    """The headline metric run by run: a band for its interval, and the two targets as lines."""
    # By their order: two runs of one minute are two places.
    whens = json.dumps([str(when) for when in frame.drop_duplicates("order").sort_values("order")["when"]])
    axis = alt.Axis(
        labelAngle=0, labelOverlap="greedy", labelFlush=False, labelExpr=f"{whens}[datum.value]", labelLimit=200
    )
    x = alt.X("order:O", title=None, axis=axis)
    scale = alt.Scale(domain=domain(frame), zero=False, nice=False)
    y = alt.Y("value:Q", title=HEADLINE, scale=scale)
    low, high = alt.Y("ci_low:Q", scale=scale), alt.Y2("ci_high:Q")
    base = alt.Chart(frame)
    tooltip = [
        alt.Tooltip("when:N", title=t("quality.run")),
        alt.Tooltip("label:N", title=t("quality.label")),
        alt.Tooltip("value:Q", title=HEADLINE, format=".3f"),
        alt.Tooltip("ci_low:Q", title=t("quality.ci_low"), format=".3f"),
        alt.Tooltip("ci_high:Q", title=t("quality.ci_high"), format=".3f"),
        alt.Tooltip("scored:N", title=t("quality.scored")),
        alt.Tooltip("version:N", title=t("quality.version")),
        alt.Tooltip("corpus:N", title=t("quality.corpus")),
    ]
    names = list(series)
    colour = alt.Color("series:N", title=None, scale=alt.Scale(domain=names), legend=legend(names))
    shape = alt.Shape(
        "series:N", title=None, scale=alt.Scale(domain=names, range=SHAPES[: len(names)]), legend=legend(names)
    )
    layers: list[alt.Chart] = [*targets(scale, domain(frame)[0])]
    if len(names) == 1:
        layers.append(base.mark_area(opacity=0.15).encode(x, low, high, colour))
    layers += [
        base.mark_rule(opacity=0.55, strokeWidth=1.5).encode(x, low, high, colour),
        base.mark_line(strokeWidth=2).encode(x, y, colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(x, y, colour, shape, tooltip=tooltip),
    ]
    return alt.layer(*layers).properties(height=300)


def lines(frame: pd.DataFrame, value: str, series: Sequence[str], *, axis_title: str, number_format: str) -> Drawing:
    """One line a series over days; the series differ in colour, dash and shape."""
    names = list(series)
    base = alt.Chart(frame).encode(
        alt.X("day:T", title=None, axis=alt.Axis(format=day_format(), labelOverlap="greedy", tickCount=8)),
        alt.Y(f"{value}:Q", title=axis_title, axis=alt.Axis(format=number_format), scale=alt.Scale(zero=True)),
        alt.Color("series:N", title=None, scale=alt.Scale(domain=names), legend=legend(names)),
    )
    tooltip = [
        alt.Tooltip("day:T", title=t("chart.day"), format="%Y-%m-%d"),
        alt.Tooltip("series:N", title=t("chart.series")),
        alt.Tooltip(f"{value}:Q", title=axis_title, format=number_format),
        alt.Tooltip("messages:Q", title=t("chart.messages"), format=",d"),
    ]
    dash = alt.StrokeDash("series:N", scale=alt.Scale(domain=names, range=list(DASHES[: len(names)])), legend=None)
    shape = alt.Shape(
        "series:N", title=None, scale=alt.Scale(domain=names, range=SHAPES[: len(names)]), legend=legend(names)
    )
    return alt.layer(
        base.mark_line(strokeWidth=2).encode(dash),
        base.mark_point(filled=True, size=55, opacity=1).encode(shape, tooltip=tooltip),
    ).properties(height=280)


def columns(frame: pd.DataFrame, series: Sequence[str]) -> Drawing:
    """Messages a day, stacked by series."""
    names = list(series)
    drawing: alt.Chart = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            alt.X(
                "yearmonthdate(day):T",
                title=None,
                axis=alt.Axis(format=day_format(), labelOverlap="greedy", tickCount=8),
            ),
            alt.Y("messages:Q", title=t("chart.messages"), axis=alt.Axis(tickMinStep=1, format=",d")),
            alt.Color("series:N", title=None, scale=alt.Scale(domain=names), legend=legend(names)),
            tooltip=[
                alt.Tooltip("day:T", title=t("chart.day"), format="%Y-%m-%d"),
                alt.Tooltip("series:N", title=t("chart.series")),
                alt.Tooltip("messages:Q", title=t("chart.messages"), format=",d"),
            ],
        )
        .properties(height=280)
    )
    return drawing


def bars(frame: pd.DataFrame) -> Drawing:
    """Counts by name, the count and the share written at each bar."""
    base = alt.Chart(frame).encode(
        alt.Y(
            "name:N", title=None, sort=None, axis=alt.Axis(labelLimit=220, labelFlush=False, ticks=False, domain=False)
        ),
        alt.X(
            "messages:Q",
            title=None,
            axis=None,
            scale=alt.Scale(domain=[0, float(frame["messages"].max()) * 1.45]),
        ),
        tooltip=[
            alt.Tooltip("name:N", title=t("chart.name")),
            alt.Tooltip("messages:Q", title=t("chart.messages"), format=",d"),
            alt.Tooltip("share:Q", title=t("chart.share"), format=".1%"),
        ],
    )
    return alt.layer(
        base.mark_bar(cornerRadiusEnd=3, height={"band": 0.68}),
        base.mark_text(align="left", dx=6, color=GREY, fontSize=12).encode(alt.Text("written:N")),
    ).properties(height=BAR_HEIGHT * len(frame) + 10)


def stage_spans(frame: pd.DataFrame) -> Drawing:
    """Each stage from its median (circle) to its 95th percentile (triangle), in pipeline order."""
    names = ["p50", "p95"]
    y = alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=200, labelFlush=False, ticks=False))
    scale = alt.Scale(type="log", domain=[SHORTEST, max(10.0, float(frame["p95"].max()) * 1.3)], nice=False)
    axis = alt.Axis(values=[0.1, 1, 10, 100, 1_000, 10_000, 100_000], format="~g")
    shown = frame.assign(p50=frame["p50"].clip(lower=SHORTEST), p95=frame["p95"].clip(lower=SHORTEST))
    points = alt.Chart(shown.melt(["name", "messages"], names, "series", "ms"))
    x = alt.X("ms:Q", title=t("performance.ms"), scale=scale, axis=axis)
    return alt.layer(
        alt.Chart(shown)
        .mark_rule(color=GREY, opacity=0.7)
        .encode(y, alt.X("p50:Q", title=t("performance.ms"), scale=scale, axis=axis), alt.X2("p95:Q")),
        points.mark_point(filled=True, size=90, opacity=1).encode(
            y,
            x,
            alt.Color("series:N", title=None, scale=alt.Scale(domain=names), legend=legend(names)),
            alt.Shape(
                "series:N",
                title=None,
                scale=alt.Scale(domain=names, range=["circle", "triangle-up"]),
                legend=legend(names),
            ),
            tooltip=[
                alt.Tooltip("name:N", title=t("performance.stage")),
                alt.Tooltip("series:N", title=t("chart.series")),
                alt.Tooltip("ms:Q", title=t("performance.ms"), format=",.1f"),
                alt.Tooltip("messages:Q", title=t("chart.messages"), format=",d"),
            ],
        ),
    ).properties(height=BAR_HEIGHT * len(frame) + 90)


def target_names() -> dict[float, str]:
    """The checkpoint and the stretch target, as they are named."""
    return {
        CHECKPOINT: t("quality.checkpoint_line", value=formats.decimal(CHECKPOINT, 2)),
        STRETCH: t("quality.stretch_line", value=formats.decimal(STRETCH, 2)),
    }


def targets(scale: alt.Scale, low: float) -> list[alt.Chart]:
    """The targets that are not below the axis, named where they stand."""
    shown = {value: name for value, name in target_names().items() if value >= low}
    if not shown:
        return []
    base = alt.Chart(pd.DataFrame({"at": list(shown), "text": list(shown.values())})).encode(
        alt.Y("at:Q", title=HEADLINE, scale=scale)
    )
    return [
        base.mark_rule(strokeDash=[6, 4], color=GREY, strokeWidth=1.5),
        base.mark_text(align="left", baseline="bottom", dx=4, dy=-3, color=GREY, fontSize=12).encode(
            alt.Text("text:N"), x=alt.value(0)
        ),
    ]


def domain(frame: pd.DataFrame) -> list[float]:
    """From just below the lowest interval up to 1: figures that lie close together must not be squeezed."""
    low = float(frame[["value", "ci_low"]].min().min())
    return [max(0.0, floor(low * 100 - 0.5) / 100), 1.0]


def legend(series: Sequence[str]) -> alt.Legend | None:
    """Below the chart, where it takes no width away; none for a single series."""
    if len(series) < 2:
        return None
    return alt.Legend(orient="bottom", symbolOpacity=1, symbolStrokeWidth=0, labelLimit=300, columns=2)
