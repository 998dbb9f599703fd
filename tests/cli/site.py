"""A deployment of its own in a fresh directory: nothing of the developer's is touched."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from engine.knowledge.corpus import DEFAULT_CORPUS as CORPUS
from engine.storage.embedded import EmbeddedPostgres
from tests.polling import hear_ctrl_c


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


@dataclass
class Site:
    """A state directory with the program's environment for it."""

    state_dir: Path
    environment: dict[str, str]

    def run(self, *arguments: str, **changes: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            self.command(*arguments),
            env=self.environment | changes,
            cwd=self.state_dir,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def spawn(self, *arguments: str, output: Path) -> "subprocess.Popen[bytes]":
        with output.open("wb") as file:
            return subprocess.Popen(
                self.command(*arguments),
                env=self.environment,
                cwd=self.state_dir,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=hear_ctrl_c,
            )

    @staticmethod
    def command(*arguments: str) -> list[str]:
        return [sys.executable, "-m", "engine.cli", *arguments]


def make_site() -> Site:
    """A small corpus and one encoder: what is tried here is starting and stopping, not answers."""
    state_dir = Path(tempfile.mkdtemp(prefix="anamnesis-run-", dir="/var/tmp"))
    state_dir.chmod(0o755)
    for lang in ("ru", "en"):
        (state_dir / "corpus" / lang).mkdir(parents=True)
        shutil.copy(CORPUS / lang / "hba1c.md", state_dir / "corpus" / lang)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("ANAMNESIS_")}
    return Site(
        state_dir,
        kept
        | {
            "ANAMNESIS_STATE_DIR": str(state_dir),
            "ANAMNESIS_CORPUS_DIR": str(state_dir / "corpus"),
            "ANAMNESIS_EMBEDDER": "use",
            "ANAMNESIS_API_PORT": str(free_port()),
            "ANAMNESIS_CONSOLE_PORT": str(free_port()),
            "COLUMNS": "300",
        },
    )


def remove(site: Site) -> None:
    site.run("down")
    EmbeddedPostgres(site.state_dir).stop()
    shutil.rmtree(site.state_dir, ignore_errors=True)
