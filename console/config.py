"""Where the console finds its files, its database and the API."""

import json
import os
from pathlib import Path

from engine.settings import Settings

DEFAULT_STATE_DIR = Path("var")


def state_dir() -> Path:
    """The directory that holds the keys and the users' file."""
    return Settings().state_dir or DEFAULT_STATE_DIR


def users_file() -> Path:
    """The file that names who may sign in."""
    named = os.environ.get("ANAMNESIS_CONSOLE_USERS")
    return Path(named) if named else state_dir() / "console_users.yaml"


def database_url() -> str | None:
    """The connection of the console's own role, which can read the metrics views and nothing else."""
    url = Settings().console_url
    return url.get_secret_value() if url else None


def api_url() -> str:
    """The address of the engine's API."""
    return Settings().base_url


def console_key() -> str | None:
    """What the console shows to the API to get a staff session: a setting, else the state directory's."""
    key = Settings().console_key
    if key:
        return key.get_secret_value()
    try:
        stored = json.loads((state_dir() / "keys.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found = stored.get("console_key") if isinstance(stored, dict) else None
    return found if isinstance(found, str) and found else None
