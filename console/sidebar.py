"""What stands under the menu: the language, who is signed in, and the way out."""

import streamlit as st

from console import auth
from console.texts import language_switch, named, t
from console.users import User


def render(user: User) -> None:
    """Draw it."""
    with st.sidebar:
        language_switch()
        st.text(user.first_name)
        st.caption(" · ".join(named("role", role) for role in sorted(user.roles)) or t("auth.no_roles"))
        if st.button(t("auth.sign_out"), icon=":material/logout:", key="sign_out"):
            auth.sign_out()
            st.rerun()
