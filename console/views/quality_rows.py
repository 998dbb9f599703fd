"""Small things that the parts of the quality page share."""

from datetime import datetime
from typing import Any

import pandas as pd

from console import charts, formats
from console.queries.quality import Basis
from console.texts import lang, t
from engine.wire.metrics import METRICS


def day_and_time(moment: datetime) -> str:
    """When a run began, in UTC."""
    return moment.strftime("%d.%m %H:%M" if lang() == "ru" else "%b %d %H:%M")


def version(row: Any) -> str:
    """The commit of a run; a plus stands for changes that were not committed."""
    mark = f"{row.git_revision[:8]}{'+' if row.git_dirty else ''}"
    return f"{mark} · {row.label}" if row.label else mark


def not_compared(now: Basis, before: Basis) -> str | None:
    """Why two figures are not compared, in words; None where they are."""
    if now.corpus != before.corpus:
        return t("quality.not_compared_corpus")
    if now.questions is None or now.questions != before.questions:
        return t("quality.not_compared_questions")
    return None


def targets_below(frame: pd.DataFrame) -> str | None:
    """The targets that lie under the axis of a chart of these rows, in words; None where all are in sight."""
    low = charts.domain(frame)[0]
    below = [name for value, name in charts.target_names().items() if value < low]
    return t("quality.targets_below", targets=", ".join(below)) if below else None


def interval(low: Any, high: Any) -> str:
    """A confidence interval as text; one that was not computed is None or NaN."""
    if pd.isna(low) or pd.isna(high):
        return formats.NOTHING
    return f"{formats.decimal(low)}–{formats.decimal(high)}"


def rank(metric: str) -> tuple[int, str]:
    """The place of a metric in a table; unknown ones come last."""
    return (METRICS.index(metric) if metric in METRICS else len(METRICS), metric)
