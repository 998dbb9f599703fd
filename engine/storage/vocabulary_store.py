"""The corpus' words: which are known, and which known ones are a letter away from an unknown one."""

from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_LOOKUP = sa.text(
    "SELECT NULL AS deletion, term AS word, documents FROM knowledge.lexeme WHERE term = ANY(:terms) "
    "UNION ALL "
    "SELECT s.deletion, s.word, l.documents FROM knowledge.spelling s "
    "  JOIN knowledge.lexeme l ON l.term = '=' || s.word WHERE s.deletion = ANY(:deletions)"
)


_NAMES = sa.text("SELECT name, topic FROM knowledge.topic_name WHERE name = ANY(:names) ORDER BY name, topic")


@dataclass(frozen=True)
class Vocabulary:
    """What the corpus knows of some lexemes."""

    documents: dict[str, int]
    """Documents that hold a lexeme, by stem or by exact form with its `=`."""
    spelled: dict[str, tuple[tuple[str, int], ...]]
    """Words with their documents, by what is left of them without one letter."""

    def joined(self, other: "Vocabulary") -> "Vocabulary":
        """What both know."""
        return Vocabulary(self.documents | other.documents, self.spelled | other.spelled)


async def look_up_names(connection: AsyncConnection, names: Iterable[str]) -> dict[str, list[str]]:
    """The topics that bear a name, by the keys of those names that some topic bears."""
    found: dict[str, list[str]] = {}
    for name, topic in await connection.execute(_NAMES, {"names": list(names)}):
        found.setdefault(name, []).append(topic)
    return found


async def look_up(connection: AsyncConnection, terms: Iterable[str], deletions: Iterable[str] = ()) -> Vocabulary:
    """Ask for lexemes (stems, or exact ones with their `=`) and for words by what a lost letter leaves of them."""
    documents: dict[str, int] = {}
    spelled: dict[str, list[tuple[str, int]]] = {}
    rows = await connection.execute(_LOOKUP, {"terms": list(terms), "deletions": list(deletions)})
    for deletion, word, count in rows:
        if deletion is None:
            documents[word] = count
        else:
            spelled.setdefault(deletion, []).append((word, count))
    return Vocabulary(documents, {key: tuple(sorted(words)) for key, words in spelled.items()})
