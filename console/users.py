"""The file of those who may sign in: made, changed and read here, never by the login library."""

import contextlib
import fcntl
import os
import secrets
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import bcrypt
import yaml

from console.access import ROLES
from engine.wire.staff import Role

COST = 12
LONGEST_PASSWORD = 72
"""Bytes: bcrypt looks at no more."""
SHORTEST_PASSWORD = 10
FIRST_USER = "admin"

_ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789"
_HASH_MARKS = ("$2a$", "$2b$", "$2y$")
_HASH_LENGTH = 60


class UsersFileError(Exception):
    """The users' file cannot be used."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who may sign in."""

    name: str
    first_name: str
    roles: frozenset[Role]
    password: str
    """The bcrypt hash."""


def load(path: Path) -> dict[str, User]:
    """Read the file; an entry without a proper hash is left out, so that nobody can sign in as it."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsersFileError(f"cannot read {path}") from error
    entries = content.get("users") if isinstance(content, dict) else None
    if not isinstance(entries, dict):
        raise UsersFileError(f"{path} has no `users`")
    users = [_user(str(name).strip().lower(), entry) for name, entry in entries.items()]
    return {user.name: user for user in users if user}


def ensure_first_user(path: Path) -> tuple[str, str] | None:
    """Make the file with one administrator; gives the name and the password, or None when the file exists."""
    with _locked(path):
        if path.exists():
            return None
        password = generate_password()
        _write(path, {FIRST_USER: _entry(password, first_name="Admin", roles=["admin"])})
        return FIRST_USER, password


def add_user(path: Path, username: str, password: str, *, first_name: str, roles: list[Role]) -> None:
    """Add somebody; a name that is taken, an unknown role or a poor password is a ValueError."""
    name = username.strip().lower()
    if not name or len(name) > 100:
        raise ValueError("a user name has 1 to 100 characters")
    if not roles or not set(roles) <= ROLES:
        raise ValueError(f"roles are some of: {', '.join(sorted(ROLES))}")
    entry = _entry(password, first_name=first_name, roles=roles)
    with _locked(path):
        users = _entries(path)
        if name in users:
            raise ValueError(f"user {name} exists")
        _write(path, {**users, name: entry})


def set_password(path: Path, username: str, password: str) -> None:
    """Give somebody a new password; who is signed in with the old one is signed out."""
    name = username.strip().lower()
    hashed = hash_password(password)
    with _locked(path):
        users = _entries(path)
        if name not in users:
            raise ValueError(f"no user {name}")
        users[name]["password"] = hashed
        _write(path, users)


def hash_password(password: str) -> str:
    """The bcrypt hash of a password that is neither too short nor too long to be looked at as a whole."""
    if password != password.strip():
        raise ValueError("a password neither begins nor ends with a space")
    if len(password) < SHORTEST_PASSWORD:
        raise ValueError(f"a password has {SHORTEST_PASSWORD} characters or more")
    if len(password.encode()) > LONGEST_PASSWORD:
        raise ValueError(f"a password has {LONGEST_PASSWORD} bytes at most")
    return bcrypt.hashpw(password.encode(), bcrypt.gensalt(COST)).decode()


def generate_password() -> str:
    """Four groups of five characters that cannot be mistaken for one another: 99 bits."""
    return "-".join("".join(secrets.choice(_ALPHABET) for _ in range(5)) for _ in range(4))


def _user(name: str, entry: Any) -> User | None:
    """One entry of the file, or None when nobody may sign in as it."""
    if not isinstance(entry, dict):
        return None
    hashed = entry.get("password")
    if not isinstance(hashed, str) or not hashed.startswith(_HASH_MARKS) or len(hashed) != _HASH_LENGTH:
        return None
    named = entry.get("roles")
    given = {str(role) for role in named} if isinstance(named, list) else set()
    return User(
        name=name,
        first_name=str(entry.get("first_name") or name),
        roles=frozenset(role for role in ROLES if role in given),
        password=hashed,
    )


def _entry(password: str, *, first_name: str, roles: list[Role]) -> dict[str, Any]:
    return {"password": hash_password(password), "first_name": first_name, "roles": sorted(roles)}


def _entries(path: Path) -> dict[str, Any]:
    """The file's entries as they stand, for a change."""
    load(path)
    if not path.exists():
        return {}
    entries: dict[Any, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))["users"]
    return {str(name).strip().lower(): entry for name, entry in entries.items()}


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """One writer at a time, among processes too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path.with_name(f".{path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, users: dict[str, Any]) -> None:
    """Put a whole new file in the old one's place; a reader sees the one or the other."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            yaml.safe_dump({"users": users}, file, allow_unicode=True, sort_keys=False)
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
