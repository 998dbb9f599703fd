"""Whose figures a run's are: measured here or elsewhere, and on which corpus."""

import streamlit as st

from console import data, formats
from console.queries import performance
from console.queries import quality as queries
from console.texts import t
from console.views.answer import literal


def show(run_id: str) -> None:
    """Say what a reader must know before the figures; nothing where a run is of this installation and its corpus."""
    run = data.read(queries.run, run_id)
    if run is None:
        return
    if run.imported_at:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.badge(t("quality.elsewhere"), icon=":material/cloud_download:", color="gray")
            st.caption(_recorded(run), width="content")
    stored = data.read(performance.corpus)
    if stored and stored.hash != run.corpus_hash:
        st.info(
            t(
                "quality.other_corpus",
                documents=formats.integer(run.documents),
                hash=literal(run.corpus_hash[:12]),
                stored=formats.integer(stored.documents),
                stored_hash=stored.hash[:12],
            ),
            icon=":material/difference:",
        )


def _recorded(run: queries.Run) -> str:
    return t(
        "quality.recorded",
        at=formats.moment(run.started_at),
        git=literal(f"{run.git_revision[:8]}{'+' if run.git_dirty else ''}"),
        hash=literal(run.corpus_hash[:12]),
        here=formats.moment(run.imported_at),
    )
