"""Where the console finds its files, its database and the API."""

import json
import os
from pathlib import Path

from engine.settings import Settings


def users_file() -> Path | None:
    """The file that names who may sign in; None where the environment names no place for it.

    Which state directory is the default one is not decided here: `anamnesis console` and `anamnesis up` say it.
    """
    if named := os.environ.get("ANAMNESIS_CONSOLE_USERS"):
        return Path(named).expanduser()
    state_dir = Settings().state_dir
    return state_dir / "console_users.yaml" if state_dir else None


def database_url() -> str | None:
    """The connection of the console's own role, which can read the metrics views and nothing else."""
    url = Settings().console_url
    return url.get_secret_value() if url else None


def api_url() -> str:
    """The address of the engine's API."""
    return Settings().base_url


def console_key() -> str | None:
    """What the console shows to the API to get a staff session: a setting, else the state directory's."""
    settings = Settings()
    if settings.console_key:
        return settings.console_key.get_secret_value()
    if settings.state_dir is None:
        return None
    try:
        stored = json.loads((settings.state_dir / "keys.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    found = stored.get("console_key") if isinstance(stored, dict) else None
    return found if isinstance(found, str) and found else None
