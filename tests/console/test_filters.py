"""Filters and the link that keeps them."""

from datetime import UTC, date, datetime

import pytest

from console.filters import Filters

TODAY = date(2026, 11, 30)


def test_the_usual_choice_needs_no_parameters() -> None:
    usual = Filters.from_query({}, TODAY)
    assert usual.to_query() == {}
    assert (usual.first, usual.last, usual.origins) == (date(2026, 11, 1), TODAY, ("app",))
    assert usual.since == datetime(2026, 11, 1, tzinfo=UTC)
    assert usual.until == datetime(2026, 12, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "query",
    [
        {"period": "7"},
        {"period": "90", "origin": "app,test_chat", "lang": "ru", "chat": "medical"},
        {"period": "custom", "from": "2026-01-05", "to": "2026-02-01", "origin": "eval"},
    ],
)
def test_a_link_restores_what_it_was_made_of(query: dict[str, str]) -> None:
    assert Filters.from_query(query, TODAY).to_query() == query


@pytest.mark.parametrize(
    "query",
    [
        {"period": "31"},
        {"period": "custom"},
        {"period": "custom", "from": "yesterday", "to": "2026-01-01"},
        {"period": "custom", "from": "0001-01-01", "to": "0001-01-02"},
        {"period": "custom", "from": "0001-01-01", "to": "9999-12-31"},
        {"origin": "app;DROP TABLE", "lang": "fr", "chat": "auto"},
    ],
)
def test_a_wrong_link_is_read_as_the_usual_one(query: dict[str, str]) -> None:
    assert Filters.from_query(query, TODAY) == Filters.from_query({}, TODAY)


def test_dates_are_put_in_order_and_never_lie_ahead() -> None:
    chosen = Filters.from_query({"period": "custom", "from": "2030-01-01", "to": "2026-11-20"}, TODAY)
    assert (chosen.first, chosen.last) == (date(2026, 11, 20), TODAY)


@pytest.mark.parametrize("period", ["7", "30", "90"])
def test_the_period_before_is_as_long_and_ends_where_this_one_begins(period: str) -> None:
    chosen = Filters.from_query({"period": period, "lang": "en"}, TODAY)
    before = chosen.previous()
    assert before.until == chosen.since
    assert before.days == chosen.days == int(period)
    assert before.lang == "en"
