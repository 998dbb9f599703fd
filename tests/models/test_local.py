"""Models on disk: found by name, told apart by content, and missed in one line that says what to do."""

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.models.base import ModelError
from engine.models.embedding.sentence_transformer import SentenceTransformerEmbedder
from engine.models.local import LocalModel, fingerprint, short_name, space_name
from engine.models.reranking.cross_encoder import CrossEncoderReranker

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def made(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in ({"config.json": "{}", "model.safetensors": "weights"} | files).items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def cached(cache: Path, repository: str) -> Path:
    """A repository in the layout of the hub's cache, as a download leaves it."""
    place = cache / f"models--{repository.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(COMMIT)
    return made(place / "snapshots" / COMMIT)


@pytest.mark.parametrize(
    ("name", "short", "space"),
    [
        ("BAAI/bge-m3", "bge-m3", "bge_m3"),
        ("BAAI/bge-m3@5617a9f", "bge-m3", "bge_m3"),
        ("/srv/models/bge-m3/", "bge-m3", "bge_m3"),
        (r"C:\models\E5 Large", "E5 Large", "e5_large"),
        ("org/384-mini", "384-mini", "model_384_mini"),
        ("org/модель", "модель", "model_"[:-1]),
        ("x/" + "long-" * 20, "long-" * 20, ("long_" * 7)[:31].rstrip("_")),
    ],
)
def test_a_space_is_named_after_the_model_wherever_it_lies(name: str, short: str, space: str) -> None:
    assert short_name(name) == short
    assert space_name(name) == space


def test_a_fingerprint_tells_weights_apart_and_nothing_else(tmp_path: Path) -> None:
    one, other = made(tmp_path / "a" / "m"), made(tmp_path / "b" / "renamed")
    assert fingerprint(one) == fingerprint(other)
    made(other, **{"README.md": "words", "onnx/model.json": "another format"})
    assert fingerprint(one) == fingerprint(other)
    for change in ({"model.safetensors": "Weights"}, {"1_Pooling/config.json": "{}"}):
        assert fingerprint(made(other, **change)) != fingerprint(one)


def test_a_fingerprint_sees_the_end_of_a_large_file(tmp_path: Path) -> None:
    folder = made(tmp_path)
    seen = set()
    for tail in ("a", "b", "bb"):
        (folder / "model.safetensors").write_bytes(b"0" * (3 << 20) + tail.encode())
        seen.add(fingerprint(folder))
    assert len(seen) == 3


@pytest.mark.parametrize("place", ["BAAI/bge-m3", "bge-m3"])
def test_a_model_is_found_in_the_models_folder_under_its_long_or_short_name(tmp_path: Path, place: str) -> None:
    folder = made(tmp_path / place)
    model = LocalModel("BAAI/bge-m3", tmp_path)
    assert model.folder == folder
    assert model.version == f"bge-m3@{fingerprint(folder)}"


def test_a_folder_that_is_named_is_taken_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    folder = made(tmp_path / "own")
    assert LocalModel(str(folder)).folder == folder
    with pytest.raises(ModelError, match=r"no folder with a config\.json"):
        _ = LocalModel(str(tmp_path / "none")).folder


@pytest.mark.parametrize(
    "use",
    [
        lambda folder: SentenceTransformerEmbedder(str(folder)).queries(["вопрос"]),
        lambda folder: CrossEncoderReranker(str(folder)).scores("вопрос", ["ответ"]),
        lambda folder: CrossEncoderReranker("BAAI/bge-reranker-v2-m3").model,
    ],
)
def test_without_the_extra_one_line_names_the_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, use: Callable[[Path], Any]
) -> None:
    for library in ("sentence_transformers", "huggingface_hub"):
        monkeypatch.setitem(sys.modules, library, None)
    files = {"modules.json": "[]", "config.json": '{"architectures": ["BertForSequenceClassification"]}'}
    with pytest.raises(ModelError) as caught:
        use(made(tmp_path / "m", **files))
    line = str(caught.value)
    assert "Install the extra: pip install -e '.[models]'" in line
    assert "\n" not in line
    assert "вопрос" not in line


@pytest.mark.parametrize("config", ["", "[]", "{", '{"architectures": null}', "{}"])
def test_a_config_that_names_no_architecture_is_no_rerankers(tmp_path: Path, config: str) -> None:
    folder = made(tmp_path, **{"config.json": config})
    with pytest.raises(ModelError, match=r"no config\.json that can be read|no known architecture"):
        CrossEncoderReranker(str(folder)).warm_up()


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The hub's library with the network shut as by HF_HUB_OFFLINE=1."""
    library = pytest.importorskip("huggingface_hub", reason="needs the extra models")
    monkeypatch.setattr(library.constants, "HF_HUB_OFFLINE", True)
    return library


def test_offline_a_missing_model_is_told_at_once(hub: Any, tmp_path: Path) -> None:
    started = time.monotonic()
    for model in (
        SentenceTransformerEmbedder("BAAI/bge-m3", models_dir=tmp_path),
        CrossEncoderReranker("BAAI/bge-reranker-v2-m3", models_dir=tmp_path),
    ):
        with pytest.raises(ModelError, match=r"HF_HUB_OFFLINE .*`hf download BAAI/bge") as caught:
            _ = model.model
        assert "\n" not in str(caught.value)
    assert time.monotonic() - started < 5


def test_a_model_in_the_hubs_cache_is_used_and_the_hub_is_not_asked(
    hub: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    folder = cached(tmp_path, "own/tiny")
    asked = spied(hub, monkeypatch)
    for name in ("own/tiny", "own/tiny@main", f"own/tiny@{COMMIT}"):
        assert LocalModel(name, tmp_path).folder == folder
    assert [call["local_files_only"] for call in asked] == [True] * 3


def test_a_model_that_is_nowhere_is_downloaded_where_the_hub_may_be_asked(
    hub: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    asked = spied(hub, monkeypatch, network=lambda: str(made(tmp_path / "fetched")))
    assert LocalModel("own/tiny@v2", tmp_path).folder == tmp_path / "fetched"
    assert [call.get("local_files_only", False) for call in asked] == [True, False]
    assert {call["revision"] for call in asked} == {"v2"}


def test_a_hub_that_cannot_be_reached_is_told(hub: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)

    def down() -> str:
        raise ConnectionError("no route")

    spied(hub, monkeypatch, network=down)
    with pytest.raises(ModelError, match=r"cannot be downloaded \(ConnectionError\)"):
        _ = LocalModel("own/tiny", tmp_path).folder


def test_a_name_that_can_be_none_is_told(hub: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="neither a folder nor a name of the hub's"):
        _ = LocalModel("a/b/c d", tmp_path).folder


def spied(hub: Any, monkeypatch: pytest.MonkeyPatch, network: Callable[[], str] | None = None) -> list[dict[str, Any]]:
    """Calls of the library that downloads; one that would use the network goes to `network` instead."""
    real, asked = hub.snapshot_download, []

    def watched(repository: str, **options: Any) -> str:
        asked.append(options)
        if options.get("local_files_only"):
            return str(real(repository, **options))
        assert network is not None, "the network was asked"
        return network()

    monkeypatch.setattr(hub, "snapshot_download", watched)
    return asked
