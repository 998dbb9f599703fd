"""Models of a few thousand weights, made on disk and loaded as the large ones are: XLM-RoBERTa like bge-m3."""

import json
from pathlib import Path
from typing import Any

from engine.models.reranking.startup import FITTING, UNRELATED

SEED = 20_26
HIDDEN = 32
BROKEN_WORD = "сломано"
"""A word whose embedding is NaN in a model made with `broken_word`."""


def make_reranker(
    folder: Path,
    *,
    fitting: float = 6.0,
    unrelated: float = -6.0,
    labels: int = 1,
    broken_word: bool = False,
    scale: float = 1.0,
    shift: float = 0.0,
) -> Path:
    """A cross-encoder whose last layer is solved for so that the start-up's pairs get these logits.

    `scale` and `shift` change all logits afterwards; more than one label leaves the last layer at random.
    """
    import torch
    from transformers import XLMRobertaForSequenceClassification

    torch.manual_seed(SEED)
    model = XLMRobertaForSequenceClassification(_config(num_labels=labels)).eval()
    tokenizer = _tokenizer(folder)
    if labels == 1:
        _solve_head(model, tokenizer, [fitting] * len(FITTING) + [unrelated] * len(UNRELATED))
        with torch.no_grad():
            model.classifier.out_proj.weight *= scale
            model.classifier.out_proj.bias *= scale
            model.classifier.out_proj.bias += shift
    if broken_word:
        with torch.no_grad():
            model.roberta.embeddings.word_embeddings.weight[_broken_id(tokenizer)] = float("nan")
    model.save_pretrained(folder)
    return folder


def make_encoder(folder: Path, *, pooling: str = "cls", modules: bool = True, broken_word: bool = False) -> Path:
    """A sentence encoder with random weights and bge-m3's three modules: transformer, pooling, normalisation."""
    import torch
    from transformers import XLMRobertaModel

    torch.manual_seed(SEED)
    model = XLMRobertaModel(_config()).eval()
    tokenizer = _tokenizer(folder)
    if broken_word:
        with torch.no_grad():
            model.embeddings.word_embeddings.weight[_broken_id(tokenizer)] = float("nan")
    model.save_pretrained(folder)
    if modules:
        _write_modules(folder, pooling)
    return folder


def _config(**more: Any) -> Any:
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=len(_vocabulary()),
        hidden_size=HIDDEN,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=1100,
        pad_token_id=1,
        bos_token_id=0,
        eos_token_id=2,
        initializer_range=0.5,  # at the usual 0.02 all texts of so small a model are alike
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        **more,
    )


def _vocabulary() -> list[tuple[str, float]]:
    letters = "abcdefghijklmnopqrstuvwxyzабвгдеёжзийклмнопрстуфхцчшщъыьэюя0123456789.,;?!-"
    pieces = ["▁", *letters, *("▁" + letter for letter in letters), "▁" + BROKEN_WORD]
    words = sorted({"▁" + word for pair in (*FITTING, *UNRELATED) for text in pair for word in text.lower().split()})
    special = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)]
    return [
        *special,
        *((piece, -8.0 if len(piece) <= 2 else -2.0) for piece in dict.fromkeys(pieces + words)),
        ("<mask>", 0.0),
    ]


def _tokenizer(folder: Path) -> Any:
    from transformers import XLMRobertaTokenizer

    tokenizer = XLMRobertaTokenizer(vocab=_vocabulary(), model_max_length=1024)
    tokenizer.save_pretrained(folder)
    return tokenizer


def _broken_id(tokenizer: Any) -> int:
    return int(tokenizer.convert_tokens_to_ids("▁" + BROKEN_WORD))


def _solve_head(model: Any, tokenizer: Any, logits: list[float]) -> None:
    """Least squares with as many unknowns as the last layer has inputs, so the few equations hold exactly."""
    import torch

    pairs = [*FITTING, *UNRELATED]
    batch = tokenizer([q for q, _ in pairs], [p for _, p in pairs], padding=True, return_tensors="pt")
    with torch.no_grad():
        states = model.roberta(**batch).last_hidden_state[:, 0]
        features = torch.tanh(model.classifier.dense(states))
        model.classifier.out_proj.weight[:] = torch.linalg.lstsq(
            features, torch.tensor(logits)[:, None], driver="gelsd"
        ).solution.T
        model.classifier.out_proj.bias.zero_()


def _write_modules(folder: Path, pooling: str) -> None:
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {
            "idx": index,
            "name": str(index),
            "path": f"{index}_{kind}" if index else "",
            "type": f"sentence_transformers.models.{kind}",
        }
        for index, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 1024, "do_lower_case": False}))
    (folder / "1_Pooling").mkdir()
    (folder / "2_Normalize").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(
        json.dumps(
            {
                "word_embedding_dimension": HIDDEN,
                "pooling_mode_cls_token": pooling == "cls",
                "pooling_mode_mean_tokens": pooling == "mean",
            }
        )
    )
