"""CSV that a spreadsheet cannot take for formulas."""

import pandas as pd

_DANGEROUS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_bytes(frame: pd.DataFrame) -> bytes:
    """The frame as CSV with a byte order mark; dangerous text gets a quote before it, numbers stay numbers."""
    safe = pd.DataFrame({column: [_cell(value) for value in frame[column]] for column in frame.columns}, dtype=object)
    safe.columns = pd.Index([_cell(str(column)) for column in frame.columns])
    return safe.to_csv(index=False).encode("utf-8-sig")


def _cell(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_DANGEROUS) else value
