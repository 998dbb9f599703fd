"""A change of models in a process that is killed: python -m tests.knowledge.dying CORPUS MOMENT, the URL on stdin.

MOMENT is a number of documents, after which the encoder kills the process, or `switch`: before the last commit.
"""

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from engine.knowledge import reembedding
from engine.knowledge.corpus import load_corpus
from engine.models.base import Vectors
from tests.knowledge.support import CountingEmbedder


def die() -> None:
    """As from `kill -9`: nothing is cleaned up."""
    os.kill(os.getpid(), signal.SIGKILL)


class Dying(CountingEmbedder):
    """Two calls a document: of its chunks and of its sentences."""

    def __init__(self, documents: int) -> None:
        super().__init__("count/2", dimension=5)
        self._last = 2 * documents + 1

    def passages(self, texts: Sequence[str]) -> Vectors:
        if self.calls == self._last:
            die()
        return super().passages(texts)


def main(corpus: str, moment: str) -> None:
    """Never returns."""
    admin_url = sys.stdin.read().strip()
    switch = reembedding.staging.switch
    if moment == "switch":

        def switch_and_die(*arguments: object) -> None:
            switch(*arguments)  # type: ignore[arg-type]
            die()

        reembedding.staging.switch = switch_and_die  # type: ignore[assignment]
    embedder = Dying(10**6 if moment == "switch" else int(moment))
    reembedding.reembed(admin_url, lambda: load_corpus(Path(corpus)), [embedder])


if __name__ == "__main__":
    main(*sys.argv[1:])
