"""The product's search against hand-written SQL: an exact scan over the same rows, vectors alone, nothing else."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from engine.evaluation.bench.timing import Spread, milliseconds, spread
from engine.storage.schema import GLOBAL_USER_ID
from engine.storage.search_store import Candidate, Scope, search
from engine.storage.sessions import Database
from engine.storage.vectors import to_literal
from engine.text.lexemes import Term


@dataclass(frozen=True)
class Request:
    """What one search is given. Without a user the corpus is searched."""

    vectors: dict[str, Sequence[float]]
    terms: tuple[Term, ...]
    user: UUID | None = None

    @property
    def scope(self) -> Scope:
        """Which rows are searched."""
        return "global" if self.user is None else "personal"


@dataclass(frozen=True)
class Comparison:
    """Times of the same requests, asked in turn; a ratio of 1 is the bare statement's time."""

    product: Spread
    without_words: Spread
    """The product's function with no terms: what is left of its time when the lexical arm has nothing to do."""
    bare: Spread
    """As many rows of each space, best first: id and cosine."""
    ratio_p50: float
    ratio_p95: float
    rows: float
    """Candidates of a request, on average."""


Seen = Callable[[int, list[Candidate]], None]


@dataclass(frozen=True)
class Timed:
    """A search and how long its statement took."""

    ms: float
    candidates: list[Candidate]


async def compare(
    product: Database,
    owner: Database,
    requests: Sequence[Request],
    pool: int,
    *,
    seen: Seen = lambda place, candidates: None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Comparison:
    """Time every request three ways, after one round that only warms up.

    `product` connects as the engine, `owner` as the administrator: the bare statement runs as the tables' owner, so
    that row level security does not slow it down. `seen` gets the product's candidates by the request's place.

    Raises:
        StorageError: the database refused.
    """
    times: dict[str, list[float]] = {"product": [], "without_words": [], "bare": []}
    rows = 0
    for measured in (False, True):
        for place, request in enumerate(requests):
            ways = list(times)
            # Whoever comes second finds the pages warm: they take turns.
            for way in ways[place % 3 :] + ways[: place % 3]:
                timed = await _time(way, product, owner, request, pool)
                if not measured:
                    continue
                times[way].append(timed.ms)
                if way == "product":
                    rows += len(timed.candidates)
                    seen(place, timed.candidates)
            progress(len(requests) * measured + place + 1, 2 * len(requests))
    spreads = {way: spread(taken) for way, taken in times.items()}
    of_product, of_bare = spreads["product"], spreads["bare"]
    return Comparison(
        **spreads,
        ratio_p50=round(of_product.p50 / of_bare.p50, 2),
        ratio_p95=round(of_product.p95 / of_bare.p95, 2),
        rows=round(rows / len(requests), 1),
    )


async def _time(way: str, product: Database, owner: Database, request: Request, pool: int) -> Timed:
    """The statement alone is timed: both ways begin and end their transactions alike."""
    database = owner if way == "bare" else product
    async with database.transaction(request.user) as connection:
        if way == "bare":
            await connection.exec_driver_sql("SET LOCAL ROLE anamnesis_owner")
            began = perf_counter()
            await _bare(connection, request, pool)
            return Timed(milliseconds(began), [])
        terms = request.terms if way == "product" else ()
        began = perf_counter()
        found = await search(connection, request.scope, request.vectors, terms, pool)
        return Timed(milliseconds(began), found)


async def _bare(connection: AsyncConnection, request: Request, pool: int) -> None:
    # The names of spaces come from the active encoders and the database has admitted them.
    scans = [
        f"(SELECT chunk_id, 1 - (embedding <=> CAST(:v{number} AS vector)) FROM knowledge.embedding_{space} "  # noqa: S608
        f"WHERE user_id = :user ORDER BY (embedding <=> CAST(:v{number} AS vector)) + 0 LIMIT :pool)"
        for number, space in enumerate(request.vectors)
    ]
    vectors = {f"v{number}": to_literal(vector) for number, vector in enumerate(request.vectors.values())}
    given = {"user": request.user or GLOBAL_USER_ID, "pool": pool, **vectors}
    (await connection.execute(sa.text(" UNION ALL ".join(scans)), given)).all()
