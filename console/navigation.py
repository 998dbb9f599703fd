"""The pages of the console, in the order of the menu."""

from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from console import access
from console.texts import t
from console.users import User

PAGES_DIRECTORY = Path(__file__).parent / "pages"


@dataclass(frozen=True, slots=True)
class Spec:
    """One page of the menu."""

    name: str
    group: str
    icon: str


SPECS = (
    Spec("quality", "measure", ":material/target:"),
    Spec("performance", "measure", ":material/speed:"),
    Spec("safety", "measure", ":material/shield:"),
    Spec("usage", "measure", ":material/bar_chart:"),
    Spec("test_chat", "work", ":material/chat:"),
)
DEFAULT = "quality"
_ROOT = "start"
"""A name that the default page must have, although it is served at `/`."""


def pages(user: User | None) -> dict[str, list[StreamlitPage]]:
    """Every page for everybody, so that links survive the login; those that are not for this user are hidden.

    A hidden page is still guarded by its own first line.
    """
    menu: dict[str, list[StreamlitPage]] = {}
    for spec in SPECS:
        shown = user is not None and access.allowed(user.roles, spec.name)
        page = _page(spec, shown=shown, default=spec.name == DEFAULT)
        menu.setdefault(t(f"menu.{spec.group}"), []).append(page)
        if spec.name == DEFAULT:
            # The default page lives at `/` alone; its own name is an address that people type, too.
            menu[t(f"menu.{spec.group}")].append(_page(spec, shown=False, default=False))
    return menu


def _page(spec: Spec, *, shown: bool, default: bool) -> StreamlitPage:
    return st.Page(
        PAGES_DIRECTORY / f"{spec.name}.py",
        title=t(f"menu.{spec.name}"),
        icon=spec.icon,
        url_path=_ROOT if default else spec.name,
        default=default,
        visibility="visible" if shown else "hidden",
    )
