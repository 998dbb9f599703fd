"""Vectors that wait beside those in force, and the switch from one set to the other; as the owner only."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from engine.storage.bulk import Value, copy_rows
from engine.storage.corpus_store import Vector, create_space
from engine.storage.errors import StorageError
from engine.storage.migrate import admin_connection
from engine.storage.schema import CHUNK_PARTITIONS, GLOBAL_USER_ID, embedding_space, staged_vector

REEMBED_LOCK = 731_004_213
"""Key of the advisory lock that lets one process prepare a change of models at a time."""

WHOLE_CHUNK = -1
"""Stands for a sentence's number where the vector is the chunk's own."""


@contextmanager
def only_one(admin_url: str) -> Iterator[None]:
    """Keep others from preparing a change at the same time; a process that dies lets go.

    Raises:
        StorageError: another one is at it.
    """
    with admin_connection(admin_url) as connection:
        free = connection.execute(sa.text("SELECT pg_try_advisory_lock(:key)"), {"key": REEMBED_LOCK}).scalar_one()
        connection.commit()  # the lock is the session's: no transaction stays open while models work
        if not free:
            raise StorageError("Another `anamnesis reembed` is at work on this database. Let it end.")
        yield


def read_staged(connection: Connection, space: str, model: str) -> set[tuple[str, str]]:
    """Name and hash of the documents whose vectors wait."""
    table = staged_vector.c
    rows = connection.execute(
        sa.select(table.document, table.content_hash).where(
            table.space == space, table.model == model, table.chunk == 0, table.sentence == WHOLE_CHUNK
        )
    )
    return {(name, digest) for name, digest in rows}


def stage(
    connection: Connection,
    space: tuple[str, str, int],
    document: tuple[str, str],
    chunks: Iterable[Vector],
    sentences: Sequence[Iterable[Vector]],
) -> None:
    """Write the vectors of one document: those of its chunks in their order, and of each chunk's sentences.

    `space` is its name, model and dimension; `document` its name and hash.
    """
    name, model, dimension = space

    def row(chunk: int, sentence: int, vector: Vector) -> tuple[Value, ...]:
        return (name, model, *document, chunk, sentence, dimension, vector)

    rows = [row(index, WHOLE_CHUNK, vector) for index, vector in enumerate(chunks)]
    rows += [row(index, at, vector) for index, group in enumerate(sentences) for at, vector in enumerate(group)]
    copy_rows(connection, "knowledge.staged_vector", list(staged_vector.c.keys()), rows)


def make_room(connection: Connection, space: str, dimension: int, model: str) -> str:
    """Tables without corpus rows for a space's new vectors; the name that they go by until `switch`.

    Where another model's tables go by the space's own name, new ones are made beside them; searches go on reading
    the old. Where the model is the same its rows are replaced within the transaction, and users' own rows stay.
    """
    table = embedding_space.c
    found = connection.execute(sa.select(table.dimension, table.model).where(table.name == space)).one_or_none()
    if found is not None and found != (dimension, model):
        name = f"{space[:20]}_{hashlib.sha256(f'{space}:{model}'.encode()).hexdigest()[:8]}"
        create_space(connection, name, dimension, model)
        return name
    create_space(connection, space, dimension, model)
    for kind in ("embedding", "sentence"):
        connection.exec_driver_sql(
            f"DELETE FROM knowledge.{kind}_{space} WHERE user_id = '{GLOBAL_USER_ID}'"  # noqa: S608
        )
    return space


def fill(connection: Connection, tables: str, space: str, model: str) -> None:
    """Move what waits for a space into its tables, for documents that are stored as they were embedded.

    Vectors that are there already stay.
    """
    source = (
        "FROM knowledge.staged_vector v "
        "JOIN knowledge.document d ON d.user_id = :corpus AND d.name = v.document AND d.content_hash = v.content_hash "
        "JOIN knowledge.chunk c ON c.user_id = :corpus AND c.document_id = d.id AND c.ordinal = v.chunk "
        "WHERE v.space = :space AND v.model = :model AND "
    )
    parameters: dict[str, UUID | str | int] = {
        "corpus": GLOBAL_USER_ID,
        "space": space,
        "model": model,
        "whole": WHOLE_CHUNK,
    }
    connection.execute(
        sa.text(
            f"INSERT INTO knowledge.embedding_{tables} (user_id, chunk_id, embedding) "
            f"SELECT c.user_id, c.id, v.embedding {source} v.sentence = :whole ON CONFLICT DO NOTHING"
        ),
        parameters,
    )
    connection.execute(
        sa.text(
            f"INSERT INTO knowledge.sentence_{tables} (user_id, chunk_id, ordinal, embedding) "
            f"SELECT c.user_id, c.id, v.sentence, v.embedding {source} v.sentence <> :whole ON CONFLICT DO NOTHING"
        ),
        parameters,
    )


def replaced_spaces(connection: Connection, former: Sequence[str], rooms: Mapping[str, str]) -> list[str]:
    """Spaces whose tables go with the switch: in force till now and not any more, or in the way of new tables."""
    known = connection.execute(sa.select(embedding_space.c.name)).scalars().all()
    active = set(rooms)
    moving = {space for space, tables in rooms.items() if tables != space}
    return [name for name in known if name in moving or (name in former and name not in active)]


def count_own(connection: Connection, spaces: Sequence[str]) -> int:
    """Vectors of users' own chunks in these spaces."""
    total = 0
    for space in spaces:
        total += connection.execute(
            sa.text(f"SELECT count(*) FROM knowledge.embedding_{space} WHERE user_id <> :corpus"),  # noqa: S608
            {"corpus": GLOBAL_USER_ID},
        ).scalar_one()
    return total


def switch(connection: Connection, gone: Sequence[str], rooms: Mapping[str, str]) -> None:
    """Drop the tables of former models and give the new ones their names; the last act of its transaction.

    Searches wait from here to the end of the transaction. Whoever wants locks of several of these tables takes that
    of `knowledge.chunk` first, as searches do: an order of one's own could wait for one who waits for oneself.
    """
    moving = {tables: space for space, tables in rooms.items() if tables != space}
    if gone or moving:
        connection.exec_driver_sql("LOCK TABLE knowledge.chunk")
    for space in gone:
        connection.execute(sa.delete(embedding_space).where(embedding_space.c.name == space))
        connection.exec_driver_sql(f"DROP TABLE knowledge.embedding_{space}, knowledge.sentence_{space}")
    for tables, space in moving.items():
        connection.execute(sa.update(embedding_space).where(embedding_space.c.name == tables).values(name=space))
        _rename(connection, f"sentence_{tables}", f"sentence_{space}")
        _rename(connection, f"embedding_{tables}", f"embedding_{space}")
        for part in range(CHUNK_PARTITIONS):
            _rename(connection, f"embedding_{tables}_p{part:02d}", f"embedding_{space}_p{part:02d}")


def forget_staged(connection: Connection) -> None:
    """Empty the waiting room, for whichever models."""
    connection.exec_driver_sql("TRUNCATE knowledge.staged_vector")


def _rename(connection: Connection, old: str, new: str) -> None:
    connection.exec_driver_sql(f"ALTER TABLE knowledge.{old} RENAME TO {new}")
