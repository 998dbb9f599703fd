"""Answers composed of retrieved sentences with their citations: invents nothing, needs no language model."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from engine.chat.answer.base import Draft
from engine.chat.prompt import Prompt
from engine.chat.sources import Source
from engine.models.base import Embedder
from engine.text.lexemes import query_terms
from engine.text.sentences import split_sentences
from engine.wire.fields import Lang

MAX_SENTENCES = 5
NEAR_BEST = 0.12
"""A further source is quoted only where its relevance is this close to the best one's."""
WORD_WEIGHT = 0.3
"""Weight of the share of the question's words beside the cosine, when sentences are chosen."""
REDACTED = "[REDACTED"


@dataclass(frozen=True)
class _Sentence:
    source: int
    position: int
    text: str


class ExtractiveAnswerer:
    """Chooses the sentences closest to the question, keeps their order in the source and cites each."""

    name = "extractive"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def answer(self, question: str, lang: Lang, sources: Sequence[Source], prompt: Prompt) -> Draft:
        near = [source for source in sources if source.score >= sources[0].score - NEAR_BEST]
        sentences = _sentences(near)
        if not sentences:
            return Draft("", self.name)
        scores = await asyncio.to_thread(self._scores, question, sentences)
        return Draft(compose(sentences, scores), self.name)

    def _scores(self, question: str, sentences: Sequence[_Sentence]) -> list[float]:
        vectors = self._embedder.passages([sentence.text for sentence in sentences])
        cosines = vectors @ self._embedder.queries([question])[0]
        asked = {term.stem for term in query_terms(question)}
        shares = [
            len(asked & {term.stem for term in query_terms(sentence.text)}) / max(1, len(asked))
            for sentence in sentences
        ]
        return [float(score) for score in cosines + WORD_WEIGHT * np.asarray(shares)]


def _sentences(sources: Sequence[Source]) -> list[_Sentence]:
    """Whole sentences in the order of the sources; an overlap of two chunks gives each sentence once."""
    found: dict[tuple[int, str], _Sentence] = {}
    for source in sources:
        for passage in source.passages:
            for start, end in split_sentences(passage):
                text = passage[start:end]
                if REDACTED not in text:
                    found.setdefault((source.n, text), _Sentence(source.n, len(found), text))
    return list(found.values())


def compose(sentences: Sequence[_Sentence], scores: Sequence[float]) -> str:
    """The best sentences, those of one source together, each with its citation; the best one's source comes first."""
    order = sorted(range(len(sentences)), key=lambda index: (-scores[index], index))[:MAX_SENTENCES]
    first = sentences[order[0]].source
    chosen = sorted(
        (sentences[index] for index in order), key=lambda item: (item.source != first, item.source, item.position)
    )
    return " ".join(f"{sentence.text} [{sentence.source}]" for sentence in chosen)
