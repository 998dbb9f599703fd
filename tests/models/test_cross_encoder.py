"""The reranker through the real loader, on tiny models that are made on disk."""

import logging
import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from engine.models.base import ModelError
from engine.models.reranking.cross_encoder import BATCH, CrossEncoderReranker
from engine.models.reranking.startup import FITTING, UNRELATED
from tests.models.tiny import BROKEN_WORD, make_encoder, make_reranker

pytest.importorskip("sentence_transformers", reason="needs the extra models")

QUESTION = "Что показывает ферритин?"
PASSAGES = [
    f"{word} {'и ещё слово, ' * (index * 7 % 23)}{index}"
    for index, word in enumerate(["железо", "blood", "сон", "HbA1c", "сердце и сосуды", "a"] * 8)
]

Make = Callable[..., CrossEncoderReranker]


@pytest.fixture(scope="module")
def make(tmp_path_factory: pytest.TempPathFactory) -> Make:
    """A reranker on tiny weights, made as it is asked for."""

    def made(dtype: Any = "float32", **weights: Any) -> CrossEncoderReranker:
        folder = make_reranker(tmp_path_factory.mktemp("models"), **weights)
        return CrossEncoderReranker(str(folder), device="cpu", dtype=dtype)

    return made


@pytest.fixture(scope="module")
def exact(make: Make) -> CrossEncoderReranker:
    return make()


def test_logits_come_as_the_model_gives_them(exact: CrossEncoderReranker) -> None:
    """What transformers gives without this library: no sigmoid, and both texts read as one pair."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    folder = exact._model.folder
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder)
    wanted = []
    for passage in PASSAGES:
        with torch.no_grad():
            wanted.append(model(**tokenizer(QUESTION, passage, return_tensors="pt")).logits.item())
    assert exact.scores(QUESTION, PASSAGES) == pytest.approx(wanted, abs=1e-4)


def test_many_at_once_score_as_one_by_one_in_the_order_given(exact: CrossEncoderReranker) -> None:
    assert len(PASSAGES) > 2 * BATCH
    assert len({len(passage) for passage in PASSAGES}) > 10
    together = exact.scores(QUESTION, PASSAGES)
    alone = [exact.scores(QUESTION, [passage])[0] for passage in PASSAGES]
    assert together == pytest.approx(alone, abs=1e-4)
    assert len({round(logit, 3) for logit in together}) == len(PASSAGES)


def test_half_precision_is_the_default_and_near_enough(make: Make) -> None:
    exact = make()
    half = CrossEncoderReranker(str(exact._model.folder), device="cpu")
    logits = half.scores(QUESTION, PASSAGES)
    errors = [abs(a - b) for a, b in zip(logits, exact.scores(QUESTION, PASSAGES), strict=True)]
    assert sum(errors) / len(errors) < 0.25
    assert max(errors) < 1.5
    assert half.scores(QUESTION, PASSAGES) == logits
    assert {str(parameter.dtype) for parameter in half._encoder.parameters()} == {"torch.bfloat16"}


def test_saturated_sigmoids_keep_their_order(make: Make) -> None:
    """At logits of 20 and more every sigmoid in half precision is 1.0; only logits tell the passages apart."""
    import torch

    half = make("bfloat16", shift=40.0)
    logits = half.scores(QUESTION, PASSAGES)
    sigmoids = torch.sigmoid(torch.tensor(logits, dtype=torch.bfloat16))
    assert set(sigmoids.tolist()) == {1.0}
    assert len(set(logits)) == len(PASSAGES)
    exact = make("float32", shift=40.0).scores(QUESTION, PASSAGES)
    worst_first = sorted(range(len(PASSAGES)), key=exact.__getitem__)
    assert exact[worst_first[-1]] - exact[worst_first[0]] > 5
    for low, high in zip(worst_first[:8], worst_first[-8:], strict=True):
        assert logits[low] < logits[high]


def test_the_last_layer_gives_more_than_eight_bits(make: Make) -> None:
    import torch

    logits = make("bfloat16", shift=40.0).scores(QUESTION, PASSAGES)
    rounded = torch.tensor(logits, dtype=torch.bfloat16).tolist()
    assert len(set(rounded)) < len(set(logits))


def test_a_pair_that_the_model_fails_on_is_not_finite_and_harms_no_other(make: Make) -> None:
    broken = make(broken_word=True)
    whole = broken.scores(QUESTION, PASSAGES[:5])
    mixed = broken.scores(QUESTION, [*PASSAGES[:3], f"слово {BROKEN_WORD}", *PASSAGES[3:5]])
    assert not math.isfinite(mixed.pop(3))
    assert mixed == pytest.approx(whole, abs=1e-4)


@pytest.mark.parametrize(
    ("weights", "told"),
    [
        ({"fitting": 0.9, "unrelated": 0.1}, "between 0 and 1"),
        ({"fitting": 1.1, "unrelated": 0.0}, r"only 1\.10 above"),
        ({"fitting": -6.0, "unrelated": 6.0}, r"only -12\.00 above"),
        ({"scale": 0.0, "shift": 3.0}, r"only 0\.00 above"),
        ({"shift": math.nan}, "not finite"),
        ({"labels": 2}, "scores a pair"),
    ],
    ids=["probabilities", "narrow", "reversed", "constant", "nan", "two labels"],
)
def test_a_wrong_scale_or_head_is_noticed_when_it_starts(make: Make, weights: dict[str, Any], told: str) -> None:
    reranker = make(**weights)
    with pytest.raises(ModelError, match=told) as caught:
        reranker.warm_up()
    assert "\n" not in str(caught.value)
    with pytest.raises(ModelError, match=told):
        reranker.scores(QUESTION, ["железо"])


def test_an_encoder_that_is_no_reranker_is_noticed(tmp_path: Path) -> None:
    """The library would put a last layer at random on it; now and then one would pass the pairs of the start."""
    for modules in (True, False):
        encoder = make_encoder(tmp_path / f"encoder-{modules}", modules=modules)
        with pytest.raises(ModelError, match=r"no reranker: its weights are those of XLMRobertaModel\."):
            CrossEncoderReranker(str(encoder), device="cpu").warm_up()


def test_it_is_loaded_once_and_broken_ones_once_too(
    make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from engine.models.local import LocalModel

    loaded: list[str] = []
    load = LocalModel.load

    def counted(self: LocalModel, kind: Any, **options: Any) -> Any:
        loaded.append(self.name)
        return load(self, kind, **options)

    monkeypatch.setattr(LocalModel, "load", counted)
    sound, broken = make(), make(fitting=0.0, unrelated=0.0)
    with caplog.at_level(logging.INFO, "engine.models"):
        sound.warm_up()
    assert not caplog.records  # the last layer was taken
    sound.scores(QUESTION, ["железо"])
    for _ in range(2):
        with pytest.raises(ModelError):
            broken.warm_up()
    assert len(loaded) == 2


def test_the_pairs_of_the_start_score_as_they_were_made(exact: CrossEncoderReranker) -> None:
    for (question, passage), wanted in [*((pair, 6.0) for pair in FITTING), *((pair, -6.0) for pair in UNRELATED)]:
        assert exact.scores(question, [passage]) == [pytest.approx(wanted, abs=1e-3)]


def test_empty_texts_are_refused_and_nothing_gives_nothing(exact: CrossEncoderReranker) -> None:
    assert exact.scores(QUESTION, []) == []
    for question, passages in (("", ["a"]), (QUESTION, ["a", " "]), ("\0", ["a"])):
        with pytest.raises(ValueError, match="empty text"):
            exact.scores(question, passages)


def test_a_pair_without_end_is_cut(exact: CrossEncoderReranker) -> None:
    endless = "сон и еда " * 5_000
    assert exact.scores(QUESTION, [endless]) == pytest.approx(exact.scores(QUESTION, [endless + "кровь"]), abs=1e-4)


def test_a_failure_while_scoring_is_told_without_the_text(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    reranker = make()
    reranker.warm_up()

    def out_of_memory(pairs: Any, **options: Any) -> Any:
        raise RuntimeError(f"out of memory at {pairs}")

    monkeypatch.setattr(reranker._encoder, "predict", out_of_memory)
    with pytest.raises(ModelError, match="failed") as caught:
        reranker.scores("секрет", ["железо"])
    assert "секрет" not in str(caught.value)
    assert caught.value.__suppress_context__


def test_many_threads_get_their_own_scores(make: Make) -> None:
    """The first uses come at the same time too."""
    reranker = make()
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda index: reranker.scores(QUESTION, PASSAGES[index : index + 3]), range(24)))
    for index, logits in enumerate(scores):
        assert logits == pytest.approx(reranker.scores(QUESTION, PASSAGES[index : index + 3]), abs=1e-4)
