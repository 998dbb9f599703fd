"""Every bad request gets a 4xx that names the field and repeats nothing; every fault is told without its text."""

import json
import logging
from collections.abc import Iterator

import httpx
import pytest

from engine.storage.errors import NotSeededError, OtherVectorsError, StorageError

CANARY = "канарейка-7f3a"


def is_problem(answer: httpx.Response, status: int, field: str | None = None) -> dict:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body = answer.json()
    assert body["status"] == status
    assert body["title"]
    assert body["detail"]
    assert CANARY not in answer.text
    if field:
        assert body["errors"][0]["field"] == field
        assert field in body["detail"]
    return body


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "question"),
        ({"question": 5}, "question"),
        ({"question": None}, "question"),
        ({"question": CANARY * 400}, "question"),
        ({"question": "?", "chat": CANARY}, "chat"),
        ({"question": "?", "lang": CANARY}, "lang"),
        ({"question": "?", "now": "2026-01-01T00:00:00"}, "now"),
        ({"question": "?", "now": CANARY}, "now"),
        ({"question": "?", "user": ""}, "user"),
        ({"question": "?", "user": CANARY * 20}, "user"),
        ({"question": "?", "history": [{"role": CANARY, "text": "a"}]}, "history.0.role"),
        ({"question": "?", "history": [{"role": "user", "text": [CANARY]}]}, "history.0.text"),
        ({"question": "?", "context": {"profile": {"age": 1e9}}}, "context.profile.age"),
        ({"question": "?", "context": {"profile": {"sex": CANARY}}}, "context.profile.sex"),
        ({"question": "?", "context": {"values": {"pulse": [CANARY]}}}, "context.values.pulse"),
        (
            {"question": "?", "context": {"biomarkers": [{"name": CANARY, "value": CANARY}]}},
            "context.biomarkers.0.value",
        ),
        ({"question": "?", "surprise": CANARY}, "surprise"),
        ({"question": "?", CANARY: 1}, "(another key)"),
    ],
)
def test_a_wrong_field_is_named_and_not_repeated(client, bearer, fake, body, field):
    answer = client.post("/v1/chat", json=body, headers=bearer())
    found = is_problem(answer, 422)
    assert found["errors"][0]["field"].startswith(field)
    assert not fake.asked


@pytest.mark.parametrize(
    ("raw", "status", "field"),
    [
        (b"", 400, None),
        (b"{", 400, None),
        (b"{'question': 1}", 400, None),
        (b'{"question": NaN}', 400, None),
        (b'\xef\xbb\xbf{"question": "?"}', 400, None),
        ('{"question": "боль"}'.encode("cp1251"), 400, None),
        ('{"question": "?"}'.encode("utf-16"), 400, None),
        (rb'{"question": "\ud800"}', 400, None),
        (rb'{"question": "\udc00 a"}', 400, None),
        (b"[" * 5_000, 400, None),
        (b'{"question": ' + b"1" * 5_000 + b"}", 400, None),
        (b"[]", 422, "body"),
        (b'"?"', 422, "body"),
        (b"null", 422, "body"),
        (rb'{"question": "a\u0000b"}', 422, "question"),
        (rb'{"question": "?", "context": {"task": {"a": ["\u0000"]}}}', 422, "context.task.a.0"),
        (rb'{"question": "?", "context": {"task": {"\u0000": 1}}}', 422, "context.task.(another key)"),
        (b'{"question": "?", "context": {"values": {"pulse": 1e999}}}', 422, "context.values.pulse"),
    ],
)
def test_what_is_no_json_or_cannot_be_held_is_refused(client, bearer, fake, raw, status, field):
    answer = client.post("/v1/chat", content=raw, headers=bearer() | {"Content-Type": "application/json"})
    is_problem(answer, status, field)
    assert not fake.asked


def test_an_integer_that_no_float_holds_is_refused(client, bearer):
    raw = b'{"question": "?", "context": {"values": {"pulse": 1' + b"0" * 400 + b"}}}"
    answer = client.post("/v1/chat", content=raw, headers=bearer() | {"Content-Type": "application/json"})
    is_problem(answer, 422)


@pytest.mark.parametrize(
    "content_type", ["text/plain", "application/xml", "application/json; charset=cp1251", "multipart/form-data", ""]
)
def test_another_content_type_is_refused(client, bearer, content_type):
    answer = client.post("/v1/chat", content=b'{"question": "?"}', headers=bearer() | {"Content-Type": content_type})
    is_problem(answer, 415)


def test_a_content_type_with_its_charset_is_taken(client, bearer):
    headers = bearer() | {"Content-Type": "application/json; charset=UTF-8"}
    assert client.post("/v1/chat", content=b'{"question": "?"}', headers=headers).status_code == 200


@pytest.mark.parametrize("size", [20_001, 1_000_000, 6_000_000])
def test_a_body_over_the_limit_is_refused(client, bearer, fake, size):
    raw = json.dumps({"question": "?" * size}).encode()
    headers = bearer() | {"Content-Type": "application/json"}
    is_problem(client.post("/v1/chat", content=raw, headers=headers), 413)
    assert not fake.asked


def test_a_chunked_body_over_the_limit_is_refused(client, bearer, fake):
    def pieces() -> Iterator[bytes]:
        for _ in range(50):
            yield b" " * 10_000

    headers = bearer() | {"Content-Type": "application/json"}
    answer = client.post("/v1/chat", content=pieces(), headers=headers)
    assert "content-length" not in answer.request.headers
    is_problem(answer, 413)
    assert not fake.asked


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", f"/{CANARY}", 404),
        ("GET", f"/v1/chat/?q={CANARY}", 404),
        ("GET", "/docs", 404),
        ("GET", "/v1/chat", 405),
        ("DELETE", "/healthz", 405),
        ("BREW", "/v1/chat", 405),
    ],
)
def test_an_unknown_address_or_method_is_a_problem(client, method, path, status):
    is_problem(client.request(method, path), status)


def test_too_long_a_question_is_told_in_characters(client, bearer):
    answer = client.post("/v1/chat", json={"question": "x" * 4_001}, headers=bearer())
    detail = is_problem(answer, 422, "question")["detail"]
    assert detail == "question: Text should have at most 4,000 characters, not 4,001"


def test_an_empty_database_is_no_lost_one(client, fake):
    fake.fault = NotSeededError("The database holds no corpus.")
    assert is_problem(client.get("/readyz"), 503)["detail"].startswith("The database holds no corpus.")


def test_where_the_database_is_stays_in_the_log(client, bearer, fake, caplog):
    fake.fault = OtherVectorsError("Database 'anamnesis' at /srv/secret/run: The vectors are not those.")
    assert (
        "another encoder"
        in is_problem(client.post("/v1/chat", json={"question": CANARY}, headers=bearer()), 503)["detail"]
    )
    fake.fault = StorageError("Database 'anamnesis' at /srv/secret/run: It cannot be reached.")
    answer = client.post("/v1/chat", json={"question": CANARY}, headers=bearer())
    for told in (answer, client.get("/readyz")):
        assert is_problem(told, 503)["detail"] == "The database cannot be reached."
        assert "/srv/secret" not in told.text
    assert caplog.messages.count(str(fake.fault)) == 2


@pytest.mark.parametrize("fault", [ValueError(CANARY), RuntimeError(CANARY), KeyError(CANARY), RecursionError(CANARY)])
def test_an_unforeseen_fault_is_told_without_its_text(client, bearer, fake, fault, caplog):
    fake.fault = fault
    with caplog.at_level(logging.DEBUG):
        answer = client.post("/v1/chat", json={"question": CANARY}, headers=bearer())
    is_problem(answer, 500)
    assert "Traceback" not in answer.text
    logged = "\n".join(record.getMessage() + str(record.exc_info or "") for record in caplog.records)
    assert type(fault).__name__ in logged
    assert CANARY not in logged


def test_the_server_goes_on_after_a_fault(client, bearer, fake):
    fake.fault = RuntimeError("once")
    assert client.post("/v1/chat", json={"question": "?"}, headers=bearer()).status_code == 500
    fake.fault = None
    assert client.post("/v1/chat", json={"question": "?"}, headers=bearer()).status_code == 200


def test_logs_hold_the_route_and_nothing_that_was_typed(client, bearer, caplog):
    with caplog.at_level(logging.DEBUG):
        client.post(f"/v1/chat?q={CANARY}", json={"question": CANARY}, headers=bearer())
        client.post("/v1/chat", json={"question": [CANARY]}, headers=bearer())
        client.get(f"/{CANARY}")
        client.request("CANARY", f"/{CANARY}")
    lines = [record.getMessage() for record in caplog.records if record.name == "anamnesis.access"]
    assert len(lines) == 4
    assert lines[0].startswith("POST /v1/chat 200 ")
    assert lines[2].startswith("GET (no route) 404 ")
    ours = [record for record in caplog.records if not record.name.startswith(("httpx", "httpcore"))]
    assert not [record for record in ours if CANARY in record.getMessage() or "%D0" in record.getMessage()]
