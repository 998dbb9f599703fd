"""What a visitor sees who is not signed in: the form and nothing else."""

import streamlit as st

from console import auth, config
from console.texts import language_switch, t


def render() -> None:
    """Draw the form; a right answer shows the page that was asked for."""
    with st.container(horizontal=True, horizontal_alignment="center"), st.container(width=420):
        st.title(t("app.name"), anchor=False)
        st.caption(t("app.purpose"))
        path = config.users_file()
        if path is None:
            st.error(t("auth.no_place"), icon=":material/error:")
            return
        with st.form("login"):
            username = st.text_input(t("auth.username"), autocomplete="username", max_chars=100)
            password = st.text_input(t("auth.password"), type="password", autocomplete="current-password")
            sent = st.form_submit_button(t("auth.sign_in"), width="stretch")
        if sent:
            fault = auth.sign_in(username, password)
            if fault is None:
                st.rerun()
            st.error(fault, icon=":material/error:")
        if not path.exists():
            st.info(t("auth.no_users"), icon=":material/info:")
        language_switch()
