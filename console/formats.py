"""Numbers as people read them in either language."""

from datetime import date, datetime
from math import isnan, sqrt

from console.texts import lang

NOTHING = "—"
_NARROW = "\u202f"


def integer(value: int | None) -> str:
    """A count with its thousands set apart."""
    return NOTHING if value is None else _local(f"{value:,}")


def count(value: float | None) -> str:
    """A count that comes as any number."""
    return integer(None if value is None else int(value))


def decimal(value: float | None, digits: int = 3) -> str:
    """A number with a fixed count of digits."""
    return NOTHING if value is None or isnan(value) else _local(f"{value:,.{digits}f}")


def signed(value: float, digits: int = 3) -> str:
    """A change with its sign; one that rounds to nothing has none."""
    text = f"{value:+.{digits}f}"
    return _local(text if text.strip("+-0.") else text.lstrip("+-"))


def moved(change: str | None) -> bool:
    """Whether a change that was written out is one: only such a one gets an arrow and a colour."""
    return change is not None and change.startswith(("+", "-"))


def percent(value: float | None, digits: int = 1) -> str:
    """A share between 0 and 1 as a percentage."""
    if value is None or isnan(value):
        return NOTHING
    gap = _NARROW if lang() == "ru" else ""
    return f"{decimal(value * 100, digits)}{gap}%"


def milliseconds(value: float | None) -> str:
    """A duration; seconds from one second on."""
    if value is None or isnan(value):
        return NOTHING
    seconds, millis = ("с", "мс") if lang() == "ru" else ("s", "ms")
    if value >= 1000:
        return f"{decimal(value / 1000, 2)} {seconds}"
    return f"{decimal(value, 0 if value >= 10 else 1)} {millis}"


def share(part: int, whole: int) -> float | None:
    """A share, or nothing where there is nothing to share."""
    return part / whole if whole else None


def wilson(part: int, whole: int, z: float = 1.959964) -> tuple[float, float] | None:
    """The 95 % interval of a share after Wilson: sound for few cases too.

    For shares of the messages that a filter lets through, which no view knows beforehand; evaluation runs bring their
    intervals along. It is the engine's `engine.evaluation.statistics.wilson`, which a page may not import.
    """
    if not whole:
        return None
    rate = part / whole
    centre = rate + z * z / (2 * whole)
    spread = z * sqrt(rate * (1 - rate) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    return max(0.0, (centre - spread) / scale), min(1.0, (centre + spread) / scale)


def _local(text: str) -> str:
    """Turn the English marks into those of the language of the page."""
    if lang() == "en":
        return text
    return text.replace(",", _NARROW).replace(".", ",")


def day(at: date) -> str:
    """A day, the way it is written in either language."""
    return at.strftime("%d.%m.%Y" if lang() == "ru" else "%d %b %Y")


def moment(at: datetime | None) -> str:
    """A point in time in UTC."""
    return NOTHING if at is None else at.strftime("%Y-%m-%d %H:%M")
