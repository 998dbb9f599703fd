"""Whether figures can be trusted: no question stands in the corpus, none both sets the threshold and is
measured by it.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from engine.evaluation.sets import Case, EvalSet
from engine.text.normalise import normalise

RUN = 6
"""Words in a row that two texts do not share by chance."""
TWIN = 0.7
"""Share of common words from which two questions are one question asked twice."""

_WORD = re.compile(r"[^\W_]+")


class Leak(NamedTuple):
    """A run of words of a question that stands in a document."""

    case: str
    document: str
    words: str


class Twin(NamedTuple):
    """A question of an evaluation set that a calibration set asks too."""

    evaluated: str
    calibrating: str


def leaks(sets: Iterable[EvalSet], corpus: Mapping[str, str], *, run: int = RUN) -> list[Leak]:
    """Questions of which `run` words in a row stand in a document; the corpus is texts by name.

    Of a dialogue all that the user says counts; what an assistant answered may well quote the corpus.

    Shorter questions ("ferritin normal range") are left alone: people and documents use the same few words.
    """
    places: dict[tuple[str, ...], str] = {}
    for name, text in corpus.items():
        for words in _runs(_words(text), run):
            places.setdefault(words, name)
    found: list[Leak] = []
    for case in _cases(sets):
        said = (words for text in case.asked for words in _runs(_words(text), run))
        leaked = next((words for words in said if words in places), None)
        if leaked is not None:
            found.append(Leak(case.id, places[leaked], " ".join(leaked)))
    return found


def twins(evaluated: Iterable[EvalSet], calibrating: Iterable[EvalSet], *, twin: float = TWIN) -> list[Twin]:
    """Questions that stand in both, word for word or nearly: Jaccard index of their words at or above `twin`.

    Every question of a dialogue is one: its first alone may be asked in the other set.

    P. Jaccard, "The distribution of the flora in the alpine zone", New Phytologist 11 (1912), 37-50.
    """
    others = [(case.id, words) for case in _cases(calibrating) for words in _questions(case)]
    found: dict[Twin, None] = {}
    for case in _cases(evaluated):
        for mine in _questions(case):
            found |= {Twin(case.id, other): None for other, words in others if _jaccard(mine, words) >= twin}
    return list(found)


def _questions(case: Case) -> list[frozenset[str]]:
    return [frozenset(_words(text)) for text in case.asked]


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, len(one | other))


def _cases(sets: Iterable[EvalSet]) -> Iterable[Case]:
    return (case for eval_set in sets for case in eval_set.cases)


def _words(text: str) -> list[str]:
    return _WORD.findall(normalise(text))


def _runs(words: list[str], length: int) -> Iterable[tuple[str, ...]]:
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))
