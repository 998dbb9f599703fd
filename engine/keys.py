"""The three secrets of a deployment: settings give them, else the state directory keeps them."""

import json
import os
import secrets
import tempfile
from dataclasses import dataclass, field, fields
from pathlib import Path

from pydantic import SecretStr

from engine.settings import MINIMUM_KEY_BYTES, PREFIX, Settings

FILE_NAME = "keys.json"


class KeysError(RuntimeError):
    """A key is missing or unusable; the text says which and what to do, never its value."""


@dataclass(frozen=True)
class Keys:
    """`hash_key` hashes queries in the log, `jwt_key` signs tokens, `console_key` lets the console in."""

    hash_key: bytes = field(repr=False)
    jwt_key: bytes = field(repr=False)
    console_key: bytes = field(repr=False)


NAMES = tuple(key.name for key in fields(Keys))


def load_keys(settings: Settings, state_dir: Path | None) -> Keys:
    """The keys that the settings name; what they leave out comes from the state directory, made there once.

    Without a state directory (a deployment with a database of its own) every key must be a setting: a key
    made on the spot would differ between two machines.

    Raises:
        KeysError: a key is missing, too short, or its file cannot be used.
    """
    given: dict[str, SecretStr | None] = {name: getattr(settings, name) for name in NAMES}
    found = {name: secret.get_secret_value() for name, secret in given.items() if secret is not None}
    missing = [name for name in NAMES if name not in found]
    if missing and state_dir is None:
        raise KeysError(
            f"Set {', '.join(map(_variable, missing))}: with a database of your own every key is a setting "
            f"({MINIMUM_KEY_BYTES} bytes or more, the same on each machine)."
        )
    if missing and state_dir is not None:
        stored = _stored(state_dir)
        found |= {name: stored[name] for name in missing}
    encoded = {name: found[name].encode() for name in NAMES}
    for name, key in encoded.items():
        if len(key) < MINIMUM_KEY_BYTES:
            raise KeysError(f"{_variable(name)} must have {MINIMUM_KEY_BYTES} bytes or more.")
    return Keys(**encoded)


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _stored(state_dir: Path) -> dict[str, str]:
    path = state_dir / FILE_NAME
    try:
        if not path.exists():
            _create(path)
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        content = None
    except OSError as error:
        raise KeysError(f"{path} cannot be used ({error.strerror}). Mend its rights or its directory's.") from None
    if not isinstance(content, dict) or not all(isinstance(content.get(name), str) for name in NAMES):
        raise KeysError(
            f"{path} is damaged. Restore it from a backup; or remove it, and new keys are made "
            "(old query hashes and tokens no longer match)."
        )
    return content


def _create(path: Path) -> None:
    """Write a whole file aside and link it into place: of two processes one wins, and both read its keys."""
    path.parent.mkdir(mode=0o711, parents=True, exist_ok=True)  # the embedded server's user passes through it
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # 0600 from the start
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump({key: secrets.token_urlsafe(48) for key in NAMES}, file, indent=2)
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(name, path)
        except FileExistsError:
            return
    finally:
        Path(name).unlink()
