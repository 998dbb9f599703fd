"""What went wrong with the database, in one line that says what to do."""

import sqlalchemy as sa
from sqlalchemy.engine import make_url


class StorageError(RuntimeError):
    """A database fault that a person can mend; its text holds no data of a user's."""


_CURES = {
    "28P01": "The password was refused. Correct the password in the URL.",
    "28000": "The login was refused. Check the user in the URL and the server's pg_hba.conf.",
    "3D000": "The database does not exist. Create it or correct the URL.",
    "42501": "The role lacks a right it needs. Run `anamnesis migrate --bootstrap` as the administrator.",
    "42P01": "A table is missing. Run `anamnesis migrate`.",
    "42883": "A function is missing. Run `anamnesis migrate`.",
    "3F000": "A schema is missing. Run `anamnesis migrate --bootstrap` as the administrator.",
    "53300": "The server has no free connection. Raise max_connections or stop other clients.",
    "57P03": "The server is still starting. Try again in a moment.",
    "57014": "The statement took too long and was cancelled by the server.",
    "0A000": "The server lacks a feature. PostgreSQL 16 with pgvector 0.8 or newer is needed.",
}


def explain(error: sa.exc.DBAPIError, url: str) -> StorageError:
    """Turn a driver's error into one line; the statement and its parameters are left out."""
    where = make_url(url)
    address = where.host or where.query.get("host") or "the local socket"
    original = error.orig
    state = getattr(original, "sqlstate", None)
    if state in _CURES:
        return StorageError(f"Database {where.database!r} at {address}: {_CURES[state]}")
    text = str(original)
    if "password authentication failed" in text:
        return StorageError(f"Database {where.database!r} at {address}: {_CURES['28P01']}")
    if "does not exist" in text and state is None:
        return StorageError(f"Database {where.database!r} at {address}: the database or role does not exist.")
    if state is None or isinstance(error, sa.exc.OperationalError | sa.exc.InterfaceError):
        return StorageError(
            f"Database {where.database!r} at {address} cannot be reached. Start it (`anamnesis up` starts the "
            "embedded one) or correct the URL."
        )
    return StorageError(f"Database {where.database!r} at {address} refused a statement (SQLSTATE {state}).")
