"""Where a run's figures come from: enough to say what was measured and to measure it again.

No host name, no address, no path and no secret is kept: a run is committed to the repository.
"""

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple, get_args

from pydantic import SecretStr

from engine.evaluation.sets import EvalSet
from engine.retrieval.trained import FOLDER
from engine.settings import Settings

PROJECT = Path(__file__).resolve().parents[2]
UNKNOWN = "unknown"

_PLACES = ("_url", "_host", "_port")
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_GIT_SECONDS = 10


class GitState(NamedTuple):
    """The commit, and whether the files differ from it; what is not known to be clean counts as dirty."""

    revision: str
    dirty: bool


@dataclass(frozen=True)
class Scoring:
    """What made the scores of a run, and where the gate cut them off."""

    scorer: str
    threshold: float
    trained_model: str | None
    """Hash of the trained order and gate; None where none was in force."""


def trained_model_hash(spaces: Sequence[str], folder: Path = FOLDER) -> str | None:
    """SHA-256 over both files of the model that was trained for these spaces; None where there is none."""
    paths = [folder / f"{'+'.join(spaces)}{ending}" for ending in (".yaml", ".npz")]
    if not all(path.is_file() for path in paths):
        return None
    digest = hashlib.sha256()
    for content in (path.read_bytes() for path in paths):
        digest.update(len(content).to_bytes(8, "big"))  # else a byte could move from one file to the other
        digest.update(content)
    return digest.hexdigest()


def git_state(root: Path = PROJECT) -> GitState:
    """The state of the checkout at `root`; `unknown` where there is none, no commit, or no git.

    Recorded runs are no change: the first run of a day must not make the second one dirty.
    """
    top = _git(root, "rev-parse", "--show-toplevel")
    revision = _git(root, "rev-parse", "--verify", "--quiet", "HEAD")
    # A checkout around `root`, such as one that holds a virtual environment, is another project's.
    if not top or not revision or Path(top).resolve() != root.resolve():
        return GitState(UNKNOWN, True)
    changes = _git(root, "status", "--porcelain", "--", ".", ":(exclude)evalruns/history")
    return GitState(revision, changes != "")


def _git(root: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(  # noqa: S603  fixed program and arguments
            ["git", "-C", str(root), *arguments],  # noqa: S607  found on PATH as any user's git is
            capture_output=True,
            text=True,
            timeout=_GIT_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip()


def settings_snapshot(settings: Settings) -> dict[str, Any]:
    """Settings that can change a figure: neither secrets nor places (paths, addresses, ports)."""
    return {
        name: value
        for name, value in settings.model_dump(mode="json").items()
        if not name.endswith(_PLACES) and not _private(Settings.model_fields[name].annotation)
    }


def _private(annotation: Any) -> bool:
    return bool({SecretStr, Path} & {annotation, *get_args(annotation)})


def packages() -> dict[str, str]:
    """Versions of what the engine is built on, development tools left out."""
    try:
        required = metadata.requires("anamnesis") or []
    except metadata.PackageNotFoundError:
        required = []
    versions = {}
    for line in required:
        name = _NAME.match(line)
        if name and 'extra == "dev"' not in line:
            try:
                versions[name[0]] = metadata.version(name[0])
            except metadata.PackageNotFoundError:
                continue  # an extra that is not installed
    return dict(sorted(versions.items()))


def machine() -> dict[str, str | int]:
    """The kind of machine, without its name."""
    return {"system": platform.system(), "architecture": platform.machine(), "cpus": os.cpu_count() or 0}


def provenance(sets: Sequence[EvalSet], models: Mapping[str, str], scoring: Scoring, seed: int) -> dict[str, Any]:
    """What stands beside revision, corpus and settings in a run's record."""
    return {
        "sets": {
            eval_set.name: {"kind": eval_set.kind, "cases": len(eval_set.cases), "hash": eval_set.hash}
            for eval_set in sets
        },
        "models": dict(models),
        **asdict(scoring),
        "packages": packages(),
        "python": platform.python_version(),
        "machine": machine(),
        "seed": seed,
    }
