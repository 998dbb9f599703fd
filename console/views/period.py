"""How every page about messages begins: title, filters, and what was counted in the period and the one before."""

from dataclasses import dataclass

from console import data, filter_bar, ui
from console.filters import Filters
from console.queries import messages
from console.texts import t


@dataclass(frozen=True, slots=True)
class Period:
    """What is chosen, with the counts of its messages."""

    chosen: Filters
    now: messages.Totals
    before: messages.Totals


def begin(page: str) -> Period:
    """Draw the head of a page; one without messages says so."""
    ui.title(page)
    chosen = filter_bar.show(page)
    period = Period(chosen, data.read(messages.totals, chosen), data.read(messages.totals, chosen.previous()))
    if not period.now.messages:
        ui.empty(t("data.no_messages"), t("data.no_messages_hint"))
    return period
