"""Answers composed of retrieved sentences with their citations: invents nothing, needs no language model."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from engine.chat.answer.base import Draft
from engine.chat.prompt import Prompt
from engine.chat.sources import Source
from engine.models.base import Embedder
from engine.text.lexemes import content_words, stem
from engine.text.sentences import split_sentences
from engine.wire.fields import Lang

MAX_SENTENCES = 4
"""Sentences of the best source."""
MAX_ADDED = 2
"""Sentences of a further source."""
NEAR_BEST = 0.12
"""A further source is quoted only where its relevance is this close to the best one's."""
WORD_WEIGHT = 0.3
"""Weight of the share of the question's words beside the cosine, when sentences are chosen."""
OPENING = 0.1
"""Added for the first sentence of a passage: it names what the passage is about."""
FIGURE = 0.1
"""Added for a sentence with a number where the question asks for a norm or brings a value."""
ASKS_FOR_FIGURES = frozenset(
    stem(word)
    for word in (
        *("норма", "нормальный", "граница", "предел", "диапазон", "часов", "уровень", "высокий", "низкий", "долго"),
        *("normal", "range", "limit", "level", "hours", "high", "low", "long", "often", "часто"),
    )
)
_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"[\d.]+")
REDACTED = "[REDACTED"


@dataclass(frozen=True)
class Sentence:
    """A sentence that may be quoted: the number of its source, its place there and the relevance of its passage."""

    source: int
    position: int
    text: str
    weight: float


class ExtractiveAnswerer:
    """Quotes the best source, and another one for a word of the question that the best one does not hold."""

    name = "extractive"

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    async def answer(self, question: str, lang: Lang, sources: Sequence[Source], prompt: Prompt) -> Draft:
        asked = _stems(question)
        quoted = [_sentences(source) for source in choose_sources(sources, asked)]
        every = [sentence for of_source in quoted for sentence in of_source]
        if not every:
            return Draft("", self.name)
        scores = dict(zip(every, await asyncio.to_thread(self._scores, question, asked, every), strict=True))
        chosen = [
            sentence
            for index, of_source in enumerate(quoted)
            for sentence in best_in_order(of_source, scores, MAX_ADDED if index else MAX_SENTENCES)
        ]
        return Draft(" ".join(f"{sentence.text} [{sentence.source}]" for sentence in chosen), self.name)

    async def close(self) -> None:
        """Nothing is held."""

    def _scores(self, question: str, asked: set[str], sentences: Sequence[Sentence]) -> list[float]:
        vectors = self._embedder.passages([sentence.text for sentence in sentences])
        cosines = vectors @ self._embedder.queries([question])[0]
        shares = [len(asked & _stems(sentence.text)) / max(1, len(asked)) for sentence in sentences]
        weights = [sentence.weight for sentence in sentences]
        figures = FIGURE if asked & ASKS_FOR_FIGURES or _DIGIT.search(question) else 0.0
        numbered = [figures * bool(_DIGIT.search(sentence.text)) for sentence in sentences]
        total = cosines + WORD_WEIGHT * np.asarray(shares) + np.asarray(weights) + np.asarray(numbered)
        return [float(score) for score in total]


def choose_sources(sources: Sequence[Source], asked: set[str]) -> list[Source]:
    """The best source, and the first near one whose title names what the question asks and the best one lacks."""
    best, *others = sources
    missing = asked - _stems(" ".join((best.title, *best.passages)))
    near = (source for source in others if source.score >= best.score - NEAR_BEST)
    added = next((source for source in near if missing & _stems(source.title)), None)
    return [best] if added is None else [best, added]


def best_in_order(sentences: Sequence[Sentence], scores: Mapping[Sentence, float], limit: int) -> list[Sentence]:
    """The sentences of the highest scores in reading order; of equal ones the earlier."""
    best = sorted(sentences, key=lambda sentence: (-scores[sentence], sentence.position))[:limit]
    return sorted(best, key=lambda sentence: sentence.position)


def _sentences(source: Source) -> list[Sentence]:
    """Whole sentences of a source; an overlap of two chunks gives each once, a redacted one is not quoted."""
    found: dict[str, Sentence] = {}
    for passage, weight in zip(source.passages, source.weights, strict=True):
        for index, (start, end) in enumerate(split_sentences(passage)):
            text = passage[start:end]
            if REDACTED not in text:
                opening = OPENING if index == 0 else 0.0
                found.setdefault(text, Sentence(source.n, len(found), text, weight + opening))
    return list(found.values())


def _stems(text: str) -> set[str]:
    """Stems of words, not of numbers: a value of one test says nothing about another test's limit."""
    return {stem(word) for word in content_words(text) if not _NUMBER.fullmatch(word)}
