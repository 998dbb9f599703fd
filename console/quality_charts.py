"""Charts of the quality page: growth of the corpus, and the relevance gate."""

from collections.abc import Mapping, Sequence

import altair as alt
import pandas as pd

from console.charts import DASHES, GREY, SHAPES, Drawing, domain, legend, targets
from console.texts import t
from engine.wire.metrics import HEADLINE


def growth(frame: pd.DataFrame, series: Sequence[str]) -> Drawing:
    """The headline metric by size of the corpus, each point with its interval, and the two targets."""
    names = list(series)
    sizes = sorted(set(frame["documents"]))
    wide = [max(0, sizes[0] - 20), sizes[-1] + 20]
    axis = alt.Axis(values=sizes, format="d", labelFlush=False, labelOverlap="greedy", grid=False)
    x = alt.X("documents:Q", title=t("quality.growth_axis"), axis=axis, scale=alt.Scale(domain=wide, nice=False))
    scale = alt.Scale(domain=domain(frame), zero=False, nice=False)
    y, low = alt.Y("value:Q", title=HEADLINE, scale=scale), alt.Y("ci_low:Q", title=HEADLINE, scale=scale)
    colour, shape = _told_apart(names)
    tooltip = [
        alt.Tooltip("documents:Q", title=t("quality.growth_axis"), format="d"),
        alt.Tooltip("series:N", title=t("chart.series")),
        alt.Tooltip("value:Q", title=HEADLINE, format=".3f"),
        alt.Tooltip("interval:N", title=t("quality.interval")),
        alt.Tooltip("scored:N", title=t("quality.scored")),
        alt.Tooltip("version:N", title=t("quality.version")),
    ]
    base = alt.Chart(frame)
    return alt.layer(
        *targets(scale, domain(frame)[0]),
        base.mark_rule(opacity=0.55, strokeWidth=1.5).encode(x, low, alt.Y2("ci_high:Q"), colour),
        base.mark_line(strokeWidth=2).encode(x, y, colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(x, y, colour, shape, tooltip=tooltip),
    ).properties(height=280)


def gate_errors(
    frame: pd.DataFrame, errors: Sequence[str], languages: Sequence[str], marks: Mapping[str, float]
) -> Drawing:
    """Both errors over rising thresholds: a colour a language, a dash an error; thresholds that stand out are named."""
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("threshold:Q", title=t("gate.threshold"), scale=scale, axis=_tenths())
    y = alt.Y("share:Q", title=t("gate.share"), axis=alt.Axis(format="%"), scale=alt.Scale(domain=[0, 1], nice=False))
    tooltip = [
        alt.Tooltip("threshold:Q", title=t("gate.threshold"), format=".4~f"),
        alt.Tooltip("error:N", title=t("gate.error")),
        alt.Tooltip("language:N", title=t("filter.lang")),
        alt.Tooltip("share:Q", title=t("gate.share"), format=".1%"),
        alt.Tooltip("counts:N", title=t("gate.counts")),
    ]
    colour = alt.Color("language:N", title=None, scale=alt.Scale(domain=list(languages)), legend=_row(languages))
    dash = alt.StrokeDash(
        "error:N",
        title=None,
        scale=alt.Scale(domain=list(errors), range=list(DASHES[: len(errors)])),
        legend=alt.Legend(
            orient="bottom",
            labelLimit=300,
            columns=2,
            symbolType="stroke",
            symbolStrokeColor=GREY,
            symbolStrokeWidth=2,
            symbolSize=300,
        ),
    )
    base = alt.Chart(frame)
    drawing: Drawing = alt.layer(
        *_marks(marks, x),
        base.mark_line(strokeWidth=2).encode(x, y, colour, dash),
        # Wide and not seen: what a pointer has to meet.
        base.mark_point(size=160, opacity=0, filled=True).encode(x, y, tooltip=tooltip),
    ).properties(height=320)
    return drawing


def reliability(frame: pd.DataFrame, series: Sequence[str]) -> Drawing:
    """The share of answerable questions over their best score, with intervals; the diagonal is a probability."""
    names = list(series)
    scale = alt.Scale(domain=[0, 1], nice=False)
    x = alt.X("mean_score:Q", title=t("gate.score"), scale=scale, axis=_tenths())
    y = alt.Y("share:Q", title=t("gate.answerable_share"), axis=alt.Axis(format="%"), scale=scale)
    colour, shape = _told_apart(names)
    tooltip = [
        alt.Tooltip("span:N", title=t("gate.span")),
        alt.Tooltip("series:N", title=t("chart.series")),
        alt.Tooltip("share:Q", title=t("gate.answerable_share"), format=".1%"),
        alt.Tooltip("interval:N", title=t("quality.interval")),
        alt.Tooltip("counts:N", title=t("gate.counts")),
    ]
    diagonal = alt.Chart(pd.DataFrame({"mean_score": [0.0, 1.0], "share": [0.0, 1.0]}))
    base = alt.Chart(frame)
    low = alt.Y("low:Q", title=t("gate.answerable_share"), scale=scale)
    return alt.layer(
        diagonal.mark_line(color=GREY, strokeDash=[6, 4], strokeWidth=1.5).encode(x, y),
        base.mark_rule(opacity=0.55, strokeWidth=1.5).encode(x, low, alt.Y2("high:Q"), colour),
        base.mark_line(strokeWidth=2).encode(x, y, colour),
        base.mark_point(filled=True, size=80, opacity=1).encode(x, y, colour, shape, tooltip=tooltip),
    ).properties(height=300)


def _told_apart(names: Sequence[str]) -> tuple[alt.Color, alt.Shape]:
    """A colour and a shape a series: neither alone tells them apart."""
    marks = list(SHAPES[: len(names)])
    return (
        alt.Color("series:N", title=None, scale=alt.Scale(domain=list(names)), legend=legend(names)),
        alt.Shape("series:N", title=None, scale=alt.Scale(domain=list(names), range=marks), legend=legend(names)),
    )


def _marks(marks: Mapping[str, float], x: alt.X) -> list[alt.Chart]:
    """Thresholds as lines, their names above the chart, each in a line of its own."""
    drawn: list[alt.Chart] = []
    for row, (text, threshold) in enumerate(marks.items()):
        base = alt.Chart(pd.DataFrame({"threshold": [threshold], "text": [text]})).encode(x)
        right = threshold > 0.6
        drawn += [
            base.mark_rule(color=GREY, strokeWidth=1.5, strokeDash=list(DASHES[row + 1])),
            base.mark_text(
                align="right" if right else "left", dx=-4 if right else 4, color=GREY, fontSize=12, baseline="bottom"
            ).encode(alt.Text("text:N"), y=alt.value(-2 - 15 * (len(marks) - 1 - row))),
        ]
    return drawn


def _row(names: Sequence[str]) -> alt.Legend | None:
    """A legend of lines below; none for a single name."""
    if len(names) < 2:
        return None
    return alt.Legend(orient="bottom", labelLimit=300, columns=2, symbolStrokeWidth=2, symbolSize=300, symbolOpacity=1)


def _tenths() -> alt.Axis:
    """Both ends stand at their ticks."""
    return alt.Axis(tickCount=10, format=".1f", labelFlush=False)
