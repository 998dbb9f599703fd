"""What the reader of a data page looks at, and how that is written into a link: as language-neutral values."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import get_args

from console.texts import LANGS
from engine.wire import Origin

PERIODS = ("7", "30", "90", "custom")
ORIGINS: tuple[str, ...] = get_args(Origin)
CHATS = ("medical", "personal", "work")
ALL = "all"
PARAMETERS = ("period", "from", "to", "origin", "lang", "chat")


@dataclass(frozen=True, slots=True)
class Filters:
    """What the reader looks at; days are whole days in UTC, both ends included."""

    first: date
    last: date
    period: str = "30"
    origins: tuple[str, ...] = ("app",)
    lang: str | None = None
    chat: str | None = None

    @property
    def since(self) -> datetime:
        """The first moment of the period."""
        return datetime.combine(self.first, time.min, UTC)

    @property
    def until(self) -> datetime:
        """The first moment after the period."""
        return datetime.combine(self.last + timedelta(days=1), time.min, UTC)

    @property
    def days(self) -> int:
        """How long the period is."""
        return (self.last - self.first).days + 1

    def previous(self) -> "Filters":
        """The period of equal length that ends where this one begins."""
        length = timedelta(days=self.days)
        return replace(self, first=self.first - length, last=self.last - length)

    def to_query(self) -> dict[str, str]:
        """The parameters of the link; what is as usual is left out."""
        query: dict[str, str] = {}
        if self.period == "custom":
            query |= {"period": "custom", "from": self.first.isoformat(), "to": self.last.isoformat()}
        elif self.period != "30":
            query["period"] = self.period
        if self.origins != ("app",):
            query["origin"] = ",".join(self.origins)
        if self.lang:
            query["lang"] = self.lang
        if self.chat:
            query["chat"] = self.chat
        return query

    @classmethod
    def from_query(cls, query: Mapping[str, str], today: date) -> "Filters":
        """Read a link; what it does not say, or says wrongly, is as usual."""
        period = query.get("period", "30")
        span = _span(query.get("from"), query.get("to"), today) if period == "custom" else None
        if span is None:
            period = period if period in PERIODS[:3] else "30"
            span = (today - timedelta(days=int(period) - 1), today)
        named_origins = query.get("origin", "").split(",")
        lang, chat = query.get("lang"), query.get("chat")
        return cls(
            first=span[0],
            last=span[1],
            period=period,
            origins=_ordered(named_origins) or ("app",),
            lang=lang if lang in LANGS else None,
            chat=chat if chat in CHATS else None,
        )


def today() -> date:
    """The present day in UTC."""
    return datetime.now(UTC).date()


EARLIEST = date(1990, 1, 1)
"""No record is older; the period before it would leave the calendar's range for the first dates of all."""


def _span(first: str | None, last: str | None, today_: date) -> tuple[date, date] | None:
    """The two days of a link in order and not in the future; None for what is no span, or is before any record."""
    try:
        start, end = sorted((date.fromisoformat(first or ""), date.fromisoformat(last or "")))
    except ValueError:
        return None
    if start < EARLIEST:
        return None
    return min(start, today_), min(end, today_)


def _ordered(origins: Iterable[str]) -> tuple[str, ...]:
    """Known origins in their fixed order, so that equal choices are equal."""
    found = set(origins)
    return tuple(origin for origin in ORIGINS if origin in found)
