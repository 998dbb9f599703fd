"""Models that lie on disk: found, told apart by what they hold, and loaded through sentence-transformers, an extra.

No text of a user's comes here, so errors may say all they know.
"""

import hashlib
import importlib
import json
import re
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from engine.models.base import ModelError

EXTRA = "Install the extra: pip install -e '.[models]'"

WANTED = ("*.json", "*.safetensors", "*.bin", "*.model", "*.txt")
"""Files that a model is loaded from; a hub's repository holds the same weights in other formats too."""
UNWANTED = ("onnx/*", "openvino/*", "imgs/*")

_SAMPLE = 1 << 20
"""Bytes read at each end of a file for its fingerprint: weights are gigabytes, and two trainings differ everywhere."""


class LocalModel:
    """A model by its name: a folder, or a repository of the Hugging Face hub, `owner/name` or `owner/name@revision`.

    What was downloaded once is used as it is: a newer version on the hub never changes a running deployment.
    """

    def __init__(self, name: str, models_dir: Path | None = None, device: str | None = None) -> None:
        """`models_dir`: folder with models by their names, and the hub's cache; None: the hub's own cache."""
        self.name = name
        self._models_dir = models_dir
        self._device = device

    @cached_property
    def folder(self) -> Path:
        """Where its files lie; downloads them where the hub may be asked and they are nowhere.

        Raises:
            ModelError: the extra is not installed, or the model is not there and cannot be had.
        """
        placed = self._placed()
        return placed if placed is not None else self._from_hub()

    @cached_property
    def version(self) -> str:
        """Short name and fingerprint, `bge-m3@0123456789ab`; equal wherever equal files lie. Raises ModelError."""
        return f"{short_name(self.name)}@{fingerprint(self.folder)}"

    @property
    def architectures(self) -> tuple[str, ...]:
        """Classes that the weights were saved from, such as `XLMRobertaModel`. Raises ModelError."""
        try:
            named = json.loads((self.folder / "config.json").read_text(encoding="utf-8")).get("architectures")
        except (OSError, ValueError, AttributeError):
            raise ModelError(f"The model {self.name} in {self.folder} has no config.json that can be read.") from None
        return tuple(map(str, named or ()))

    def load(self, kind: Literal["SentenceTransformer", "CrossEncoder"], **options: Any) -> Any:
        """The loaded model. Code that comes with a model is never run.

        Raises:
            ModelError: the extra or the model is missing, or its files cannot be loaded.
        """
        library = extra("sentence_transformers", self.name)
        folder = self.folder
        extra("transformers", self.name).utils.logging.disable_progress_bar()  # commands print for programs
        try:
            return getattr(library, kind)(str(folder), device=self._device, local_files_only=True, **options)
        except Exception as error:  # each layer below has errors of its own
            cure = "Its files may be damaged or incomplete: remove that folder and fetch it again"
            raise ModelError(
                f"The model {self.name} in {folder} cannot be loaded ({type(error).__name__}). {cure}."
            ) from error

    def _placed(self) -> Path | None:
        path = Path(self.name).expanduser()
        named_as_path = path.is_absolute() or self.name.startswith(".")
        places = [path] if named_as_path else []
        if self._models_dir is not None and not named_as_path:
            places = [self._models_dir / self.name, self._models_dir / short_name(self.name)]
        for place in places:
            if (place / "config.json").is_file():
                return place
        if named_as_path:
            raise ModelError(f"The model {self.name}: no folder with a config.json.")
        return None

    def _from_hub(self) -> Path:
        hub = extra("huggingface_hub", self.name)
        repository, _, revision = self.name.partition("@")
        asked = {
            "revision": revision or None,
            "cache_dir": self._models_dir,
            "allow_patterns": list(WANTED),
            "ignore_patterns": list(UNWANTED),
        }
        try:
            # First without the network: else every start asks the hub, and takes what is new there.
            return Path(hub.snapshot_download(repository, local_files_only=True, **asked))
        except hub.errors.LocalEntryNotFoundError:
            if hub.constants.is_offline_mode():
                raise self._missing("HF_HUB_OFFLINE forbids to download it") from None
        except ValueError:  # also the library's own error for a name that cannot be one
            raise ModelError(f"The model {self.name}: neither a folder nor a name of the hub's.") from None
        try:
            return Path(hub.snapshot_download(repository, **asked))
        except Exception as error:  # of the network, the hub, or the disk
            raise self._missing(f"it cannot be downloaded ({type(error).__name__})") from error

    def _missing(self, why: str) -> ModelError:
        where = "the hub's cache" if self._models_dir is None else str(self._models_dir)
        repository = self.name.partition("@")[0]
        return ModelError(
            f"The model {self.name} is not in {where}, and {why}. Fetch it where there is a network "
            f"(`hf download {repository} --local-dir DIR/{short_name(self.name)}`) and set ANAMNESIS_MODELS_DIR=DIR."
        )


def extra(library: str, model: str) -> Any:
    """A library of the extra, imported when a model needs it. Raises ModelError where it is missing or broken."""
    try:
        return importlib.import_module(library)
    except ModuleNotFoundError as error:
        raise ModelError(f"The model {model} needs {error.name or library}, which is missing. {EXTRA}.") from None
    except Exception as error:  # a wheel for another machine, a library that does not fit its neighbours
        raise ModelError(
            f"The model {model} needs {library}, which cannot be imported ({type(error).__name__}). {EXTRA}."
        ) from error


def short_name(name: str) -> str:
    """The last part of a model's name, without its revision."""
    return re.split(r"[/\\]", name.rstrip("/\\"))[-1].partition("@")[0]


def space_name(name: str) -> str:
    """A model's name as one of a vector space: lower-case letters, digits and `_`, at most 31 characters."""
    plain = re.sub(r"[^a-z0-9]+", "_", short_name(name).lower()).strip("_")
    return (plain if plain[:1].isalpha() else f"model_{plain}")[:31].rstrip("_")


def fingerprint(folder: Path) -> str:
    """Twelve hexadecimal digits of what a model is loaded from: names, sizes, and both ends of each file."""
    found = {
        path.relative_to(folder).as_posix(): path
        for pattern in WANTED
        for path in folder.rglob(pattern)
        if not any(path.relative_to(folder).match(unwanted) for unwanted in UNWANTED)
    }
    digest = hashlib.sha256()
    for name, path in sorted(found.items()):
        size = path.stat().st_size
        digest.update(f"{name}\0{size}\0".encode())
        with path.open("rb") as file:
            digest.update(file.read(_SAMPLE))
            if size > _SAMPLE:
                file.seek(max(_SAMPLE, size - _SAMPLE))
                digest.update(file.read(_SAMPLE))
    return digest.hexdigest()[:12]
