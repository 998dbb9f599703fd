"""Who is signed in, and the guard of every page.

The session of Streamlit, which lives on the server, holds a name and a stamp; nothing is kept in the browser. Roles
are read from the users' file at every run, so that a change holds at once.
"""

import hashlib
import math
import time
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

from console import access, config
from console.lockout import Lockout
from console.passwords import Passwords
from console.texts import t
from console.users import User, UsersFileError, load
from engine.wire.staff import Role

SESSION_SECONDS = 12 * 3600
IDENTITY = "identity"
_LONGEST_NAME = 100


@dataclass(frozen=True, slots=True)
class Identity:
    """What the session knows of the person signed in."""

    name: str
    stamp: str
    """Changes with the password; an old stamp ends the session."""
    until: float


@dataclass(frozen=True, slots=True)
class Directory:
    """One version of the users' file."""

    users: dict[str, User]
    passwords: Passwords


def current() -> User | None:
    """The user who is signed in, as the file has them now."""
    identity = st.session_state.get(IDENTITY)
    if not isinstance(identity, Identity) or identity.until <= time.time():
        return None
    try:
        user = directory().users.get(identity.name)
    except UsersFileError:
        return None
    return user if user and stamp(user) == identity.stamp else None


def require(roles: frozenset[Role]) -> User:
    """First line of every page: goes no further unless somebody with one of these roles is signed in.

    It does not rely on the entry script: a page that is run without it is guarded all the same.
    """
    user = current()
    if user is None:
        st.error(t("auth.sign_in_first"), icon=":material/lock:")
        st.stop()
    if not user.roles & (roles | {access.ADMIN}):
        st.error(t("auth.no_access"), icon=":material/block:")
        st.stop()
    return user


def sign_in(username: str, password: str) -> str | None:
    """Try to sign in; gives None on success, else the line to show."""
    name = username.strip().lower()[:_LONGEST_NAME]
    wait = _lockout().take(name)
    if wait > 0:
        return t("auth.locked", minutes=math.ceil(wait / 60))
    try:
        known = directory()
    except UsersFileError:
        return t("auth.file_unreadable")
    if not known.passwords.check(name, password.strip()):
        return t("auth.wrong")
    _lockout().clear(name)
    st.session_state[IDENTITY] = Identity(name, stamp(known.users[name]), time.time() + SESSION_SECONDS)
    return None


def sign_out() -> None:
    """Forget everything that the session holds, but for the language of the page."""
    for key in list(st.session_state):
        if key != "ui_lang":
            del st.session_state[key]


def stamp(user: User) -> str:
    """A mark of the user's present password."""
    return hashlib.sha256(user.password.encode()).hexdigest()


def directory() -> Directory:
    """The users' file, read again when it has changed.

    Raises:
        UsersFileError: it cannot be used, or nothing says where it is.
    """
    path = config.users_file()
    if path is None:
        raise UsersFileError("no users' file is named")
    try:
        state = path.stat()
    except OSError:
        return _directory(str(path), 0, 0)
    return _directory(str(path), state.st_mtime_ns, state.st_ino)


@st.cache_resource(show_spinner=False, max_entries=4)
def _directory(path: str, changed: int, inode: int) -> Directory:
    """Kept for the whole process: a copy for each rerun would begin to count failures anew each time."""
    del changed, inode
    users = load(Path(path))
    return Directory(users, Passwords(users))


@st.cache_resource(show_spinner=False)
def _lockout() -> Lockout:
    return Lockout()
