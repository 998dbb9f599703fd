"""Asking the server: does it work, is it ours, does it have the database?"""

import enum

import psycopg
from psycopg import pq
from psycopg.conninfo import make_conninfo

from engine.storage.embedded.errors import EmbeddedPostgresError
from engine.storage.embedded.record import ADMIN, DATABASE, PORT, Record


class Status(enum.Enum):
    """What a probe found."""

    DOWN = "nobody answers"
    BUSY = "starting, stopping, or out of connections"
    UP = "answers, and has no database yet"
    READY = "answers, and has the database"


def probe(record: Record, cluster_name: str) -> Status:
    """Whether the server works, and is the server of this very data directory (else DOWN).

    Raises: EmbeddedPostgresError when it does not know the recorded password.
    """
    address = make_conninfo(host=record.socket_directory, port=PORT, connect_timeout=5)
    answer = pq.Ping(pq.PGconn.ping(address.encode()))  # the binary build returns a plain int
    if answer is not pq.Ping.OK:
        return Status.BUSY if answer is pq.Ping.REJECT else Status.DOWN
    query = "SELECT current_setting('cluster_name'), EXISTS (SELECT FROM pg_database WHERE datname = %s)"
    try:
        with _connect(record) as connection:
            row = connection.execute(query, [DATABASE]).fetchone()
    except psycopg.OperationalError as error:
        if "password authentication failed" in str(error):
            raise EmbeddedPostgresError(
                f"the server in {record.state_directory} does not know the password in postgres.json; "
                "restore both from the same backup"
            ) from error
        return Status.BUSY
    if row is None or row[0] != cluster_name:
        return Status.DOWN
    return Status.READY if row[1] else Status.UP


def create_database(record: Record) -> None:
    """Make the database `anamnesis`, which must not exist.

    Raises: EmbeddedPostgresError with PostgreSQL's reason.
    """
    command = f"CREATE DATABASE {DATABASE} TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'"
    try:
        with _connect(record) as connection:
            connection.execute(command)
    except psycopg.Error as error:
        raise EmbeddedPostgresError(f"the database {DATABASE} could not be created: {error}") from error


def _connect(record: Record) -> psycopg.Connection[tuple[object, ...]]:
    return psycopg.connect(
        host=record.socket_directory,
        port=PORT,
        user=ADMIN,
        password=record.passwords[ADMIN],
        dbname=ADMIN,
        connect_timeout=5,
        autocommit=True,
    )
