"""Synthetic notes into a scratch database: COPY, vectors in pgvector's binary form."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid5

import numpy as np
import psycopg
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.engine import Connection

from engine.evaluation.bench.scratch import vacuum
from engine.evaluation.bench.synthetic import CHUNKS_OF_A_DOCUMENT, Notes, Synthetic
from engine.storage.corpus_store import create_space
from engine.storage.migrate import owner_connection
from engine.text.lexemes import stem, tsvector

_LEXEME_INDEX = "knowledge.chunk_lexemes"
_CORPUS_DOCUMENTS = 272
"""As many as a corpus has, for rarity: a scratch database has none."""

_DOCUMENT = "COPY knowledge.document (user_id, id, name, kind, lang, title, source, version, content_hash) FROM STDIN"
_CHUNK = "COPY knowledge.chunk (user_id, id, document_id, ordinal, section, content, lexemes) FROM STDIN"


def load(
    admin_url: str,
    data: Synthetic,
    spaces: dict[str, int],
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[UUID]:
    """Store everybody's notes; returns the users in their order. Raises StorageError."""
    users = []
    with owner_connection(admin_url) as connection:
        for space, dimension in spaces.items():
            create_space(connection, space, dimension, "synthetic")
        # An index that is made at the end is made in a tenth of the time.
        index = connection.execute(sa.text("SELECT pg_get_indexdef(CAST(:i AS regclass))"), {"i": _LEXEME_INDEX})
        definition = str(index.scalar_one())
        connection.exec_driver_sql(f"DROP INDEX {_LEXEME_INDEX}")
        done, total = 0, sum(data.sizes)
        for number in range(len(data.sizes)):
            notes = data.notes(number)
            _store(connection, notes)
            users.append(notes.user)
            done += len(notes.ids)
            progress(done, total)
        connection.exec_driver_sql("SET LOCAL maintenance_work_mem = '256MB'")
        # The catalogue says ONLY of an index over partitions, and that would leave them without.
        connection.exec_driver_sql(definition.replace(" ON ONLY ", " ON "))
        _store_rarity(connection, data)
    vacuum(admin_url, analyse=True)
    return users


def _store(connection: Connection, notes: Notes) -> None:
    cursor: psycopg.Cursor[Any] = connection.connection.cursor()  # type: ignore[assignment]
    size = len(notes.ids)
    documents = [uuid5(notes.user, str(number)) for number in range(-(-size // CHUNKS_OF_A_DOCUMENT))]
    with cursor.copy(_DOCUMENT) as copy:
        for number, document in enumerate(documents):
            copy.write_row((notes.user, document, f"note-{number}", "note", "ru", "Заметка", "{}", 1, "synthetic"))
    with cursor.copy(_CHUNK) as copy:
        for place, (chunk, text) in enumerate(zip(notes.ids, notes.texts, strict=True)):
            of_document, ordinal = divmod(place, CHUNKS_OF_A_DOCUMENT)
            lexemes = tsvector([("Заметка", "A"), (text, "D")])
            copy.write_row((notes.user, chunk, documents[of_document], ordinal, "", text, lexemes))
    for space, vectors in notes.vectors.items():
        # The name is one that `create_space` has admitted.
        with cursor.copy(f"COPY knowledge.embedding_{space} FROM STDIN (FORMAT binary)") as copy:
            copy.write(_binary(notes.user, notes.ids, vectors))
    cursor.close()


def _binary(user: UUID, chunks: tuple[UUID, ...], vectors: NDArray[np.float32]) -> bytes:
    """Rows (uuid, uuid, vector) in the binary form of COPY: every field after its length in bytes."""
    rows, dimension = vectors.shape
    row = np.dtype([("fields", ">i2"), ("l1", ">i4"), ("user", "u1", 16), ("l2", ">i4"), ("chunk", "u1", 16),
                    ("l3", ">i4"), ("dimension", ">i2"), ("unused", ">i2"), ("vector", ">f4", dimension)])  # fmt: skip
    table = np.zeros(rows, row)
    table["fields"], table["l1"], table["l2"], table["l3"] = 3, 16, 16, 4 + 4 * dimension
    table["user"] = np.frombuffer(user.bytes, np.uint8)
    table["chunk"] = np.frombuffer(b"".join(chunk.bytes for chunk in chunks), np.uint8).reshape(rows, 16)
    table["dimension"], table["vector"] = dimension, vectors
    return b"PGCOPY\n\xff\r\n\0" + bytes(8) + table.tobytes() + b"\xff\xff"


def _store_rarity(connection: Connection, data: Synthetic) -> None:
    """Document frequencies as a corpus would have them: the more common a word, the more documents hold it."""
    counts: dict[str, int] = {}
    for place, word in enumerate(data.vocabulary):
        count = max(1, _CORPUS_DOCUMENTS // (1 + place))
        for term in (stem(word), "=" + word):
            counts[term] = max(count, counts.get(term, 0))
    cursor: psycopg.Cursor[Any] = connection.connection.cursor()  # type: ignore[assignment]
    with cursor.copy("COPY knowledge.lexeme (term, documents) FROM STDIN") as copy:
        for row in counts.items():
            copy.write_row(row)
    cursor.close()
    connection.execute(
        sa.text(
            "INSERT INTO knowledge.corpus_state (hash, documents, chunks, spaces, seeded_at) "
            "VALUES ('synthetic', :documents, 0, '{}', :now)"
        ),
        {"documents": _CORPUS_DOCUMENTS, "now": datetime.now(UTC)},
    )
