"""The two long-running children, API and console: how each is started, asked and ended."""

import contextlib
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from engine.cli.running.deployment import Deployment
from engine.cli.running.identity import ProcessId
from engine.keys import Keys
from engine.storage.embedded import ConnectionUrls

LOG_BYTES = 5_000_000
"""A log that has grown beyond this is set aside at the next start."""


@dataclass
class Part:
    """A child process with an address at which it answers when it is ready."""

    name: str
    address: str
    health: str
    arguments: list[str]
    environment: dict[str, str] = field(repr=False)
    log: Path
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> ProcessId:
        """Start it in a session of its own: the terminal's Ctrl-C reaches the supervisor alone, which ends it."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            if self.log.stat().st_size > LOG_BYTES:
                self.log.replace(self.log.with_suffix(".log.1"))
        with os.fdopen(os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab") as output:
            self.process = subprocess.Popen(  # noqa: S603
                [sys.executable, "-m", "engine.cli", *self.arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        return ProcessId.of(self.process.pid)

    def ended(self) -> str | None:
        """One line about an end that nobody asked for; None while it runs."""
        code = self.process.poll() if self.process else None
        if code is None:
            return None
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        return f"The {self.name} ended by itself ({how}). {_last_line(self.log)} Its log: {self.log}"

    def answers(self) -> bool:
        """Whether it is ready."""
        return answers(self.health)

    def end(self, number: signal.Signals) -> None:
        """Signal it and all of its children; nothing happens where it has ended or never ran."""
        if self.process and self.process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)


def answers(health: str) -> bool:
    """Whether something ready is there."""
    try:
        return httpx.get(health, timeout=2, trust_env=False).status_code == httpx.codes.OK
    except httpx.HTTPError:
        return False


def unready(health: str) -> str | None:
    """Why what is there is not ready, in its own words; None where it is, "" where it says nothing."""
    try:
        answer = httpx.get(health, timeout=2, trust_env=False)
        if answer.status_code == httpx.codes.OK:
            return None
        detail = answer.json()["detail"]
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return ""
    return detail if isinstance(detail, str) else ""


def api_liveness(deployment: Deployment) -> str:
    """Where the API says that it runs, ready or not."""
    return f"{deployment.api_address}/healthz"


def api_health(deployment: Deployment) -> str:
    """Where the API says that it can answer."""
    return f"{deployment.api_address}/readyz"


def console_health(deployment: Deployment) -> str:
    """Where the console says that it serves pages."""
    return f"{deployment.console_address}/_stcore/health"


def parts_of(deployment: Deployment, urls: ConnectionUrls, keys: Keys) -> list[Part]:
    """The children of `up`, in the order in which they start."""
    settings = deployment.settings
    return [
        Part(
            "API",
            deployment.api_address,
            api_health(deployment),
            ["serve"],
            deployment.api_environment(urls, keys),
            deployment.logs / "api.log",
        ),
        Part(
            "console",
            deployment.console_address,
            console_health(deployment),
            ["console", "--host", settings.console_host, "--port", str(settings.console_port)],
            deployment.console_environment(urls.console, keys.console_key.decode()),
            deployment.logs / "console.log",
        ),
    ]


def _last_line(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return f"Its last words: {lines[-1][:300]}" if lines else ""
