"""Search in the store: one statement for both arms, and another for each encoder that only scores what they found."""

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.storage.vectors import to_literal
from engine.text.lexemes import Term

Scope = Literal["global", "personal"]

_SEARCH = sa.text(
    "SELECT chunk, document, topic, lang, title, source, ordinal, section, content, "
    "       cosine, sentence_cosine, lexical, coverage, terms, unknown, covered, rarity "
    "  FROM knowledge.search(:scope, :space, :vector, :stems, :exacts, :pool, :slots)"
)
_COSINES = sa.text(
    "SELECT chunk, cosine, sentence_cosine FROM knowledge.cosines(:scope, :space, :vector, CAST(:chunks AS uuid[]))"
)


class Candidate(NamedTuple):
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


async def find(
    connection: AsyncConnection,
    scope: Scope,
    space: str | None,
    vector: Sequence[float],
    terms: Sequence[Term],
    pool: int,
) -> list[Candidate]:
    """Candidates of both arms, at most `pool` an arm, in the order of their ids; without a space, of the lexical arm.

    The scope `personal` means the tenant of the transaction, and nothing without one.
    """
    rows = await connection.execute(
        _SEARCH,
        {
            "scope": scope,
            "space": space,
            "vector": to_literal(vector) if space else None,
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
            cosine=(row.cosine,) if space else (),
            sentence_cosine=(row.sentence_cosine,) if space else (),
            lexical=row.lexical,
            coverage=row.coverage,
            terms=row.terms,
            unknown=row.unknown,
            covered=tuple(row.covered),
            rarity=tuple(row.rarity or ()),
        )
        for row in rows
    ]


async def score(
    connection: AsyncConnection, scope: Scope, space: str, vector: Sequence[float], found: Sequence[Candidate]
) -> list[Candidate]:
    """The same candidates with their cosines in one more space."""
    rows = await connection.execute(
        _COSINES,
        {"scope": scope, "space": space, "vector": to_literal(vector), "chunks": [item.chunk for item in found]},
    )
    cosines = {str(row.chunk): (row.cosine, row.sentence_cosine) for row in rows}
    missing = (None, None)  # deleted since it was found
    return [
        item._replace(
            cosine=(*item.cosine, cosines.get(item.chunk, missing)[0]),
            sentence_cosine=(*item.sentence_cosine, cosines.get(item.chunk, missing)[1]),
        )
        for item in found
    ]


async def search(
    connection: AsyncConnection,
    scope: Scope,
    vectors: Mapping[str, Sequence[float]],
    terms: Sequence[Term],
    pool: int,
) -> list[Candidate]:
    """Find by the first of the spaces and by words, then score in the others; see `find`."""
    leading, *others = vectors or [None]
    candidates = await find(connection, scope, leading, vectors[leading] if leading else (), terms, pool)
    for space in others:
        if space is not None:
            candidates = await score(connection, scope, space, vectors[space], candidates)
    return candidates
