"""The one filter bar of the data pages; its state is kept in the link and handed from page to page."""

from collections.abc import Sequence

import streamlit as st

from console import formats
from console.filters import ALL, CHATS, ORIGINS, PARAMETERS, PERIODS, Filters, today
from console.texts import LANGS, named, t, tell_anew

_SAVED = "filters_saved"
_WRITTEN = "filters_written"
_PAGE = "filters_page"
_WIDGETS = ("filter_period", "filter_dates", "filter_origins", "filter_lang", "filter_chat")


def show(page: str, *, messages: bool = True) -> Filters:
    """Draw a page's bar and give what is chosen; without `messages` only period and language are offered."""
    _seed(page)
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        period = st.segmented_control(
            t("filter.period"),
            PERIODS,
            key="filter_period",
            format_func=lambda code: t(f"filter.period_{code}"),
            required=True,
        )
        if period == "custom":
            st.date_input(t("filter.dates"), key="filter_dates", max_value=today(), width=260)
        _select("lang", LANGS)
        if messages:
            _select("chat", CHATS)
    if messages:
        st.pills(
            t("filter.origin"),
            ORIGINS,
            key="filter_origins",
            selection_mode="multi",
            format_func=lambda code: named("origin", code),
            on_change=_keep_one_origin,
            help=t("filter.origin_help"),
            wrap=True,
        )
    chosen = _chosen()
    _remember(chosen)
    st.caption(_span_line(chosen, compared=messages))
    return chosen


def _select(name: str, options: Sequence[str]) -> None:
    """One property of the messages, or all of its values."""
    tell_anew(f"filter_{name}")
    st.selectbox(
        t(f"filter.{name}"),
        (ALL, *options),
        key=f"filter_{name}",
        format_func=lambda code: named(name, code),
        width=150,
    )


def _keep_one_origin() -> None:
    """Taking the last origin away brings the usual one back: no origin at all would show nothing."""
    if not st.session_state["filter_origins"]:
        st.session_state["filter_origins"] = ["app"]


def _seed(page: str) -> None:
    """Fill the widgets: from the link when it says something new, else from the page seen before.

    A widget of another page does not hand its state on, although it has the same key. A link that changes under a page
    that stays is the browser's way back; a choice that was made just now comes before it.
    """
    state = st.session_state
    saved = state.get(_SAVED)
    entered = state.get(_PAGE) != page
    query = _linked()
    touched = not entered and _filled() and _chosen() != saved
    changed = query != state.get(_WRITTEN, {}) and not touched and (bool(query) or not entered)
    start = saved if isinstance(saved, Filters) and not changed else Filters.from_query(query, today())
    state[_PAGE] = page
    if entered or changed or not _filled():
        values = (start.period, (start.first, start.last), list(start.origins), start.lang or ALL, start.chat or ALL)
        state.update(dict(zip(_WIDGETS, values, strict=True)))


def _filled() -> bool:
    return all(key in st.session_state for key in _WIDGETS)


def _linked() -> dict[str, str]:
    """What the link says of the filters."""
    return {key: st.query_params[key] for key in PARAMETERS if key in st.query_params}


def _chosen() -> Filters:
    """What the widgets say now; a range of which only one end is chosen is that one day."""
    state = st.session_state
    query = {
        "period": state["filter_period"] or "30",
        "origin": ",".join(state["filter_origins"] or ()),
        "lang": state["filter_lang"],
        "chat": state["filter_chat"],
    }
    if query["period"] == "custom":
        dates = state["filter_dates"] or (today(),)
        query |= {"from": dates[0].isoformat(), "to": dates[-1].isoformat()}
    return Filters.from_query(query, today())


def _remember(chosen: Filters) -> None:
    """Keep the choice for the other pages and, in one step, for the link."""
    query = chosen.to_query()
    st.session_state[_SAVED] = chosen
    st.session_state[_WRITTEN] = query
    if query != _linked():
        others = {key: value for key, value in st.query_params.to_dict().items() if key not in PARAMETERS}
        st.query_params.from_dict(others | query)


def _span_line(chosen: Filters, *, compared: bool) -> str:
    """The days that are shown, and those that they are compared with."""
    before = chosen.previous()
    first, last, before_first, before_last = (
        formats.day(day) for day in (chosen.first, chosen.last, before.first, before.last)
    )
    if not compared:
        return t("filter.span_runs", first=first, last=last)
    return t("filter.span", first=first, last=last, before_first=before_first, before_last=before_last)
