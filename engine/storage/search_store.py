"""The search round trip: both arms and all scores in one statement."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.storage.vectors import to_literal
from engine.text.lexemes import Term

Scope = Literal["global", "personal"]

_SEARCH = sa.text(
    "SELECT chunk, document, topic, lang, title, source, ordinal, section, content, "
    "       cosine, sentence_cosine, lexical, coverage, terms, unknown, covered, rarity "
    "  FROM knowledge.search(:scope, :spaces, :vectors, :stems, :exacts, :pool, :slots)"
)


@dataclass(frozen=True)
class Candidate:
    """A chunk that one of the arms found, with every score that the database knows of it."""

    chunk: str
    document: str
    topic: str | None
    lang: str
    title: str
    source: tuple[str, ...]
    ordinal: int
    section: str
    content: str
    cosine: tuple[float | None, ...]
    """Cosine of query and chunk, one a space; None where the chunk is not embedded yet."""
    sentence_cosine: tuple[float | None, ...]
    """Cosine of query and the closest sentence, one a space."""
    lexical: float | None
    """Rarity-weighted rank of the lexical arm; None where it did not find the chunk."""
    coverage: float
    """Share of the query's rarity that the chunk's lexemes cover, 0 to 1."""
    terms: int
    """Terms of the query, pairs not counted."""
    unknown: int
    """Those of them that no document of the corpus holds."""
    covered: tuple[int, ...] = ()
    """Slots of the query that the chunk's lexemes cover."""
    rarity: tuple[float, ...] = ()
    """Inverse document frequency of each slot, the same for all candidates of a query."""


async def search(
    connection: AsyncConnection,
    scope: Scope,
    vectors: dict[str, Sequence[float]],
    terms: Sequence[Term],
    pool: int,
) -> list[Candidate]:
    """Candidates of all arms, at most `pool` an arm, in the order of their ids.

    `vectors` holds one query vector a space. The scope `personal` means the tenant
    of the transaction, and nothing without one.
    """
    rows = await connection.execute(
        _SEARCH,
        {
            "scope": scope,
            "spaces": list(vectors),
            "vectors": [to_literal(vector) for vector in vectors.values()],
            "stems": [term.stem for term in terms],
            "exacts": [term.exact for term in terms],
            "pool": pool,
            "slots": [term.slot for term in terms],
        },
    )
    return [
        Candidate(
            chunk=str(row.chunk),
            document=row.document,
            topic=row.topic,
            lang=row.lang,
            title=row.title,
            source=tuple(row.source),
            ordinal=row.ordinal,
            section=row.section,
            content=row.content,
            cosine=tuple(row.cosine),
            sentence_cosine=tuple(row.sentence_cosine),
            lexical=row.lexical,
            coverage=row.coverage,
            terms=row.terms,
            unknown=row.unknown,
            covered=tuple(row.covered),
            rarity=tuple(row.rarity or ()),
        )
        for row in rows
    ]
