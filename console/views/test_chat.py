"""Test chat: ask as a user would, and see how the answer came about."""

import streamlit as st

from console import conversation, ui
from console.conversation import Entry
from console.texts import t
from console.users import User
from console.views import answer, chat_options
from engine.wire.fields import MAX_QUESTION

EXAMPLES = ("example_meaning", "example_preparation", "example_urgent", "example_outside")


def render(user: User) -> None:
    """The whole page."""
    ui.title("chat", refresh=False)
    options = chat_options.choose()
    held = conversation.entries()
    if held:
        if st.button(t("chat.new"), icon=":material/add_comment:", type="tertiary"):
            conversation.clear()
            st.rerun()
        ui.section(t("chat.conversation"), answer.log(held), "test-chat")
    picked = None if held else _examples()
    for index, entry in enumerate(held):
        _exchange(entry, index)
    typed = st.chat_input(t("chat.placeholder"), max_chars=MAX_QUESTION, key="chat_question")
    question = (typed or picked or "").strip()
    if question:
        entry = conversation.begin(question)
        with st.chat_message("user"):
            st.text(question)
        with st.chat_message("assistant"), st.spinner(t("chat.waiting")):
            conversation.send(user, entry, options)
        st.rerun()


def _examples() -> str | None:
    """Questions to begin with, in the language of the page."""
    st.caption(t("chat.examples"))
    picked = None
    with st.container(horizontal=True):
        for key in EXAMPLES:
            if st.button(t(f"chat.{key}"), key=key, width="content"):
                picked = t(f"chat.{key}")
    return picked


def _exchange(entry: Entry, index: int) -> None:
    """A question and what became of it; both shown literally."""
    with st.chat_message("user"):
        st.text(entry.question)
    with st.chat_message("assistant"):
        if entry.answer:
            answer.show(entry.answer, index)
        elif entry.state == "failed":
            st.error(answer.literal(entry.fault), icon=":material/cloud_off:")
        else:
            st.caption(t("chat.interrupted"))
