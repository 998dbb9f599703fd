"""Choices of a single page that belong into its link."""

from collections.abc import Callable, Sequence

import streamlit as st

from console.texts import tell_anew


def select(
    parameter: str, label: str, options: Sequence[str], default: str, show: Callable[[str], str], width: int = 320
) -> str:
    """A select box whose value is kept in the link; one that is no longer offered falls back to the default."""
    key = f"link_{parameter}"
    if st.session_state.get(key) not in options:
        linked = st.query_params.get(parameter)
        st.session_state[key] = linked if linked in options else default
    tell_anew(key)
    chosen = st.selectbox(label, options, key=key, format_func=show, width=width)
    if chosen == default:
        st.query_params.pop(parameter, None)
    elif st.query_params.get(parameter) != chosen:
        st.query_params[parameter] = chosen
    return chosen
