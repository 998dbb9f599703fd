"""Drawings: what they say of themselves as Vega-Lite."""

from typing import Any

import pandas as pd
import pytest

from console import charts


def _counts() -> charts.Drawing:
    return charts.bars(pd.DataFrame({"name": ["Medical"], "messages": [1], "share": [1.0], "written": ["1"]}))


def _stages() -> charts.Drawing:
    return charts.stage_spans(pd.DataFrame({"name": ["Judge"], "messages": [1], "p50": [0.0], "p95": [2.0]}))


def _runs() -> charts.Drawing:
    run = {"when": "Mar 05", "series": "All", "value": 0.8, "ci_low": 0.7, "ci_high": 0.9, "label": ""}
    more = {"scored": "1 / 1", "version": "1", "corpus": "1"}
    return charts.recall_trend(pd.DataFrame([run | more]), ["All"])


@pytest.mark.parametrize(("draw", "channel"), [(_counts, "y"), (_stages, "y"), (_runs, "x")])
def test_names_stand_at_their_marks(draw: Any, channel: str) -> None:
    """Flushed, the first name of an axis is pushed off its mark."""
    axes = [layer["encoding"].get(channel, {}) for layer in draw().to_dict()["layer"]]
    named = [axis["axis"] for axis in axes if axis.get("type") in ("nominal", "ordinal") and axis.get("axis")]
    assert named
    assert all(axis["labelFlush"] is False for axis in named)
