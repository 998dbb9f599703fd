"""A test conversation: what was said, and the call to the API on behalf of the person signed in."""

import time
from dataclasses import dataclass, field
from typing import Literal

import streamlit as st

from console import config
from console.texts import t
from console.users import User
from engine.client import ClientError, EngineClient, EngineError
from engine.wire import AskRequest, AskResponse, ChatName, Context, StaffSessionRequest, Turn
from engine.wire.fields import MAX_QUESTION, Lang
from engine.wire.staff import Role

HISTORY = 12
"""How many earlier messages go with a question; with the next limit they stay below that of the API's body."""
LONGEST_TURN = MAX_QUESTION
"""Characters of an earlier message that go with a question; the conversation itself keeps all of it."""

_CONVERSATION = "conversation"
_TOKEN = "staff_token"  # noqa: S105 - the name of a place, not a secret
_UNAUTHORISED = 401
_EARLY = 30.0
"""Seconds by which a token is renewed before it runs out."""


@dataclass(slots=True)
class Entry:
    """One exchange; kept from before the call on, so that an interrupted one is not lost."""

    question: str
    state: Literal["waiting", "answered", "failed"] = "waiting"
    answer: AskResponse | None = None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class StaffToken:
    """A token of the API for one person with certain roles; it never leaves the server."""

    token: str
    name: str
    roles: frozenset[Role]
    until: float


@dataclass(slots=True)
class Options:
    """How the next question is to be asked."""

    chat: ChatName = "auto"
    lang: Lang | None = None
    context: Context = field(default_factory=Context)


def entries() -> list[Entry]:
    """The conversation of this session, oldest first."""
    held: list[Entry] = st.session_state.setdefault(_CONVERSATION, [])
    return held


def clear() -> None:
    """Begin anew."""
    st.session_state.pop(_CONVERSATION, None)


def begin(question: str) -> Entry:
    """Note a question before it is sent."""
    entry = Entry(question)
    entries().append(entry)
    return entry


def send(user: User, entry: Entry, options: Options) -> None:
    """Put the question to the API and note how it ended."""
    request = AskRequest(
        question=entry.question,
        chat=options.chat,
        lang=options.lang,
        history=_history(entry),
        context=options.context,
    )
    try:
        entry.answer = _ask(user, request)
        entry.state = "answered"
    except ClientError as error:
        entry.fault = str(error)
        entry.state = "failed"


def _history(current: Entry) -> list[Turn]:
    """What was said before, as the app would send it."""
    turns: list[Turn] = []
    for entry in entries():
        if entry is not current and entry.answer:
            turns.append(Turn(role="user", text=entry.question[:LONGEST_TURN]))
            turns.append(Turn(role="assistant", text=entry.answer.text[:LONGEST_TURN]))
    return turns[-HISTORY:]


def _ask(user: User, request: AskRequest) -> AskResponse:
    """Ask with the token at hand; one that is refused is renewed once."""
    with EngineClient(config.api_url(), _token(user)) as client:
        try:
            return client.chat(request)
        except EngineError as error:
            if error.status != _UNAUTHORISED:
                raise
    st.session_state.pop(_TOKEN, None)
    with EngineClient(config.api_url(), _token(user)) as client:
        return client.chat(request)


def _token(user: User) -> str:
    """A token for this person and their present roles."""
    held = st.session_state.get(_TOKEN)
    if isinstance(held, StaffToken) and (held.name, held.roles) == (user.name, user.roles) and held.until > time.time():
        return held.token
    key = config.console_key()
    if key is None:
        raise ClientError(t("chat.no_key"))
    with EngineClient(config.api_url()) as client:
        session = client.staff_session(key, StaffSessionRequest(username=user.name, roles=sorted(user.roles)))
    until = time.time() + session.expires_in - _EARLY
    st.session_state[_TOKEN] = StaffToken(session.token, user.name, user.roles, until)
    return session.token
