"""CSV that a spreadsheet cannot take for formulas."""

import pandas as pd
import pytest

from console.export import csv_bytes


@pytest.mark.parametrize("text", ["=HYPERLINK(1)", "+7 999", "-1+1", "@SUM(1)", "\t=1", "\r=1", "＝1"])
def test_text_that_could_be_a_formula_is_quoted(text: str) -> None:
    line = csv_bytes(pd.DataFrame({"cell": [text]})).decode("utf-8-sig").split("\n", 1)[1]
    assert line.strip().strip('"').startswith("'")


def test_numbers_stay_numbers() -> None:
    frame = pd.DataFrame({"a": [-1.5, 2.0], "b": [-3, 4], "c": [None, "да; yes"]})
    assert csv_bytes(frame).decode("utf-8-sig") == "a,b,c\n-1.5,-3,\n2.0,4,да; yes\n"


def test_headings_are_safe_too_and_the_file_has_a_byte_order_mark() -> None:
    content = csv_bytes(pd.DataFrame({"=a": [1]}))
    assert content == "\ufeff'=a\n1\n".encode()
