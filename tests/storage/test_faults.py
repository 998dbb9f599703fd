"""A fault of the database is one clear line with the right cure, and nothing waits for ever."""

import asyncio
import socket
from contextlib import AsyncExitStack
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa

from engine.storage import waits
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import StorageError, explain
from engine.storage.migrate import admin_connection, bootstrap
from engine.storage.search_store import search
from engine.storage.sessions import Database
from engine.text.lexemes import Term
from tests.storage.personal import unit_vector

OWN_SERVER = "postgresql+psycopg://{}:secret@db.example.org/anamnesis"


def test_a_script_that_the_server_refuses_is_a_fault_in_one_line(urls: ConnectionUrls) -> None:
    with pytest.raises(StorageError, match="as the administrator"):
        bootstrap(urls.engine, urls.engine, urls.console)


async def test_a_role_that_is_not_there_yet_is_cured_by_a_command_not_by_a_url(urls: ConnectionUrls) -> None:
    """The server says of a missing role that its password is wrong, and on the embedded default nobody wrote a URL."""
    url = sa.engine.make_url(urls.engine).set(password="wrong").render_as_string(hide_password=False)
    database = Database(url)
    with pytest.raises(
        StorageError, match=r"role anamnesis_engine is not there yet.*`anamnesis up` or `anamnesis seed`"
    ):
        async with database.transaction():
            pass
    await database.close()


@pytest.mark.parametrize(
    ("user", "said", "cure"),
    [
        ("anamnesis_engine", 'password authentication failed for user "anamnesis_engine"', "migrate --bootstrap"),
        ("anamnesis_engine", 'role "anamnesis_engine" does not exist', "migrate --bootstrap"),
        ("admin", 'password authentication failed for user "admin"', "Correct the password in the URL"),
        ("admin", 'role "admin" does not exist', "Correct the user in the URL"),
        ("admin", 'no pg_hba.conf entry for host "10.0.0.7"', "pg_hba.conf"),
        ("admin", "sorry, too many clients already", "max_connections"),
        ("admin", "the database system is starting up", "Try again in a moment"),
    ],
)
def test_a_login_that_failed_is_told_by_its_words(user: str, said: str, cure: str) -> None:
    fault = explain(psycopg.OperationalError(f"connection failed: FATAL:  {said}"), OWN_SERVER.format(user))
    assert cure in str(fault)
    assert "reached" not in str(fault)
    assert "secret" not in str(fault)


@pytest.mark.parametrize(
    ("state", "cure"),
    [
        ("40001", "Try again"),
        ("40P01", "waited for each other"),
        ("53100", "disk is full"),
        ("53400", "short of resources"),
        ("55006", "using what has to be changed"),
        ("55P03", "holds a lock"),
        ("57P05", "ended the connection"),
        ("58030", "SQLSTATE 58030"),
        ("P0001", "anamnesis reembed"),
    ],
)
def test_a_refused_statement_is_not_called_unreachable(urls: ConnectionUrls, state: str, cure: str) -> None:
    with pytest.raises(StorageError) as caught, admin_connection(urls.admin) as connection:
        connection.exec_driver_sql(f"DO $$ BEGIN RAISE 'a row of somebody' USING ERRCODE = '{state}'; END $$")
    assert cure in str(caught.value)
    assert "reached" not in str(caught.value)
    assert "somebody" not in str(caught.value)


async def test_a_text_that_the_driver_cannot_send_is_not_called_unreachable(urls: ConnectionUrls) -> None:
    database = Database(urls.engine)
    with pytest.raises(StorageError, match="could not be sent") as caught:
        async with database.transaction() as connection:
            await connection.execute(sa.text("SELECT CAST(:text AS text)"), {"text": "a\0b"})
    await database.close()
    assert "reached" not in str(caught.value)


async def test_a_missing_space_says_what_to_run(urls: ConnectionUrls) -> None:
    database = Database(urls.engine)
    with pytest.raises(StorageError, match="anamnesis reembed"):
        async with database.transaction(uuid4()) as connection:
            await search(connection, "personal", {"absent": unit_vector(1)}, [Term("x", "=x", 0)], 5)
    await database.close()


async def test_two_transactions_that_wait_for_each_other_end_with_the_right_words(urls: ConnectionUrls) -> None:
    database = Database(urls.engine)
    both = asyncio.Barrier(2)

    async def cross(first: int, second: int) -> None:
        async with database.transaction() as connection:
            await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": first})
            await both.wait()
            await connection.execute(sa.text("SELECT pg_advisory_xact_lock(:key)"), {"key": second})

    ended = await asyncio.gather(cross(71, 72), cross(72, 71), return_exceptions=True)
    await database.close()
    faults = [fault for fault in ended if fault is not None]
    assert [type(fault) for fault in faults] == [StorageError]
    assert "waited for each other" in str(faults[0])


async def test_a_pool_without_a_free_connection_is_a_fault(
    urls: ConnectionUrls, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(waits, "POOL_SECONDS", 0.05)
    database = Database(urls.engine, pool_size=1)
    async with AsyncExitStack() as held:
        for _ in range(2):
            await held.enter_async_context(database.transaction())
        with pytest.raises(StorageError, match="in use"):
            await held.enter_async_context(database.transaction())
    await database.close()


async def test_a_server_that_takes_the_connection_and_says_nothing_is_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waits, "CONNECT_SECONDS", 2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        database = Database(f"postgresql+psycopg://anamnesis_engine@127.0.0.1:{silent.getsockname()[1]}/anamnesis")
        with pytest.raises(StorageError, match="cannot be reached"):
            async with asyncio.timeout(60), database.transaction():
                pass
        await database.close()


async def test_a_statement_and_a_silent_connection_have_an_end(urls: ConnectionUrls) -> None:
    database = Database(urls.engine)
    async with database.transaction() as connection:
        assert (await connection.execute(sa.text("SHOW statement_timeout"))).scalar_one() == "30s"
        raw = (await connection.get_raw_connection()).driver_connection
        assert raw is not None
        assert raw.info.get_parameters()["tcp_user_timeout"] == str(waits.SILENCE_MS)
    await database.close()


def test_what_the_url_says_of_waiting_stands() -> None:
    said = waits.connect_args(f"{OWN_SERVER.format('admin')}?connect_timeout=30")
    assert said == {"tcp_user_timeout": waits.SILENCE_MS}
