"""Settings name the models; the default install knows nothing of the large ones."""

import subprocess
import sys
from pathlib import Path

import pytest

from engine.models.embedding.sentence_transformer import SentenceTransformerEmbedder
from engine.models.registry import embedders, reranker
from engine.models.reranking.cross_encoder import CrossEncoderReranker
from engine.settings import Settings, SettingsError, load_settings


def test_the_production_models_are_settings(tmp_path: Path) -> None:
    settings = Settings(
        embedder="sentence_transformers",
        reranker_model="BAAI/bge-reranker-v2-m3",
        models_dir=tmp_path,
        models_device="cuda:1",
    )
    (embedder,) = embedders(settings)
    assert isinstance(embedder, SentenceTransformerEmbedder)
    assert embedder.space == "bge_m3"
    assert isinstance(reranker(settings), CrossEncoderReranker)


def test_by_default_there_is_no_reranker() -> None:
    assert reranker(Settings()) is None
    assert Settings().reranker_top == 12


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("EMBEDDER", "bge-m3"),
        ("RERANKER_TOP", "0"),
        ("RERANKER_TOP", "101"),
        ("MODELS_DEVICE", "gpu"),
        ("MODELS_DEVICE", "cuda:"),
    ],
)
def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, variable: str, value: str) -> None:
    monkeypatch.setenv(f"ANAMNESIS_{variable}", value)
    with pytest.raises(SettingsError, match=f"^ANAMNESIS_{variable}: "):
        load_settings()


def test_the_models_folder_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANAMNESIS_MODELS_DIR", "models")
    assert load_settings().models_dir == tmp_path / "models"


def test_nothing_of_the_extra_is_imported_before_it_is_used() -> None:
    program = (
        "import sys; from engine.models.registry import embedders, reranker; from engine.settings import Settings; "
        "embedders(Settings(embedder='sentence_transformers')); reranker(Settings(reranker_model='a/b')); "
        "print({'torch', 'transformers', 'sentence_transformers', 'huggingface_hub'} & set(sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "set()"
