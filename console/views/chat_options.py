"""How the next test question is asked: chat, language, and what the app would know of the user."""

from typing import Literal, get_args

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from console.conversation import Options
from console.texts import LANGS, named, t
from engine.wire import Biomarker, ChatName, Context, Profile
from engine.wire.fields import Lang

CHATS: tuple[ChatName, ...] = get_args(ChatName)
ANSWER_LANGS: tuple[Lang | Literal["auto"], ...] = ("auto", *LANGS)
SEXES: tuple[Literal["unknown", "female", "male"], ...] = ("unknown", "female", "male")
_COLUMNS = ("name", "value", "unit", "ref_low", "ref_high")


def choose() -> Options:
    """Draw the choices and give what is chosen."""
    with st.container(horizontal=True, vertical_alignment="top", gap="medium"):
        chat = st.segmented_control(
            t("filter.chat"),
            CHATS,
            default=CHATS[0],
            key="chat_name",
            format_func=lambda code: named("chat", code),
            required=True,
        )
        lang = st.segmented_control(
            t("chat.answer_lang"),
            ANSWER_LANGS,
            default=ANSWER_LANGS[0],
            key="chat_lang",
            format_func=lambda code: t("chat.lang_auto") if code == "auto" else named("lang", code),
            required=True,
        )
    with st.expander(t("chat.context"), icon=":material/person:"):
        context = _context()
    return Options(chat=chat, lang=None if lang == "auto" else lang, context=context)


def _context() -> Context:
    """What the app would send along with the question."""
    st.caption(t("chat.context_help"))
    with st.container(horizontal=True):
        age = st.number_input(t("chat.age"), min_value=0, max_value=130, value=None, step=1, key="chat_age", width=140)
        sex = st.segmented_control(
            t("chat.sex"),
            SEXES,
            default=SEXES[0],
            key="chat_sex",
            format_func=lambda code: t(f"chat.sex_{code}"),
            required=True,
        )
    st.caption(t("chat.biomarkers"))
    edited = st.data_editor(
        pd.DataFrame({column: [None] for column in _COLUMNS}),
        num_rows="dynamic",
        hide_index=True,
        key="chat_biomarkers",
        column_config={
            "name": st.column_config.TextColumn(t("chat.biomarker_name"), max_chars=120),
            "value": st.column_config.NumberColumn(t("chat.biomarker_value")),
            "unit": st.column_config.TextColumn(t("chat.biomarker_unit"), max_chars=40),
            "ref_low": st.column_config.NumberColumn(t("chat.biomarker_low")),
            "ref_high": st.column_config.NumberColumn(t("chat.biomarker_high")),
        },
    )
    profile = Profile(age=age, sex=None if sex == "unknown" else sex)
    return Context(profile=profile, biomarkers=_biomarkers(edited))


def _biomarkers(edited: pd.DataFrame) -> list[Biomarker]:
    """The rows that have a name and a value; one that the API would refuse is named and left out."""
    found = []
    for row in edited.to_dict("records"):
        given = {column: row[column] for column in _COLUMNS if not pd.isna(row[column]) and row[column] != ""}
        if "name" not in given or "value" not in given:
            continue
        try:
            found.append(Biomarker.model_validate(given))
        except ValidationError:
            st.warning(t("chat.biomarker_refused"), icon=":material/warning:")
    return found
