"""Frames, seen row by row."""

from typing import Any

import pandas as pd


def rows(frame: pd.DataFrame) -> list[Any]:
    """The rows as named tuples; what the columns hold is known to the query that made them."""
    return list(frame.itertuples(index=False))
