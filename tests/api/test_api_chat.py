"""The API over the real engine and a real database."""

import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import sqlalchemy as sa

from engine.api import create_app
from engine.app import build_engine
from engine.settings import Settings
from engine.storage.embedded import ConnectionUrls
from engine.storage.migrate import owner_connection
from tests.api.live import serving

DEAD = "postgresql+psycopg://anamnesis_engine:hidden-word@127.0.0.1:1/anamnesis"


@pytest.fixture(scope="module")
def real(settings, seeded, keys) -> Iterator[httpx.Client]:
    """A client of the API as `serve` builds it."""
    app = create_app(lambda: build_engine(settings, seeded), settings=settings, keys=keys)
    with serving(app) as address, httpx.Client(base_url=address, timeout=120) as http:
        yield http


@pytest.fixture
def ask(real, bearer):
    """Put a question as a user of the app."""

    def post(question: str, *, user: str = "anna", **fields: object) -> httpx.Response:
        return real.post("/v1/chat", json={"question": question, **fields}, headers=bearer(subject=user))

    return post


def test_it_is_ready(real):
    assert real.get("/healthz").json() == {"status": "ok"}
    assert real.get("/readyz").json() == {"status": "ready"}


@pytest.mark.parametrize(
    ("question", "lang"), [("Что показывает гликированный гемоглобин?", "ru"), ("What does HbA1c measure?", "en")]
)
def test_a_question_is_answered_with_sources(ask, question, lang):
    answer = ask(question)
    assert answer.status_code == 200
    body = answer.json()
    assert body["outcome"] == "answered"
    assert body["lang"] == lang
    assert body["citations"]
    assert all(f"[{citation['n']}]" in body["text"] for citation in body["citations"])
    assert body["trace"]["stages"][0]["name"] == "urgent"


@pytest.mark.parametrize("question", ["", "   ", "\n\t", "😀", "???", "👨‍👩‍👧", "\u200b", "."])
def test_a_question_without_words_is_answered_by_abstaining(ask, question):
    answer = ask(question)
    assert answer.status_code == 200
    assert answer.json()["outcome"] == "abstained"


def test_an_emergency_is_escalated(ask):
    assert ask("Сильно давит в груди и не могу дышать").json()["outcome"] == "escalated"


@pytest.mark.parametrize("chat", ["personal", "work"])
def test_a_chat_that_this_version_lacks_is_a_problem_of_the_field(ask, chat):
    answer = ask("Что у меня есть?", chat=chat)
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "chat"


def test_many_at_once_are_all_answered(ask):
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda index: ask("What is ferritin?", user=f"user-{index}"), range(24)))
    assert [answer.status_code for answer in answers] == [200] * 24
    assert len({answer.json()["text"] for answer in answers}) == 1


def test_the_question_stays_out_of_logs_and_metrics(ask, real, bearer, urls, caplog):
    canary = "канарейка семь три эф"
    with caplog.at_level(logging.DEBUG):
        assert ask(f"Что такое ферритин, {canary}?", user="secret-person").status_code == 200
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert ours
    assert not [record for record in ours if canary in record.getMessage() or "secret-person" in record.getMessage()]
    scraped = real.get("/metrics", headers=bearer("staff:read")).text
    assert "anamnesis_answers_total" in scraped
    with owner_connection(urls.admin) as connection:
        hashes = connection.scalars(sa.text("SELECT DISTINCT query_hash FROM telemetry.query_log")).all()
        logged = connection.scalars(sa.text("SELECT row_to_json(q)::text FROM telemetry.query_log q")).all()
    assert hashes
    assert not [value for value in (*hashes, canary, "secret-person") if value in scraped]
    assert not [row for row in logged if canary in row or "secret-person" in row]


@pytest.fixture
def unreachable(settings, keys) -> Iterator[httpx.Client]:
    """The real engine over a database that is not there."""
    urls = ConnectionUrls(admin=DEAD, engine=DEAD, console=DEAD)
    app = create_app(lambda: build_engine(settings, urls), settings=Settings(), keys=keys)
    with serving(app) as address, httpx.Client(base_url=address, timeout=60) as http:
        yield http


def test_without_its_database_the_api_says_so_in_one_line(unreachable, bearer, caplog):
    assert unreachable.get("/healthz").status_code == 200
    for answer in (
        unreachable.get("/readyz"),
        unreachable.post("/v1/chat", json={"question": "What is ferritin?"}, headers=bearer()),
    ):
        assert answer.status_code == 503
        assert answer.headers["content-type"] == "application/problem+json"
        assert "cannot be reached" in answer.json()["detail"]
        assert "hidden-word" not in answer.text
        assert "\n" not in answer.json()["detail"]
    assert "Traceback" not in caplog.text
    assert "hidden-word" not in caplog.text
