"""Retrieval from the real corpus through the engine."""

import pytest

from engine.app import Engine, build_engine
from engine.chat.router import ChatUnavailableError
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.errors import OtherVectorsError
from engine.storage.migrate import owner_connection
from engine.storage.schema import GLOBAL_USER_ID
from engine.storage.sessions import TenantError
from engine.wire import RetrieveRequest


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("сахар за три месяца", "hba1c"),
        ("HbA1c", "hba1c"),
        ("нba1c", "hba1c"),
        ("анализ на щитовидку ттг", "tsh"),
        ("витамин С Д", "vitamin-d"),
        ("В12", "vitamin-b12"),
        ("how many steps a day", "daily-steps-walking"),
        ("плохой холестерин", "ldl-cholesterol"),
        ("bad cholesterol", "ldl-cholesterol"),
        ("хороший холестерин", "hdl-cholesterol"),
    ],
)
async def test_the_right_document_comes_first(engine: Engine, query: str, topic: str) -> None:
    found = await engine.retrieve(RetrieveRequest(query=query))
    assert found.hits[0].topic == topic
    assert not found.abstain


@pytest.mark.parametrize("lang", ["ru", "en"])
async def test_twins_stand_once_in_the_readers_language(engine: Engine, lang: str) -> None:
    found = await engine.retrieve(RetrieveRequest(query="HbA1c ferritin ТТГ", k=100, min_score=0.0, lang=lang))
    topics = [hit.topic for hit in found.hits]
    assert len(topics) == len(set(topics)) >= 8
    assert {hit.lang for hit in found.hits[:3]} == {lang}
    assert [hit.rank for hit in found.hits] == list(range(1, len(topics) + 1))


async def test_the_gate_is_bypassed_at_nought_and_closed_at_one(engine: Engine) -> None:
    question = "Как варить борщ?"
    opened = await engine.retrieve(RetrieveRequest(query=question, min_score=0.0))
    closed = await engine.retrieve(RetrieveRequest(query=question, min_score=1.0))
    assert len(opened.hits) == 8
    assert (opened.gated, closed.hits) == (0, [])
    assert opened.abstain is closed.abstain is True


async def test_abstention_is_the_chats_whatever_is_let_through_here(engine: Engine) -> None:
    for least in (None, 0.0, 1.0):
        assert not (await engine.retrieve(RetrieveRequest(query="норма ферритина", min_score=least))).abstain


async def test_the_same_question_gives_the_same_answer(engine: Engine) -> None:
    request = RetrieveRequest(query="повышен с-реактивный белок", k=100, min_score=0.0)
    first = (await engine.retrieve(request)).hits
    for _ in range(3):
        assert (await engine.retrieve(request)).hits == first


@pytest.mark.parametrize("query", ["", "   ", "😀", "???", "\u200b"])
async def test_a_query_without_words_finds_nothing(engine: Engine, query: str) -> None:
    found = await engine.retrieve(RetrieveRequest(query=query, min_score=0.0))
    assert (found.hits, found.abstain) == ([], True)


async def test_a_chat_that_does_not_exist_yet_is_refused_in_one_line(engine: Engine) -> None:
    with pytest.raises(ChatUnavailableError, match="personal"):
        await engine.retrieve(RetrieveRequest(query="рецепт", chat="personal", user="u"))


async def test_other_models_than_those_of_the_stored_vectors_are_refused(
    settings: Settings, seeded: ConnectionUrls
) -> None:
    engine = build_engine(settings, seeded)
    with owner_connection(seeded.admin) as connection:
        connection.exec_driver_sql("UPDATE knowledge.corpus_state SET spaces = '{other}'")
    try:
        with pytest.raises(OtherVectorsError, match="reembed"):
            await engine.ready()
    finally:
        with owner_connection(seeded.admin) as connection:
            connection.exec_driver_sql("UPDATE knowledge.corpus_state SET spaces = '{use512,nano384}'")
        await engine.close()


async def test_the_corpus_owner_is_no_user(engine: Engine) -> None:
    for user in (str(GLOBAL_USER_ID), GLOBAL_USER_ID.hex, f"{{{GLOBAL_USER_ID}}}"):
        with pytest.raises(TenantError):
            await engine.retrieve(RetrieveRequest(query="hba1c", user=user))
