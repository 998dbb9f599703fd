"""The stored corpus: rows of the sentinel tenant, written as the owner only."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

import numpy as np
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from engine.storage.bulk import copy_rows, copy_texts
from engine.storage.schema import GLOBAL_USER_ID, corpus_state, document, embedding_space, lexeme, spelling, topic_name
from engine.text.variants import MIN_SPELLED

Vector = NDArray[np.float32]

CORPUS_LOCK = 731_004_212
"""Key of the advisory lock that whoever changes the corpus holds."""


@dataclass(frozen=True)
class StoredChunk:
    """A chunk as it is written, with its lexemes and vectors."""

    id: UUID
    ordinal: int
    section: str
    content: str
    lexemes: str
    """A tsvector literal."""
    vectors: dict[str, Vector]
    """One vector a space."""
    sentence_vectors: dict[str, Vector]
    """One row a sentence, by space."""


@dataclass(frozen=True)
class StoredDocument:
    """A document of the corpus as it is written, with its chunks."""

    id: UUID
    name: str
    topic: str
    lang: str
    title: str
    source: list[str]
    version: int
    reviewed: dt.date
    content_hash: str
    names: list[str]
    """Keys of title and aliases; see `engine.text.lexemes.name_key`."""
    chunks: list[StoredChunk]


@dataclass(frozen=True)
class CorpusState:
    """What the last seeding left."""

    hash: str
    documents: int
    chunks: int
    spaces: list[str]
    models: dict[str, str]
    """The model of the stored vectors, by space."""


def read_state(connection: Connection) -> CorpusState | None:
    """What is stored now, as any role that may read it; None before the first seeding."""
    state, space = corpus_state.c, embedding_space.c
    models = sa.select(sa.func.coalesce(sa.func.jsonb_object_agg(space.name, space.model), sa.text("'{}'::jsonb")))
    models = models.where(space.name == sa.any_(state.spaces))
    row = connection.execute(
        sa.select(state.hash, state.documents, state.chunks, state.spaces, models.scalar_subquery())
    ).one_or_none()
    return None if row is None else CorpusState(*row)


def read_hashes(connection: Connection) -> dict[str, str]:
    """Stored hash by document name."""
    rows = connection.execute(
        sa.select(document.c.name, document.c.content_hash).where(document.c.user_id == GLOBAL_USER_ID)
    )
    return dict(rows.all())


def create_space(connection: Connection, name: str, dimension: int, model: str) -> None:
    """Make the tables of an embedding space; an existing one is left as it is."""
    connection.execute(
        sa.text("SELECT knowledge.create_embedding_space(:name, :dimension, :model)"),
        {"name": name, "dimension": dimension, "model": model},
    )


def delete_documents(connection: Connection, names: Sequence[str]) -> None:
    """Chunks and vectors go with their document."""
    connection.execute(sa.delete(document).where(document.c.user_id == GLOBAL_USER_ID, document.c.name.in_(names)))


def insert_documents(connection: Connection, items: Sequence[StoredDocument]) -> None:
    """Documents with their chunks, vectors and sentence vectors."""
    if not items:
        return
    connection.execute(
        sa.insert(document),
        [
            {
                "user_id": GLOBAL_USER_ID,
                "id": item.id,
                "name": item.name,
                "kind": "corpus",
                "topic": item.topic,
                "lang": item.lang,
                "title": item.title,
                "source": item.source,
                "version": item.version,
                "reviewed": item.reviewed,
                "content_hash": item.content_hash,
                "names": item.names,
            }
            for item in items
        ],
    )
    copy_texts(
        connection,
        "knowledge.chunk",
        ["user_id", "id", "document_id", "ordinal", "section", "content", "lexemes"],
        (
            (GLOBAL_USER_ID, part.id, item.id, part.ordinal, part.section, part.content, part.lexemes)
            for item in items
            for part in item.chunks
        ),
    )
    parts = [part for item in items for part in item.chunks]
    for space in sorted({space for part in parts for space in part.vectors}):
        copy_rows(
            connection,
            f"knowledge.embedding_{space}",
            ["user_id", "chunk_id", "embedding"],
            ((GLOBAL_USER_ID, part.id, part.vectors[space]) for part in parts),
        )
    for space in sorted({space for part in parts for space in part.sentence_vectors}):
        copy_rows(
            connection,
            f"knowledge.sentence_{space}",
            ["user_id", "chunk_id", "ordinal", "embedding"],
            (
                (GLOBAL_USER_ID, part.id, index, vector)
                for part in parts
                for index, vector in enumerate(part.sentence_vectors[space])
            ),
        )


def refresh(connection: Connection, digest: str, spaces: Sequence[str], at: dt.datetime) -> int:
    """Recount document frequencies and the corpus' state; returns the number of chunks."""
    connection.execute(sa.delete(lexeme))
    connection.execute(
        sa.text(
            "INSERT INTO knowledge.lexeme (term, documents) "
            "SELECT l.lexeme, count(DISTINCT c.document_id) "
            "  FROM knowledge.chunk c, unnest(c.lexemes) AS l WHERE c.user_id = :corpus GROUP BY l.lexeme"
        ),
        {"corpus": GLOBAL_USER_ID},
    )
    _refresh_spelling(connection)
    connection.execute(sa.delete(topic_name))
    connection.execute(
        sa.text(
            "INSERT INTO knowledge.topic_name (name, topic) "
            "SELECT DISTINCT unnest(names), topic FROM knowledge.document WHERE user_id = :corpus"
        ),
        {"corpus": GLOBAL_USER_ID},
    )
    corpus = {"corpus": GLOBAL_USER_ID, "hash": digest, "spaces": list(spaces), "at": at}
    connection.execute(sa.delete(corpus_state))
    connection.execute(
        sa.text(
            "INSERT INTO knowledge.corpus_state (hash, documents, chunks, spaces, seeded_at) "
            "SELECT :hash, (SELECT count(*) FROM knowledge.document WHERE user_id = :corpus), "
            "       (SELECT count(*) FROM knowledge.chunk WHERE user_id = :corpus), :spaces, :at"
        ),
        corpus,
    )
    chunks: int = connection.execute(sa.select(corpus_state.c.chunks)).scalar_one()
    return chunks


def analyse(connection: Connection, spaces: Sequence[str]) -> None:
    """Have the planner count what was written. In a transaction of its own: its locks are held to the end."""
    tables = ["document", "chunk", "lexeme", "spelling", "topic_name"]
    tables += [f"{kind}_{space}" for space in spaces for kind in ("embedding", "sentence")]
    connection.exec_driver_sql(f"ANALYZE {', '.join(f'knowledge.{table}' for table in tables)}")


def lock_corpus(connection: Connection) -> None:
    """Let one transaction at a time change the corpus; held to its end. Searches do not ask for it."""
    connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": CORPUS_LOCK})


def _refresh_spelling(connection: Connection) -> None:
    """The corpus' words with each of their letters left out; see `engine.text.variants.deletions`, which asks."""
    connection.execute(sa.delete(spelling))
    connection.execute(
        sa.text(
            "WITH word AS (SELECT substr(term, 2) AS word FROM knowledge.lexeme WHERE term ~ '^=[[:alpha:]]+$') "
            "INSERT INTO knowledge.spelling (deletion, word) "
            "SELECT word, word FROM word WHERE length(word) >= :shortest "
            "UNION "
            "SELECT left(word, at - 1) || substr(word, at + 1), word "
            "  FROM word, generate_series(1, length(word)) AS at WHERE length(word) >= :shortest"
        ),
        # A word one letter longer, or shorter, than the shortest that is corrected.
        {"shortest": MIN_SPELLED - 1},
    )
