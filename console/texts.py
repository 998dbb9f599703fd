"""Texts of the console in Russian and English, one key a text."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
import yaml

from engine.wire.fields import Lang

LANGS: tuple[Lang, ...] = ("ru", "en")
DIRECTORY = Path(__file__).parent / "i18n"
_CHOICE = "ui_lang"
_PARAMETER = "ui"


@cache
def catalogue(lang: Lang) -> dict[str, str]:
    """Every text of a language by its dotted key."""
    return _flat(yaml.safe_load((DIRECTORY / f"{lang}.yaml").read_text(encoding="utf-8")), "")


def lang() -> Lang:
    """The language of the page: chosen, else the link's, else the browser's."""
    chosen = st.session_state.get(_CHOICE) or st.query_params.get(_PARAMETER)
    return chosen if chosen in LANGS else _browser()


def t(key: str, **values: object) -> str:
    """The text of a key in the language of the page."""
    text = catalogue(lang())[key]
    return text.format(**values) if values else text


def named(group: str, value: str) -> str:
    """The name of a value of the data (an outcome, a stage); one without a name is shown as it is."""
    return catalogue(lang()).get(f"{group}.{value}", value)


def language_switch() -> None:
    """Let the reader choose; a choice that differs from the browser's is kept in the link."""
    if st.session_state.get(_CHOICE) not in LANGS:
        st.session_state[_CHOICE] = lang()
    names: dict[str, str] = {"ru": "Русский", "en": "English"}
    st.segmented_control(
        t("app.language"),
        LANGS,
        key=_CHOICE,
        format_func=lambda code: names[code],
        label_visibility="collapsed",
        required=True,
    )
    if lang() != _browser():
        st.query_params[_PARAMETER] = lang()
    else:
        st.query_params.pop(_PARAMETER, None)


def tell_anew(key: str) -> None:
    """Call before a select box: after a change of language it would show its choice in the words of the old one.

    The browser keeps the words of a choice, not the choice; it takes new ones when the state is set.
    """
    state, told = st.session_state, f"{key}_words"
    if key in state and state.get(told, lang()) != lang():
        state[key] = state[key]
    state[told] = lang()


def _browser() -> Lang:
    return "ru" if (st.context.locale or "").lower().startswith("ru") else "en"


def _flat(node: dict[str, Any], prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in node.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{prefix}{key}.")
        else:
            flat[f"{prefix}{key}"] = str(value)
    return flat
