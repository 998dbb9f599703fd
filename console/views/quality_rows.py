"""Small things that the parts of the quality page share."""

from datetime import datetime
from typing import Any

import pandas as pd

from console import formats
from console.texts import lang
from engine.wire.metrics import METRICS


def day_and_time(moment: datetime) -> str:
    """When a run began, in UTC."""
    return moment.strftime("%d.%m %H:%M" if lang() == "ru" else "%b %d %H:%M")


def version(row: Any) -> str:
    """The commit of a run; a plus stands for changes that were not committed."""
    mark = f"{row.git_revision[:8]}{'+' if row.git_dirty else ''}"
    return f"{mark} · {row.label}" if row.label else mark


def interval(low: Any, high: Any) -> str:
    """A confidence interval as text; one that was not computed is None or NaN."""
    if pd.isna(low) or pd.isna(high):
        return formats.NOTHING
    return f"{formats.decimal(low)}–{formats.decimal(high)}"


def rank(metric: str) -> tuple[int, str]:
    """The place of a metric in a table; unknown ones come last."""
    return (METRICS.index(metric) if metric in METRICS else len(METRICS), metric)
