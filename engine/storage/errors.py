"""What went wrong with the database, in one line that says what to do."""

import psycopg
import sqlalchemy as sa
from sqlalchemy.engine import URL, make_url

DRIVER_ERRORS = (sa.exc.DBAPIError, psycopg.Error)
"""What a statement may raise: scripts run on the driver's own cursor, past SQLAlchemy."""


class StorageError(RuntimeError):
    """A database fault that a person can mend; its text holds no data of a user's."""


class OtherVectorsError(StorageError):
    """The stored vectors are those of another encoder than the one that asks."""


class NotSeededError(StorageError):
    """The database holds no corpus yet."""


_OTHER_VECTORS = "P0001"
_CURES = {
    "28P01": "The password was refused. Correct the password in the URL.",
    "28000": "The login was refused. Check the user in the URL and the server's pg_hba.conf.",
    "3D000": "The database does not exist. Create it or correct the URL.",
    "42501": "The role lacks a right it needs. Run `anamnesis migrate --bootstrap` as the administrator.",
    "42P01": "A table is missing. Run `anamnesis migrate`.",
    "42883": "A function is missing. Run `anamnesis migrate`.",
    "3F000": "A schema is missing. Run `anamnesis migrate --bootstrap` as the administrator.",
    _OTHER_VECTORS: "The vectors stored there are not those of the active embedder. Run `anamnesis reembed`.",
    "0A000": "The server lacks a feature. PostgreSQL 16 with pgvector 0.8 or newer is needed.",
    "40001": "Another process changed the same rows; nothing was written. Try again.",
    "40P01": "Two processes waited for each other and this one was stopped; nothing was written. Try again.",
    "53100": "The server's disk is full. Free space there.",
    "53200": "The server is out of memory. Free some there.",
    "53300": "The server has no free connection. Raise max_connections or stop other clients.",
    "55P03": "Another process holds a lock for too long. Try again when it is done.",
    "57014": "The statement took too long and was cancelled by the server.",
    "57P03": "The server is still starting or shutting down. Try again in a moment.",
}
_CLASS_CURES = {
    "08": "The connection broke. Try again.",
    "53": "The server is short of resources. Free some there.",
    "55": "Another process is using what has to be changed. Try again when it is done.",
    "57": "The server ended the connection. Try again in a moment.",
}
_LOGIN_FAULTS = {
    "password authentication failed": "28P01",
    "no pg_hba.conf entry": "28000",
    "too many clients already": "53300",
    "remaining connection slots are reserved": "53300",
    "the database system is": "57P03",
}
"""Before a connection stands the driver knows the server's words, but not its SQLSTATE."""

_OWN_ROLES = {"anamnesis_engine", "anamnesis_console"}


def explain(error: sa.exc.DBAPIError | psycopg.Error, url: str) -> StorageError:
    """Turn a driver's error into one line; the statement and its parameters are left out."""
    where = make_url(url)
    address = where.host or where.query.get("host") or "the local socket"
    original = error.orig if isinstance(error, sa.exc.DBAPIError) else error
    state = getattr(original, "sqlstate", None)
    if state is not None:
        said = _CURES.get(state) or _CLASS_CURES.get(state[:2]) or f"A statement was refused (SQLSTATE {state})."
    elif isinstance(original, psycopg.OperationalError | psycopg.InterfaceError):
        said = _login_fault(str(original), where)
    else:
        said = f"A statement could not be sent ({type(original).__name__})."
    kind = OtherVectorsError if state == _OTHER_VECTORS else StorageError
    return kind(f"Database {where.database!r} at {address}: {said}")


def _login_fault(text: str, where: URL) -> str:
    state = next((state for words, state in _LOGIN_FAULTS.items() if words in text), None)
    missing = f'role "{where.username}" does not exist' in text
    if where.username in _OWN_ROLES and (missing or state == "28P01"):
        # The server keeps to itself which of the two it is.
        return f"The role {where.username} is not there yet or has another password. {_preparation(where)}"
    if state is not None:
        return _CURES[state]
    if missing:
        return "The role does not exist. Correct the user in the URL."
    if f'database "{where.database}" does not exist' in text:
        return _CURES["3D000"]
    return "It cannot be reached. Start it (`anamnesis up` starts the embedded one) or correct the URL."


def _preparation(where: URL) -> str:
    """What makes the roles: on a socket it may be the embedded server, for which nobody has written a URL."""
    if where.host is None:
        return "Run `anamnesis up` or `anamnesis seed`; with a server of your own, correct the URL."
    return "Run `anamnesis migrate --bootstrap` as the administrator, or correct the password in the URL."
