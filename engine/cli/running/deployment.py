"""What the settings amount to on this machine: which database, where the state lies, who listens where."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from engine.app import connect, has_own_database, keys, state_dir
from engine.cli.errors import CommandError
from engine.keys import Keys
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls, EmbeddedPostgres

USERS_VARIABLE = "ANAMNESIS_CONSOLE_USERS"
WILDCARDS = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}  # noqa: S104 - translated, not bound


@dataclass(frozen=True)
class Deployment:
    """The settings with everything that follows from them."""

    settings: Settings

    @property
    def state_dir(self) -> Path:
        """Where the embedded server, keys, users and logs live."""
        return state_dir(self.settings)

    @property
    def embedded(self) -> EmbeddedPostgres | None:
        """The embedded server, unless a URL names another one."""
        return None if has_own_database(self.settings) else EmbeddedPostgres(self.state_dir)

    @property
    def users_file(self) -> Path:
        """Who may sign in to the console."""
        named = os.environ.get(USERS_VARIABLE)
        return Path(named).expanduser().absolute() if named else self.state_dir / "console_users.yaml"

    @property
    def run_file(self) -> Path:
        """Which supervisor runs."""
        return self.state_dir / "up.json"

    @property
    def logs(self) -> Path:
        """What API, console and supervisor write."""
        return self.state_dir / "logs"

    def keys(self) -> Keys:
        """The deployment's secrets. Raises KeysError."""
        return keys(self.settings)

    def urls(self) -> ConnectionUrls:
        """The three URLs, without starting anything.

        Raises:
            StorageError: a URL of a server of one's own is missing.
            EmbeddedPostgresError: the embedded server was never started here.
        """
        embedded = self.embedded
        return embedded.urls() if embedded else connect(self.settings)

    def url(self, role: Literal["admin", "engine", "console"]) -> str:
        """One role's URL; the embedded server is started where it is the one.

        Raises:
            CommandError: the setting is missing.
        """
        if (embedded := self.embedded) is not None:
            found: str = getattr(embedded.start(), role)
            return found
        secret: SecretStr | None = getattr(self.settings, f"{role}_url")
        if secret is None:
            raise CommandError(f"Set ANAMNESIS_{role.upper()}_URL: the other settings name a database of your own.")
        return secret.get_secret_value()

    @property
    def api_address(self) -> str:
        """Where this machine reaches the API that it runs."""
        return local_address(self.settings.api_host, self.settings.api_port)

    @property
    def console_address(self) -> str:
        """Where this machine reaches the console that it runs."""
        return local_address(self.settings.console_host, self.settings.console_port)

    def api_environment(self, urls: ConnectionUrls, keys: Keys) -> dict[str, str]:
        """The API's process knows neither the administrator's nor the console's connection."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if name not in {"ANAMNESIS_ADMIN_URL", "ANAMNESIS_CONSOLE_URL", USERS_VARIABLE}
        }
        return kept | {
            "ANAMNESIS_STATE_DIR": str(self.state_dir),
            "ANAMNESIS_ENGINE_URL": urls.engine,
            "ANAMNESIS_HASH_KEY": keys.hash_key.decode(),
            "ANAMNESIS_JWT_KEY": keys.jwt_key.decode(),
            "ANAMNESIS_CONSOLE_KEY": keys.console_key.decode(),
        }

    def console_environment(self, console_url: str, console_key: str) -> dict[str, str]:
        """The console's process gets four settings and no other secret."""
        return _without_secrets(os.environ) | {
            "ANAMNESIS_CONSOLE_URL": console_url,
            "ANAMNESIS_API_URL": self.settings.api_url or self.api_address,
            "ANAMNESIS_CONSOLE_KEY": console_key,
            USERS_VARIABLE: str(self.users_file),
        }


def local_address(host: str, port: int) -> str:
    """The URL under which a listener is reached from its own machine."""
    host = WILDCARDS.get(host, host)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def _without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if not name.startswith(("ANAMNESIS_", "PG", "OPENAI_"))}
