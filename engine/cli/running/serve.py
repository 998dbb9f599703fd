"""The two servers, each in this process: `serve` and `console`."""

import asyncio
import importlib.util
import os
import sys
from pathlib import Path
from typing import NoReturn

from rich.console import Console

from engine.api import create_app
from engine.api.server import configure_logging, serve
from engine.app import build_engine
from engine.cli.errors import CommandError
from engine.cli.running.deployment import Deployment
from engine.cli.running.logins import first_login
from engine.cli.running.ports import require_free_port
from engine.storage.embedded import ConnectionUrls


def serve_api(deployment: Deployment) -> None:
    """Serve until a signal. Only the engine's connection is needed.

    Raises:
        CommandError: the port is taken, or a setting is missing.
    """
    settings = deployment.settings
    keys = deployment.keys()
    require_free_port(settings.api_host, settings.api_port, "API")
    engine = build_engine(settings, ConnectionUrls(admin="", engine=deployment.url("engine"), console=""))
    configure_logging()
    asyncio.run(serve(create_app(lambda: engine, settings=settings, keys=keys), settings))


def become_console(deployment: Deployment, host: str, port: int) -> NoReturn:
    """Hand this process over to Streamlit, with the four settings that the console knows.

    Raises:
        CommandError: the port is taken, or a setting is missing.
    """
    require_free_port(host, port, "CONSOLE")
    first_login(deployment, Console(stderr=True))
    environment = deployment.console_environment(deployment.url("console"), _console_key(deployment))
    command = [sys.executable, "-m", "streamlit", "run", str(_entry_script())]
    command += ["--server.address", host, "--server.port", str(port)]
    os.execve(sys.executable, command, environment)  # noqa: S606


def _console_key(deployment: Deployment) -> str:
    """Beside a database of one's own the console needs no key but this one."""
    if (given := deployment.settings.console_key) is not None:
        return given.get_secret_value()
    if deployment.embedded is None:
        raise CommandError("Set ANAMNESIS_CONSOLE_KEY to the key that the API has.")
    return deployment.keys().console_key.decode()


def _entry_script() -> Path:
    spec = importlib.util.find_spec("console")
    for folder in (spec.submodule_search_locations if spec else None) or ():
        if (script := Path(folder) / "entry" / "app.py").exists():
            return script
    raise CommandError("The console is not installed. Run `pip install -e .` in the project's directory.")
