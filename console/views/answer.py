"""How an answer of the API is shown: its text literally, its sources, its guards and its trace."""

import json
import re
from collections.abc import Sequence
from urllib.parse import urlsplit

import pandas as pd
import streamlit as st

from console import formats, ui
from console.conversation import Entry
from console.texts import named, t
from engine.wire import AskResponse, Citation, Trace

_OUTCOME_MARKS = {
    "answered": (":material/check_circle:", "green"),
    "abstained": (":material/help:", "gray"),
    "escalated": (":material/emergency:", "orange"),
    "refused": (":material/block:", "blue"),
    "blocked": (":material/shield:", "red"),
    "ungrounded": (":material/link_off:", "red"),
    "guard_error": (":material/error:", "red"),
}
_GUARD_COLOURS = {"ok": "green", "rewritten": "orange", "blocked": "red", "ungrounded": "red", "judge_error": "red"}
_SYNTAX = re.compile(r"[\\`*_{}\[\]()<>#+\-.!|~$:&]")
_ICON_COLON = re.compile(r":(?=[A-Za-z])")
_WORD_JOINER = "\u2060"


def show(answer: AskResponse, index: int) -> None:
    """One answer with everything that is known of it."""
    _badges(answer)
    st.text(answer.text or t("chat.no_text"))
    if answer.citations:
        st.caption(t("chat.sources"))
        for citation in answer.citations:
            _source(citation, index)
    with st.expander(t("chat.trace"), icon=":material/account_tree:"):
        _trace(answer.trace, index)


def log(held: Sequence[Entry]) -> pd.DataFrame:
    """The conversation as rows, for the download."""
    return pd.DataFrame(
        [
            {
                "question": entry.question,
                "state": entry.state,
                "outcome": entry.answer.outcome if entry.answer else "",
                "answer": entry.answer.text if entry.answer else "",
                "guardrail": entry.answer.guardrail.status if entry.answer else "",
                "citations": ", ".join(c.document for c in entry.answer.citations) if entry.answer else "",
                "ms": sum(stage.ms for stage in entry.answer.trace.stages) if entry.answer else None,
            }
            for entry in held
        ]
    )


def literal(text: str) -> str:
    """Text for an element that reads Markdown, with every mark of Markdown, LaTeX and icons made harmless."""
    broken = _ICON_COLON.sub(f":{_WORD_JOINER}", text)
    return _SYNTAX.sub(lambda found: f"&#{ord(found.group())};", broken)


def link_target(url: str) -> str | None:
    """The address if a browser may be sent there."""
    parts = urlsplit(url)
    return url if parts.scheme in ("http", "https") and parts.netloc else None


def _badges(answer: AskResponse) -> None:
    """Outcome, guards and time at a glance; an icon and a word stand beside every colour."""
    guard = answer.guardrail
    icon, colour = _OUTCOME_MARKS.get(answer.outcome, (":material/info:", "gray"))
    total = sum(stage.ms for stage in answer.trace.stages)
    with st.container(horizontal=True, gap="xsmall"):
        st.badge(named("outcome", answer.outcome), icon=icon, color=colour)  # type: ignore[arg-type]
        st.badge(
            t("chat.guard", status=named("guardrail", guard.status)),
            icon=":material/shield:",
            color=_GUARD_COLOURS.get(guard.status, "gray"),  # type: ignore[arg-type]
        )
        st.badge(
            t("chat.judge", status=named("judge", guard.judge)),
            icon=":material/gavel:",
            color=_GUARD_COLOURS.get(guard.judge, "gray"),  # type: ignore[arg-type]
        )
        st.badge(named("chat", answer.chat), icon=":material/forum:", color="gray")
        st.badge(named("lang", answer.lang), icon=":material/translate:", color="gray")
        st.badge(formats.milliseconds(total), icon=":material/timer:", color="gray")
    if guard.rule_ids:
        st.text(t("chat.rules", rules=", ".join(guard.rule_ids)))


def _source(citation: Citation, index: int) -> None:
    """One cited source; its title is shown literally, its address only where it is one of the web's."""
    target = link_target(citation.url)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.text(f"[{citation.n}] {citation.title}")
        if target:
            st.link_button(
                literal(urlsplit(target).netloc),
                target,
                type="tertiary",
                icon=":material/open_in_new:",
                key=f"source_{index}_{citation.n}",
            )


def _trace(trace: Trace, index: int) -> None:
    """Every stage with its time and its details, the tokens and the models."""
    total = sum(stage.ms for stage in trace.stages)
    rows = pd.DataFrame(
        [
            {
                "stage": named("stage", stage.name),
                "ms": round(stage.ms, 1),
                "share": stage.ms / total if total else 0.0,
                "detail": json.dumps(stage.detail, ensure_ascii=False) if stage.detail else "",
            }
            for stage in trace.stages
        ],
        columns=["stage", "ms", "share", "detail"],
    )
    ui.table(
        rows,
        {
            "stage": t("performance.stage"),
            "ms": st.column_config.NumberColumn(t("performance.ms"), format="localized"),
            "share": st.column_config.ProgressColumn(
                t("chart.share"), format="percent", min_value=0, max_value=1, width="small"
            ),
            "detail": st.column_config.TextColumn(t("chat.detail"), width="large"),
        },
        description=t("chat.trace"),
    )
    with st.container(horizontal=True, gap="large"):
        for kind, count in trace.tokens.items():
            st.text(t("chat.tokens", kind=kind, count=formats.integer(count)))
        for part, model in trace.models.items():
            st.text(f"{part}: {model}")
