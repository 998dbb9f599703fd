"""``postgres.json``: the generated passwords and where the socket is, and the URLs made of them."""

import contextlib
import json
import os
import secrets
from dataclasses import asdict, dataclass, field
from pathlib import Path

from sqlalchemy import URL

from engine.storage.embedded.errors import EmbeddedPostgresError

ADMIN, ENGINE, CONSOLE = "postgres", "anamnesis_engine", "anamnesis_console"
DATABASE = "anamnesis"
PORT = 5432  # names the socket file only; nothing listens on TCP


@dataclass(frozen=True)
class ConnectionUrls:
    """SQLAlchemy URLs of the database `anamnesis`, one a role; the two login roles are made by migrations.

    They hold passwords, so they stay out of the repr, and with it out of logs and tracebacks.
    """

    admin: str = field(repr=False)
    engine: str = field(repr=False)
    console: str = field(repr=False)


@dataclass(frozen=True)
class Record:
    """What has to be remembered of a cluster.

    The socket's directory counts only together with the state directory it was chosen for: a copied or
    moved state directory must never lead to the server of the original.
    """

    passwords: dict[str, str] = field(repr=False)
    state_directory: str
    socket_directory: str

    @property
    def urls(self) -> ConnectionUrls:
        return ConnectionUrls(self._url(ADMIN), self._url(ENGINE), self._url(CONSOLE))

    def _url(self, role: str) -> str:
        # The port is named because libpq would otherwise take PGPORT from the caller's environment.
        query = {"host": self.socket_directory, "port": str(PORT)}
        url = URL.create("postgresql+psycopg", role, self.passwords[role], database=DATABASE, query=query)
        return url.render_as_string(hide_password=False)


def generate_passwords() -> dict[str, str]:
    """A fresh password for each of the three roles."""
    return {role: secrets.token_urlsafe(32) for role in (ADMIN, ENGINE, CONSOLE)}


def record_path(state_dir: Path) -> Path:
    return state_dir / "postgres.json"


def read_record(state_dir: Path) -> Record | None:
    """The record, or None before the first start.

    Raises: EmbeddedPostgresError for an unreadable one; OSError where the caller may not read it.
    """
    path = record_path(state_dir)
    try:
        record = Record(**json.loads(path.read_text("utf-8")))
        if not all(isinstance(record.passwords[role], str) for role in (ADMIN, ENGINE, CONSOLE)):
            raise TypeError("a password is not a string")
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError) as error:
        raise EmbeddedPostgresError(
            f"{path} is damaged; restore it from a backup made together with the data"
        ) from error
    return record


def write_record(state_dir: Path, record: Record) -> None:
    """Replace the record at once: a reader sees the old or the new one whole, also after a power cut.

    Only under the lock of the state directory: the name of the temporary file is fixed.
    """
    path = record_path(state_dir)
    temporary = path.with_suffix(".tmp")
    with contextlib.suppress(FileNotFoundError):
        temporary.unlink()
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        give_to_owner(descriptor, state_dir)
        json.dump(asdict(record), file, indent=2)
        file.flush()
        os.fsync(descriptor)
    temporary.replace(path)
    sync_directory(state_dir)


def give_to_owner(descriptor: int, state_dir: Path) -> None:
    """Let a file made by root belong to the state directory's owner, who may start the server next time."""
    if os.geteuid() == 0:
        owner = state_dir.stat()
        os.fchown(descriptor, owner.st_uid, owner.st_gid)


def sync_directory(directory: Path) -> None:
    """Make a rename in the directory survive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
