"""A user's own notes of given texts, and what the search statement makes of them."""

from collections.abc import Sequence
from uuid import UUID, uuid4, uuid5

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage import corpus_store
from engine.storage.search_store import Candidate, search
from engine.storage.sessions import Database
from engine.storage.vectors import to_literal
from engine.text.lexemes import Term, content_words, query_terms, tsvector

SPACE = "faults8"
DIMENSION = 8


def unit(seed: int) -> np.ndarray:
    """A direction of its own for every seed."""
    vector = np.random.default_rng(seed).normal(size=DIMENSION)
    return np.asarray(vector / np.linalg.norm(vector))


def terms(text: str) -> list[Term]:
    """The words of a question, read as they stand."""
    return query_terms([[word] for word in content_words(text)])


def add_note(connection: Connection, user: UUID, text: str, vector: np.ndarray, chunk: UUID | None = None) -> str:
    """A document of one chunk; returns the chunk's id."""
    corpus_store.create_space(connection, SPACE, DIMENSION, "faults")
    chunk = chunk or uuid4()
    row = {"user": user, "document": uuid5(chunk, "document"), "chunk": chunk, "name": f"note-{chunk}", "text": text}
    for statement in (
        "INSERT INTO knowledge.document (user_id, id, name, kind, lang, title, source, version, content_hash) "
        "VALUES (:user, :document, :name, 'note', 'ru', 'x', '{}', 1, 'x')",
        "INSERT INTO knowledge.chunk (user_id, id, document_id, ordinal, section, content, lexemes) "
        "VALUES (:user, :chunk, :document, 0, '', :text, CAST(:lexemes AS tsvector))",
        f"INSERT INTO knowledge.embedding_{SPACE} (user_id, chunk_id, embedding) "
        "VALUES (:user, :chunk, CAST(:vector AS vector))",
    ):
        connection.execute(
            sa.text(statement), {**row, "lexemes": tsvector([(text, "D")]), "vector": to_literal(vector)}
        )
    return str(chunk)


async def find(
    database: Database, user: UUID, text: str, vector: Sequence[float] | np.ndarray | None = None, pool: int = 100
) -> list[Candidate]:
    """Candidates for a question of a user's own notes; without a vector it is a direction of no note."""
    async with database.transaction(user) as connection:
        return await search(
            connection, "personal", {SPACE: unit(10**6) if vector is None else vector}, terms(text), pool
        )
