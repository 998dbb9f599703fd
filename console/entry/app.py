"""Entry script of the console: `streamlit run console/entry/app.py`.

It stands apart from `console/pages`: Streamlit runs what lies in a `pages` directory beside its entry script without
running the entry script.
"""

import streamlit as st

from console import auth, login, navigation, sidebar
from console.texts import t

st.set_page_config(page_title=t("app.name"), page_icon="🩺", layout="wide", menu_items={"About": t("app.about")})
user = auth.current()
page = st.navigation(navigation.pages(user), position="sidebar" if user else "hidden")
if user is None:
    login.render()
    st.stop()
sidebar.render(user)
page.run()
