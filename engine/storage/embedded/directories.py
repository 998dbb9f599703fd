"""Where the embedded server keeps its files and its socket."""

import hashlib
import os
import re
import stat
from pathlib import Path

from engine.storage.embedded.errors import EmbeddedPostgresError

SYSTEM_STATE_DIR = Path("/var/lib/anamnesis")
SOCKET_FILE = ".s.PGSQL.5432"
# Not /run/user/<uid>: it is removed at logout, and the server outlives the login session.
SHORT_ROOTS = (Path("/run"), Path("/tmp"))  # noqa: S108 (what is made there is checked in ensure_private)

_UNIX_SOCKET_PATH_BYTES = 107
# The server reads unix_socket_directories, and libpq reads host, as comma-separated lists with quoting.
_PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")


def default_state_dir() -> Path:
    """``./var``, where no setting names another directory.

    For root it is /var/lib/anamnesis where ``./var`` could not be entered by the unprivileged user that the
    server then runs as (a working directory under /root).
    """
    here = Path("var").absolute()
    return SYSTEM_STATE_DIR if os.geteuid() == 0 and closed_to(here, -1, -1) else here


def closed_to(path: Path, uid: int, gid: int) -> Path | None:
    """The first directory on the way to `path`, itself included, that this user cannot enter, else None.

    What does not exist yet does not count; -1 stands for "any other user".
    """
    resolved = path.resolve()
    for directory in (*reversed(resolved.parents), resolved):
        try:
            found = directory.stat()
        except FileNotFoundError:
            return None
        may_enter = stat.S_IXUSR if found.st_uid == uid else stat.S_IXGRP if found.st_gid == gid else stat.S_IXOTH
        if not found.st_mode & may_enter:
            return directory
    return None


def create_state_dir(state_dir: Path) -> None:
    """Make the state directory with its missing parents; existing ones stay untouched.

    What root makes can be passed through by others, whatever the umask: the server's user has to.
    """
    root = os.geteuid() == 0
    missing = [directory for directory in (state_dir, *state_dir.parents) if not directory.exists()]
    for directory in reversed(missing):
        directory.mkdir(exist_ok=True)
        if directory == state_dir:
            directory.chmod(0o711 if root else 0o700)
        elif root:
            directory.chmod(0o755)


def socket_dir_for(state_dir: Path, uid: int) -> Path:
    """Where the socket of this state directory belongs: inside it, or in a short private place.

    The short place serves paths that are too long for a socket's address or would need quoting in it.
    Raises: EmbeddedPostgresError when no place is usable.
    """
    inside = state_dir / "run"
    length = len(os.fsencode(inside / SOCKET_FILE))
    if length <= _UNIX_SOCKET_PATH_BYTES and _PLAIN_PATH.fullmatch(str(inside)):
        return inside
    for parent in SHORT_ROOTS:
        if os.access(parent, os.W_OK | os.X_OK) and _names_are_safe(parent):
            return parent / f"anamnesis-{uid}-{digest(state_dir)}"
    raise EmbeddedPostgresError(
        f"the path {state_dir} is too long or too special for a socket and neither "
        f"{' nor '.join(map(str, SHORT_ROOTS))} can be written; set ANAMNESIS_STATE_DIR to a short plain path"
    )


def digest(state_dir: Path) -> str:
    """A short name for a state directory, for what has to stand outside it."""
    return hashlib.sha256(os.fsencode(state_dir)).hexdigest()[:16]


def _names_are_safe(parent: Path) -> bool:
    """Whether other users cannot rename or remove what we make there (not writable for them, or sticky)."""
    mode = parent.stat().st_mode
    return not mode & stat.S_IWOTH or bool(mode & stat.S_ISVTX)


def ensure_private(directory: Path, uid: int, gid: int) -> None:
    """Make a directory that only this user (and root) can enter, or verify the one that is there.

    Everything is checked on an open descriptor, so that nothing can be exchanged in between.
    Raises: EmbeddedPostgresError for a symbolic link, another owner, or a mode other than 0700.
    """
    created = True
    try:
        directory.mkdir(mode=0o700)
    except FileExistsError:
        created = False
    try:
        descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError as error:
        raise _refused(directory) from error
    try:
        if created:
            os.fchmod(descriptor, 0o700)
        found = os.fstat(descriptor)
        # A start as root that was killed right here left it owned by root: that one is ours as well.
        if found.st_uid not in (uid, os.geteuid()) or stat.S_IMODE(found.st_mode) & 0o077:
            raise _refused(directory)
        if found.st_uid != uid:
            os.fchown(descriptor, uid, gid)
    finally:
        os.close(descriptor)


def _refused(directory: Path) -> EmbeddedPostgresError:
    return EmbeddedPostgresError(
        f"{directory} is not a private directory of the server's user "
        "(a link, another owner, or open to others); remove it and start again"
    )
