"""Names of topics in a question: who says "low density cholesterol" does not ask about cholesterol at large."""

from collections.abc import Mapping, Sequence

from engine.text.lexemes import name_key

MAX_NAME = 6
"""Content words of the longest name that is looked for."""
MAX_WORDS = 40
"""Words of a question among which names are looked for."""

Span = tuple[int, int]
"""Places of a name's first word and of the word after its last one."""


def possible_names(words: Sequence[Sequence[str]]) -> dict[str, list[Span]]:
    """All runs of words that could be a name, with their places. A word comes with its readings, the likeliest first:
    alone it is a name by each of them («ttg» names a coeliac antibody and ТТГ), in a longer one by the first."""
    found: dict[str, list[Span]] = {}
    first = [readings[0] for readings in words[:MAX_WORDS]]
    for start in range(len(first)):
        for other in words[start][1:]:
            found.setdefault(name_key([other]), []).append((start, start + 1))
        for end in range(start + 1, min(start + MAX_NAME, len(first)) + 1):
            found.setdefault(name_key(first[start:end]), []).append((start, end))
    return found


def named_topics(spans: Mapping[str, Sequence[Span]], topics: Mapping[str, Sequence[str]]) -> dict[str, frozenset[int]]:
    """Places of the words by which a question names a topic. `topics`: who bears a name.

    A name within a longer one is not meant: «холестерин» in «холестерин низкой плотности».
    """
    said = [(span, name) for name in topics for span in spans[name]]
    meant = [(span, name) for span, name in said if not any(_within(span, other) for other, _ in said)]
    found: dict[str, set[int]] = {}
    for (start, end), name in meant:
        for topic in topics[name]:
            found.setdefault(topic, set()).update(range(start, end))
    return {topic: frozenset(places) for topic, places in sorted(found.items())}


def _within(inner: Span, outer: Span) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]
