"""Numbers as people read them."""

import pytest

from console import formats
from engine.evaluation import statistics


@pytest.fixture
def russian(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "lang", lambda: "ru")


@pytest.fixture
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "lang", lambda: "en")


@pytest.mark.usefixtures("english")
def test_english() -> None:
    assert formats.integer(1234567) == "1,234,567"
    assert formats.percent(0.1234) == "12.3%"
    assert formats.milliseconds(1234.5) == "1.23 s"
    assert formats.milliseconds(3.25) == "3.2 ms"


@pytest.mark.usefixtures("russian")
def test_russian() -> None:
    assert formats.integer(1234567) == "1\u202f234\u202f567"
    assert formats.percent(0.1234) == "12,3\u202f%"
    assert formats.milliseconds(1234.5) == "1,23 с"


@pytest.mark.usefixtures("english")
def test_what_is_missing_is_a_dash() -> None:
    missing = [formats.integer(None), formats.decimal(None), formats.percent(float("nan")), formats.milliseconds(None)]
    assert missing == [formats.NOTHING] * 4
    assert formats.share(0, 0) is None
    assert formats.wilson(0, 0) is None


@pytest.mark.usefixtures("english")
def test_a_change_that_rounds_to_nothing_has_no_sign() -> None:
    assert [formats.signed(value, 1) for value in (0.04, -0.04, 0.06, -1.0)] == ["0.0", "0.0", "+0.1", "-1.0"]


@pytest.mark.parametrize("whole", [0, 1, 7, 272])
def test_the_interval_is_the_one_of_the_evaluation(whole: int) -> None:
    for part in range(whole + 1):
        theirs = statistics.wilson(part, whole)
        assert formats.wilson(part, whole) == (theirs and pytest.approx(tuple(theirs), abs=1e-6))


def test_ten_of_ten_is_no_certainty() -> None:
    interval = formats.wilson(10, 10)
    assert interval is not None
    assert interval == pytest.approx((0.722, 1.0), abs=0.001)
