"""The sentence encoder through the real loader, on a tiny model that is made on disk."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from engine.models.base import ModelError
from engine.models.embedding import shipped
from engine.models.embedding.sentence_transformer import MAX_TOKENS, SentenceTransformerEmbedder
from tests.models.tiny import BROKEN_WORD, HIDDEN, make_encoder

pytest.importorskip("sentence_transformers", reason="needs the extra models")

TEXTS = ["Что показывает ферритин?", "the blood", "сон", "a long walk, and then another one. " * 30, "B12"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_encoder(tmp_path_factory.mktemp("models") / "tiny-m3")


@pytest.fixture(scope="module")
def embedder(folder: Path) -> SentenceTransformerEmbedder:
    return SentenceTransformerEmbedder(str(folder), device="cpu")


def test_vectors_are_unit_rows_in_the_order_of_the_texts(embedder: SentenceTransformerEmbedder) -> None:
    vectors = embedder.passages(TEXTS)
    assert (vectors.shape, vectors.dtype) == ((len(TEXTS), HIDDEN), np.float32)
    assert embedder.dimension == HIDDEN
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for text, vector in zip(TEXTS, vectors, strict=True):
        assert np.allclose(embedder.passages([text])[0], vector, atol=1e-5)
    assert len({tuple(row.round(3)) for row in vectors}) == len(TEXTS)


def test_the_first_token_is_what_counts_as_in_bge_m3(folder: Path, embedder: SentenceTransformerEmbedder) -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    with torch.no_grad():
        given = AutoTokenizer.from_pretrained(folder)(TEXTS[0], return_tensors="pt")
        first = AutoModel.from_pretrained(folder)(**given).last_hidden_state[0, 0].numpy()
    assert np.allclose(embedder.queries(TEXTS[:1])[0], first / np.linalg.norm(first), atol=1e-5)


def test_space_and_model_are_told_without_loading_and_wherever_the_files_lie(folder: Path, tmp_path: Path) -> None:
    there = SentenceTransformerEmbedder(str(folder))
    copied = shutil.copytree(folder, tmp_path / "own" / "tiny-m3")
    here = SentenceTransformerEmbedder("own/tiny-m3", models_dir=tmp_path)
    assert (here.space, here.model) == (there.space, there.model)
    assert here.space == "tiny_m3"
    assert here.model.startswith("tiny-m3@")
    assert "_encoder" not in vars(here)
    (copied / "1_Pooling" / "config.json").write_text(json.dumps({"word_embedding_dimension": HIDDEN}))
    assert SentenceTransformerEmbedder("own/tiny-m3", models_dir=tmp_path).model != there.model


def test_questions_and_passages_differ_where_the_model_says_so(
    folder: Path, embedder: SentenceTransformerEmbedder, tmp_path: Path
) -> None:
    assert np.array_equal(embedder.queries(TEXTS), embedder.passages(TEXTS))
    prompted = shutil.copytree(folder, tmp_path / "prompted")
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (prompted / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    other = SentenceTransformerEmbedder(str(prompted), device="cpu")
    plain = embedder.passages(["query: сон", "passage: сон"])
    assert np.allclose(np.vstack([other.queries(["сон"]), other.passages(["сон"])]), plain, atol=1e-5)


def test_empty_texts_are_refused_and_nothing_gives_nothing(embedder: SentenceTransformerEmbedder) -> None:
    for text in ("", "  ", "\0"):
        with pytest.raises(ValueError, match="empty text"):
            embedder.queries(["сон", text])
    assert embedder.passages([]).shape == (0, HIDDEN)
    assert np.allclose(embedder.queries(["с\0он"]), embedder.queries(["сон"]), atol=1e-6)


def test_a_text_without_end_is_cut(embedder: SentenceTransformerEmbedder) -> None:
    endless = "сон и еда " * 3 * MAX_TOKENS
    assert np.allclose(embedder.passages([endless]), embedder.passages([endless + "кровь"]), atol=1e-6)


def test_a_model_without_pooling_is_no_encoder(tmp_path: Path) -> None:
    bare = make_encoder(tmp_path / "bare", modules=False)
    with pytest.raises(ModelError, match=r"no modules\.json"):
        SentenceTransformerEmbedder(str(bare)).queries(["сон"])


def test_damaged_files_are_told_in_one_line(folder: Path, tmp_path: Path) -> None:
    damaged = shutil.copytree(folder, tmp_path / "damaged")
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError, match=r"cannot be loaded \(\w+\)\.") as caught:
        SentenceTransformerEmbedder(str(damaged)).queries(["сон"])
    assert "\n" not in str(caught.value)


def test_a_vector_without_a_direction_is_never_handed_on(tmp_path: Path) -> None:
    broken = SentenceTransformerEmbedder(str(make_encoder(tmp_path / "broken", broken_word=True)), device="cpu")
    assert np.isfinite(broken.passages(["сон"])).all()
    with pytest.raises(ModelError, match="without a direction") as caught:
        broken.passages(["сон", BROKEN_WORD])
    assert BROKEN_WORD not in str(caught.value)


def test_many_threads_get_their_own_vectors(embedder: SentenceTransformerEmbedder) -> None:
    alone = [embedder.queries([text]) for text in TEXTS]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda index: embedder.queries([TEXTS[index % len(TEXTS)]]), range(40)))
    for index, vectors in enumerate(together):
        assert np.allclose(vectors, alone[index % len(TEXTS)], atol=1e-6)


def test_shipped_vectors_spare_the_loading_of_the_model(folder: Path, tmp_path: Path) -> None:
    texts = ["сон", "еда"]
    shipped.write(tmp_path / "tiny_m3.npz", SentenceTransformerEmbedder(str(folder), device="cpu"), texts)
    late = SentenceTransformerEmbedder(str(folder), device="cpu")
    known = shipped.with_shipped(late, tmp_path)
    vectors = known.passages(texts)
    assert "_encoder" not in vars(late)
    assert np.allclose(vectors, late.passages(texts), atol=1e-3)
    assert known.dimension == HIDDEN
