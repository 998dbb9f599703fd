"""A cross-encoder through sentence-transformers; BAAI/bge-reranker-v2-m3 in production."""

import logging
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from engine.models.base import ModelError
from engine.models.embedding.checks import ready
from engine.models.local import LocalModel, extra
from engine.models.reranking.startup import FITTING, UNRELATED, startup_fault

log = logging.getLogger(__name__)

MAX_TOKENS = 512
"""Longest pair in tokens; the longer of the two texts is cut. A chunk and a usual question have half of it."""
BATCH = 16
"""Pairs computed together; the library puts those of like length side by side, so that little is padding."""
SCORING = "ForSequenceClassification"
"""How the architectures end that have a last layer for scores."""


class CrossEncoderReranker:
    """Loaded and tried on fixed pairs at the first use; calls wait for each other.

    In half precision (bfloat16) a logit is a little off, and moves a little with the passages that are scored beside
    it; the same call gives the same logits. The last layer is computed in full, so that few of them are equal.
    """

    def __init__(
        self,
        name: str,
        *,
        models_dir: Path | None = None,
        device: str | None = None,
        dtype: Literal["bfloat16", "float16", "float32"] = "bfloat16",
    ) -> None:
        """`name`: a folder or a name of the hub's; `device`: as torch names it, None: the best there is."""
        self._model = LocalModel(name, models_dir, device)
        self._dtype = dtype
        self._lock = threading.Lock()
        self._encoder: Any = None
        self._fault: ModelError | None = None

    @property
    def model(self) -> str:
        """Name and fingerprint of the files; finds them, and loads nothing. Raises ModelError."""
        return self._model.version

    def warm_up(self) -> None:
        """Load the model and try it on the fixed pairs. Raises ModelError."""
        with self._lock:
            self._load()

    def scores(self, question: str, passages: Sequence[str]) -> list[float]:
        """Logits of each passage's answering the question; one that is not finite says that the model failed on it.

        Raises:
            ValueError: the question or a passage is empty.
            ModelError: the model cannot be loaded, is not what it should be, or failed on all of them.
        """
        asked, *given = ready([question, *passages])
        with self._lock:
            self._load()
            return self._logits([(asked, passage) for passage in given])

    def _load(self) -> None:
        if self._fault is not None:
            raise self._fault  # a broken model is not read from disk again for every question
        if self._encoder is not None:
            return
        architectures = self._model.architectures
        if not any(name.endswith(SCORING) for name in architectures):
            # The library would put a last layer at random on any encoder, and only warn.
            raise ModelError(
                f"The model {self._model.name} is no reranker: its weights are those of "
                f"{', '.join(architectures) or 'no known architecture'}."
            )
        self._encoder = self._model.load("CrossEncoder", max_length=MAX_TOKENS, model_kwargs={"dtype": self._dtype})
        try:
            self._last_layer_in_full(self._encoder)
            logits = self._logits([*FITTING, *UNRELATED])
            fault = startup_fault(logits[: len(FITTING)], logits[len(FITTING) :])
            if fault is not None:
                raise ModelError(f"The model {self._model.name} is no reranker that can be used: {fault}.")
        except ModelError as error:
            self._encoder, self._fault = None, error
            raise

    def _logits(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        if not pairs:
            return []
        torch = extra("torch", self._model.name)
        try:
            # Without the sigmoid that the library puts on: in half precision it is 1.0 for all good passages alike.
            raw = self._encoder.predict(
                list(pairs), batch_size=BATCH, activation_fn=torch.nn.Identity(), show_progress_bar=False
            )
        except RuntimeError as error:  # out of memory, a device that is gone; its text may quote an input
            raise ModelError(f"The model {self._model.name} failed ({type(error).__name__}).") from None
        logits = np.asarray(raw, dtype=np.float64)
        if logits.shape != (len(pairs),):
            raise ModelError(f"The model {self._model.name} is no reranker: it gives {logits.shape[1:]} scores a pair.")
        return [float(logit) for logit in logits]

    def _last_layer_in_full(self, encoder: Any) -> None:
        torch = extra("torch", self._model.name)
        linear = {name: module for name, module in encoder.named_modules() if type(module) is torch.nn.Linear}
        try:
            # The one that gives a single number; its name and place differ among architectures.
            encoder.set_keep_in_fp32_modules([name for name, module in linear.items() if module.out_features == 1])
        except (AttributeError, ValueError) as error:  # an experiment of the library's: finer, and not needed
            log.info("The last layer stays in %s (%s).", self._dtype, type(error).__name__)
