"""Drawings: what they say of themselves as Vega-Lite."""

from typing import Any

import pandas as pd
import pytest

from console import charts, quality_charts
from console.views import quality_rows


def _counts() -> charts.Drawing:
    return charts.bars(pd.DataFrame({"name": ["Medical"], "messages": [1], "share": [1.0], "written": ["1"]}))


def _stages() -> charts.Drawing:
    return charts.stage_spans(pd.DataFrame({"name": ["Judge"], "messages": [1], "p50": [0.0], "p95": [2.0]}))


def _runs() -> charts.Drawing:
    run = {"order": 0, "when": "Mar 05", "series": "All", "value": 0.8, "ci_low": 0.7, "ci_high": 0.9, "label": ""}
    more = {"scored": "1 / 1", "version": "1", "corpus": "1"}
    return charts.recall_trend(pd.DataFrame([run | more]), ["All"])


@pytest.mark.parametrize(("draw", "channel"), [(_counts, "y"), (_stages, "y"), (_runs, "x")])
def test_names_stand_at_their_marks(draw: Any, channel: str) -> None:
    """Flushed, the first name of an axis is pushed off its mark."""
    axes = [layer["encoding"].get(channel, {}) for layer in draw().to_dict()["layer"]]
    named = [axis["axis"] for axis in axes if axis.get("type") in ("nominal", "ordinal") and axis.get("axis")]
    assert named
    assert all(axis["labelFlush"] is False for axis in named)


def test_growth_has_a_tick_a_size_and_an_interval_a_point() -> None:
    point = {
        "series": "Russian",
        "value": 0.9,
        "ci_low": 0.85,
        "ci_high": 0.95,
        "interval": "",
        "scored": "",
        "version": "",
    }
    drawn = quality_charts.growth(
        pd.DataFrame([point | {"documents": size} for size in (34, 272)]), ["Russian"]
    ).to_dict()
    axes = [layer["encoding"]["x"].get("axis") for layer in drawn["layer"] if "x" in layer["encoding"]]
    assert [axis["values"] for axis in axes if axis] == [[34, 272]] * 3
    assert [layer["encoding"]["y2"]["field"] for layer in drawn["layer"] if "y2" in layer["encoding"]] == ["ci_high"]


def test_thresholds_that_stand_out_are_named_in_lines_of_their_own() -> None:
    row = {"threshold": 0.3, "share": 0.1, "error": "lost", "language": "Russian", "counts": "1 of 10"}
    marks = {"in force 0.29": 0.29, "5% of these lost 0.3": 0.3}
    drawn = quality_charts.gate_errors(pd.DataFrame([row]), ["lost", "passed"], ["Russian"], marks).to_dict()
    heights = [layer["encoding"]["y"]["value"] for layer in drawn["layer"] if "value" in layer["encoding"].get("y", {})]
    assert len(set(heights)) == len(marks)
    said = {row["text"] for rows in drawn["datasets"].values() for row in rows if "text" in row}
    assert said == set(marks)


@pytest.mark.parametrize("languages", [["Russian"], ["Russian", "English"]])
def test_the_legend_tells_both_errors_of_the_gate_apart(languages: list[str]) -> None:
    row = {"threshold": 0.3, "share": 0.1, "error": "lost", "language": "Russian", "counts": "1 of 10"}
    drawn = quality_charts.gate_errors(pd.DataFrame([row]), ["lost", "passed"], languages, {}).to_dict()
    (dash,) = [layer["encoding"]["strokeDash"] for layer in drawn["layer"] if "strokeDash" in layer["encoding"]]
    assert dash["scale"]["domain"] == ["lost", "passed"]
    assert dash["legend"]


def _trend(*values: float) -> pd.DataFrame:
    rows = [
        {"order": order, "when": "Mar 05 10:00", "series": "All", "value": value, "ci_low": value - 0.01}
        for order, value in enumerate(values)
    ]
    return pd.DataFrame(rows).assign(ci_high=1.0, label="", scored="", version="", corpus="")


def test_two_runs_of_one_minute_are_two_places() -> None:
    drawn = charts.recall_trend(_trend(0.95, 0.96), ["All"]).to_dict()
    fields = {layer["encoding"]["x"]["field"] for layer in drawn["layer"] if "field" in layer["encoding"].get("x", {})}
    assert fields == {"order"}
    (labels,) = {
        layer["encoding"]["x"]["axis"]["labelExpr"]
        for layer in drawn["layer"]
        if "field" in layer["encoding"].get("x", {})
    }
    assert labels == '["Mar 05 10:00", "Mar 05 10:00"][datum.value]'


@pytest.mark.parametrize(("low", "shown"), [(0.96, 0), (0.80, 1), (0.40, 2)])
def test_the_axis_begins_just_below_the_lowest_interval(low: float, shown: int) -> None:
    frame = _trend(low + 0.01)
    bottom, top = charts.domain(frame)
    assert 0 < low - bottom < 0.016
    assert top == 1.0
    drawn = charts.recall_trend(frame, ["All"]).to_dict()
    named = {row["text"] for rows in drawn["datasets"].values() for row in rows if "text" in row}
    assert len(named) == shown
    assert (quality_rows.targets_below(frame) is None) == (shown == 2)


def test_reliability_is_drawn_against_the_diagonal() -> None:
    row = {
        "mean_score": 0.5,
        "share": 0.4,
        "low": 0.2,
        "high": 0.6,
        "series": "Russian",
        "span": "",
        "interval": "",
        "counts": "",
    }
    drawn = quality_charts.reliability(pd.DataFrame([row]), ["Russian"]).to_dict()
    ends = [rows for rows in drawn["datasets"].values() if len(rows) == 2]
    assert ends == [[{"mean_score": 0.0, "share": 0.0}, {"mean_score": 1.0, "share": 1.0}]]
