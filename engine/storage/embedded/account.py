"""Whom the server runs as: PostgreSQL refuses root."""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from engine.storage.embedded.errors import EmbeddedPostgresError

SERVICE_USER = "anamnesis"


class Identity(TypedDict):
    """The arguments of subprocess that make a program run as somebody else; None: as the caller."""

    user: int | None
    group: int | None
    extra_groups: list[int] | None


@dataclass(frozen=True)
class ServerAccount:
    """The system user that owns the data directory and runs the server."""

    uid: int
    gid: int
    name: str

    @property
    def differs(self) -> bool:
        """Whether programs have to be started as somebody else than the caller."""
        return self.uid != os.geteuid()

    @property
    def identity(self) -> Identity:
        """For every program that is started for the server."""
        if self.differs:
            return Identity(user=self.uid, group=self.gid, extra_groups=[])
        return Identity(user=None, group=None, extra_groups=None)


def server_account(state_dir: Path, pgdata: Path) -> ServerAccount:
    """The caller; for root the owner of the data directory, else of the state directory, else `anamnesis`.

    Following the owner lets ``sudo`` and the plain user share one server. The user `anamnesis` is created
    when needed; where that is impossible (no useradd, a read-only /etc) it is `nobody`.
    Raises: EmbeddedPostgresError when the data belongs to root, or no unprivileged user exists.
    """
    uid = os.geteuid()
    if uid != 0:
        return ServerAccount(uid, os.getegid(), _name_of(uid) or str(uid))
    if pgdata.exists():
        found = pgdata.stat()
        if found.st_uid == 0:
            raise EmbeddedPostgresError(
                f"{pgdata} belongs to root, as whom PostgreSQL does not run; "
                f"give it to its user: chown -R {SERVICE_USER}: '{pgdata}'"
            )
        return ServerAccount(found.st_uid, found.st_gid, _name_of(found.st_uid) or str(found.st_uid))
    found = state_dir.stat()
    # initdb wants a user with a name.
    if found.st_uid != 0 and (name := _name_of(found.st_uid)):
        return ServerAccount(found.st_uid, found.st_gid, name)
    return _service_account()


def _name_of(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _service_account() -> ServerAccount:
    if not _exists(SERVICE_USER):
        _create_service_user()
    for name in (SERVICE_USER, "nobody"):
        if _exists(name):
            entry = pwd.getpwnam(name)
            return ServerAccount(entry.pw_uid, entry.pw_gid, name)
    raise EmbeddedPostgresError(f"started as root without a user to run as; create a system user {SERVICE_USER!r}")


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _create_service_user() -> None:
    """Try; the caller looks at the outcome, since another process may have created the user meanwhile."""
    useradd = shutil.which("useradd", path="/usr/sbin:/sbin:/usr/bin:/bin")
    if useradd is None:
        return
    options = ("--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent")
    command = (useradd, *options, "--shell", "/usr/sbin/nologin", SERVICE_USER)
    subprocess.run(command, check=False, stdin=subprocess.DEVNULL, capture_output=True)  # noqa: S603
