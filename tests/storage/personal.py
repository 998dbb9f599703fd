"""Rows of a user's own, written as the owner: what the private knowledge base will hold."""

from uuid import UUID, uuid4

import numpy as np
import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage import corpus_store
from engine.storage.vectors import to_literal
from engine.text.lexemes import tsvector

SPACE = "test8"
DIMENSION = 8


def unit_vector(seed: int, dimension: int = DIMENSION) -> np.ndarray:
    vector = np.random.default_rng(seed).normal(size=dimension)
    return vector / np.linalg.norm(vector)


def add_documents(
    connection: Connection,
    user: UUID,
    *,
    documents: int,
    chunks: int,
    space: str = SPACE,
    dimension: int = DIMENSION,
    model: str = "test",
) -> None:
    """Documents of `chunks` chunks each; every chunk holds the word "common" and a number of its own."""
    corpus_store.create_space(connection, space, dimension, model)
    rows, vectors = [], []
    for index in range(documents):
        document = uuid4()
        connection.execute(
            sa.text(
                "INSERT INTO knowledge.document (user_id, id, name, kind, lang, title, source, version, content_hash) "
                "VALUES (:user, :id, :name, 'note', 'en', 'A note', '{}', 1, 'x')"
            ),
            {"user": user, "id": document, "name": f"{user}-{index}"},
        )
        for ordinal in range(chunks):
            number = index * chunks + ordinal
            chunk = uuid4()
            text = f"common n{number}"
            row = {"user": user, "id": chunk, "document": document, "ordinal": ordinal, "text": text}
            rows.append({**row, "lexemes": tsvector([(text, "D")])})
            vectors.append({"user": user, "id": chunk, "vector": to_literal(unit_vector(number, dimension))})
    connection.execute(
        sa.text(
            "INSERT INTO knowledge.chunk (user_id, id, document_id, ordinal, section, content, lexemes) "
            "VALUES (:user, :id, :document, :ordinal, '', :text, CAST(:lexemes AS tsvector))"
        ),
        rows,
    )
    connection.execute(
        sa.text(
            f"INSERT INTO knowledge.embedding_{space} (user_id, chunk_id, embedding) "
            "VALUES (:user, :id, CAST(:vector AS vector))"
        ),
        vectors,
    )
