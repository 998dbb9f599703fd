"""The parts that every page is made of."""

from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit.elements.lib.column_types import ColumnConfig

from console import data, export, formats
from console.charts import Drawing, localised
from console.texts import t

_LINE_BREAK = "  \n"
"""Markdown's."""


def title(page: str, *, refresh: bool = True) -> None:
    """The page's name, what it answers, and the button that reads everything again."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.title(t(f"{page}.title"), anchor=False, width="content")
        if refresh and st.button(t("data.refresh"), icon=":material/refresh:", type="tertiary", key="refresh"):
            data.refresh()
    st.caption(t(f"{page}.purpose"))


def empty(text: str, hint: str) -> None:
    """Say that there is nothing to show and what to do about it."""
    with st.container(border=True, horizontal_alignment="center"):
        st.markdown(f":material/search_off: **{text}**", width="content")
        st.caption(hint, width="content")


def section(heading: str, frame: pd.DataFrame, file_name: str, *, help_text: str | None = None) -> None:
    """A heading with the CSV of what stands below it."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(heading, anchor=False, help=help_text, width="content")
        if not frame.empty:
            st.download_button(
                "CSV",
                _csv(frame),
                f"anamnesis-{file_name}.csv",
                "text/csv",
                key=f"csv_{file_name}",
                help=t("data.download"),
                icon=":material/download:",
                type="tertiary",
                on_click="ignore",
            )


def chart(drawing: Drawing, description: str) -> None:
    """A chart with a text for those who cannot see it."""
    st.altair_chart(localised(drawing), width="stretch", alt=description)


def table(frame: pd.DataFrame, columns: dict[str, ColumnConfig | str], *, description: str) -> None:
    """A table; columns that are not named are left out."""
    st.dataframe(
        frame,
        hide_index=True,
        column_order=list(columns),
        column_config=dict(columns),
        height="content" if len(frame) <= 12 else 460,
        placeholder=formats.NOTHING,
        alt=description,
    )


def number_card(
    label: str,
    value: float | None,
    before: float | None,
    show: Callable[[float | None], str],
    *,
    good: str = "off",
    help_text: str | None = None,
) -> None:
    """A number and its change from the period before, as a percentage; `good` is normal, inverse or off."""
    change = (value - before) / before if value is not None and before else None
    _card(label, show(value), f"{formats.signed(change * 100, 0)}%" if change is not None else None, good, help_text)


def share_card(
    label: str,
    counted: tuple[int, int],
    before: tuple[int, int],
    *,
    good: str = "off",
    help_text: str | None = None,
) -> None:
    """A share with its interval and its two counts, and its change in percentage points."""
    now, then = formats.share(*counted), formats.share(*before)
    change = None
    if now is not None and then is not None:
        change = f"{formats.signed((now - then) * 100, 1)} {t('card.points')}"
    _card(label, formats.percent(now), change, good, help_text, below=counts_line(*counted))


def counts_line(part: int, whole: int) -> str:
    """The counts under a share, with its 95 % interval."""
    interval = formats.wilson(part, whole)
    counts = t("card.counts", part=formats.integer(part), whole=formats.integer(whole))
    if interval is None:
        return counts
    low, high = (formats.decimal(end * 100, 1) for end in interval)
    line = t("card.interval", low=low, high=high)
    return f"{counts}{_LINE_BREAK}{line}"


def _card(
    label: str, value: str, change: str | None, good: str, help_text: str | None, below: str | None = None
) -> None:
    """A card; a change that rounds to nothing has no sign, and gets neither arrow nor colour."""
    moved = formats.moved(change)
    with st.container(border=True, gap="xxsmall", height="stretch"):
        st.metric(
            label,
            value,
            delta=change,
            delta_color=good if moved else "off",  # type: ignore[arg-type]
            delta_arrow="auto" if moved else "off",
            help=help_text,
        )
        if below:
            st.caption(below)


def _csv(frame: pd.DataFrame) -> Callable[[], bytes]:
    """The file is made when it is asked for, and not left on the server otherwise."""
    return lambda: export.csv_bytes(frame)
