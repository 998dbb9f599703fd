"""Who gets in: tokens, scopes, the console's key, and a declared access on every route."""

import time
from datetime import timedelta

import jwt
import pytest
from fastapi import FastAPI

from engine.api import create_app
from engine.api.policy import GuardedRoute
from engine.api.tokens import issue, verify
from engine.settings import Settings
from engine.storage.schema import GLOBAL_USER_ID
from tests.api.live import FakeEngine

PUBLIC = {"/healthz", "/readyz", "/openapi.json"}


@pytest.fixture(scope="module")
def app(keys) -> FastAPI:
    return create_app(FakeEngine, settings=Settings(), keys=keys)


def forged(keys, *, key=None, algorithm="HS256", headers=None, **changes) -> str:
    claims = {"sub": "anna", "aud": "anamnesis", "exp": int(time.time()) + 600, "scope": "chat"} | changes
    kept = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(kept, keys.jwt_key if key is None else key, algorithm=algorithm, headers=headers)


def test_every_route_declares_its_access(app):
    paths = {route.path for route in app.routes}
    assert paths == PUBLIC | {"/v1/chat", "/v1/staff/sessions", "/metrics"}
    for route in app.routes:
        if route.path != "/openapi.json":
            assert isinstance(route, GuardedRoute), route.path
            assert (route.access == "public") == (route.path in PUBLIC)


def test_a_route_without_a_declaration_does_not_start(app):
    async def undeclared() -> None: ...

    with pytest.raises(TypeError, match="/forgotten"):
        app.add_api_route("/forgotten", undeclared)


def test_without_a_token_only_the_public_routes_answer(client, app):
    for route in app.routes:
        for method in route.methods - {"HEAD"}:
            answer = client.request(method, route.path)
            if route.path in PUBLIC:
                assert answer.status_code == 200
            else:
                assert answer.status_code == 401
                assert answer.headers["content-type"] == "application/problem+json"
                assert answer.headers["www-authenticate"].startswith("Bearer")


def test_a_stranger_is_turned_away_before_the_body_is_looked_at(client):
    assert client.post("/v1/chat", content=b"{").status_code == 401


def test_the_openapi_document_tells_what_a_route_needs(client):
    document = client.get("/openapi.json").json()
    assert document["paths"]["/v1/chat"]["post"]["security"] == [{"token": ["chat"]}]
    assert document["paths"]["/v1/staff/sessions"]["post"]["security"] == [{"console-key": []}]
    assert "security" not in document["paths"]["/healthz"]["get"]
    assert set(document["components"]["securitySchemes"]) == {"token", "console-key"}
    assert "application/problem+json" in document["paths"]["/v1/chat"]["post"]["responses"]["422"]["content"]


@pytest.mark.parametrize(
    "changes",
    [
        {"exp": 1},
        {"exp": None},
        {"aud": None},
        {"aud": "another"},
        {"sub": None},
        {"sub": ""},
        {"sub": "  "},
        {"sub": "a" * 201},
        {"sub": "a\x00b"},
        {"sub": "\ud800"},
        {"sub": 5},
        {"nbf": int(time.time()) + 600},
        {"key": b"k" * 32},
        {"algorithm": "HS512", "key": b"j" * 64},
    ],
    ids=str,
)
def test_a_bad_token_is_refused(client, keys, changes):
    token = forged(keys, **changes)
    answer = client.post("/v1/chat", json={"question": "?"}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401, answer.text
    assert token not in answer.text


def test_a_token_without_a_signature_is_refused(client, keys):
    token = forged(keys, key="", algorithm="none")
    answer = client.post("/v1/chat", json={"question": "?"}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 401


@pytest.mark.parametrize("header", ["", "Bearer", "Basic YTpi", "Bearer a.b", "Bearer \xff\xfe", "token"])
def test_a_malformed_header_is_refused(client, header):
    answer = client.post("/v1/chat", json={"question": "?"}, headers=[(b"Authorization", header.encode("latin-1"))])
    assert answer.status_code == 401


def test_two_authorization_headers_are_refused(client, bearer):
    one = bearer()["Authorization"]
    answer = client.post("/v1/chat", json={"question": "?"}, headers=[("Authorization", one)] * 2)
    assert answer.status_code == 401


@pytest.mark.parametrize(("path", "scope"), [("/v1/chat", "staff:read"), ("/metrics", "chat")])
def test_a_token_without_the_scope_is_refused(client, bearer, path, scope):
    answer = client.request("POST" if path == "/v1/chat" else "GET", path, headers=bearer(scope))
    assert answer.status_code == 403
    assert "insufficient_scope" in answer.headers["www-authenticate"]


def test_the_user_is_the_tokens_subject(client, bearer, fake):
    for body in ({"question": "?"}, {"question": "?", "user": "anna"}, {"question": "?", "user": None}):
        assert client.post("/v1/chat", json=body, headers=bearer()).status_code == 200
    assert {request.user for request, _ in fake.asked} == {"anna"}


@pytest.mark.parametrize("user", ["boris", "Anna", "anna ", str(GLOBAL_USER_ID)])
def test_another_user_in_the_body_is_refused(client, bearer, fake, user):
    answer = client.post("/v1/chat", json={"question": "?", "user": user}, headers=bearer())
    assert answer.status_code == 403
    assert answer.json()["errors"][0]["field"] == "user"
    assert not fake.asked


@pytest.mark.parametrize("form", ["{}", "{{{}}}", "urn:uuid:{}"])
@pytest.mark.parametrize("change", [str.lower, str.upper, lambda text: text.replace("-", "")])
def test_the_owner_of_the_corpus_is_refused_as_a_user(client, bearer, fake, form, change):
    subject = form.format(change(str(GLOBAL_USER_ID)))
    answer = client.post("/v1/chat", json={"question": "?"}, headers=bearer(subject=subject))
    assert answer.status_code == 403
    assert not fake.asked


def test_the_origin_follows_the_scope(client, bearer, fake):
    client.post("/v1/chat", json={"question": "?"}, headers=bearer("chat"))
    client.post("/v1/chat", json={"question": "?"}, headers=bearer("chat", "staff:run"))
    assert [origin for _, origin in fake.asked] == ["app", "test_chat"]


@pytest.mark.parametrize(
    ("roles", "admin"),
    [(["product"], False), (["safety"], False), (["engineer"], False), (["product", "admin"], True)],
)
def test_the_console_gets_a_session_for_a_person(client, keys, roles, admin):
    headers = {"Authorization": f"Bearer {keys.console_key.decode()}"}
    answer = client.post("/v1/staff/sessions", json={"username": "vera", "roles": roles}, headers=headers)
    assert answer.status_code == 200
    assert answer.json()["expires_in"] == 3600
    caller = verify(keys.jwt_key, answer.json()["token"])
    assert caller.subject == "staff:vera"
    assert caller.scopes == {"chat", "staff:read", "staff:run"} | ({"staff:admin"} if admin else set())
    assert client.get("/metrics", headers={"Authorization": f"Bearer {answer.json()['token']}"}).status_code == 200


def test_only_the_consoles_key_gives_sessions(client, keys, bearer):
    body = {"username": "vera", "roles": ["admin"]}
    for headers in ({"Authorization": "Bearer " + "d" * 32}, bearer("chat", "staff:admin")):
        assert client.post("/v1/staff/sessions", json=body, headers=headers).status_code == 401


@pytest.mark.parametrize(
    "body",
    [{"username": "vera", "roles": []}, {"username": "vera", "roles": ["root"]}, {"username": " ", "roles": ["admin"]}],
)
def test_a_bad_session_request_is_refused(client, keys, body):
    headers = {"Authorization": f"Bearer {keys.console_key.decode()}"}
    assert client.post("/v1/staff/sessions", json=body, headers=headers).status_code == 422


def test_a_token_is_good_until_its_end(keys):
    assert verify(keys.jwt_key, issue(keys.jwt_key, "anna", ["chat"], timedelta(seconds=5))).subject == "anna"


def test_metrics_count_answers_under_fixed_labels(client, bearer):
    client.post("/v1/chat", json={"question": "канарейка"}, headers=bearer(subject="secret-user"))
    client.request("CANARY", "/канарейка")
    text = client.get("/metrics", headers=bearer("staff:read")).text
    assert 'anamnesis_answers_total{chat="medical",lang="en",origin="app",outcome="abstained"} 1.0' in text
    assert 'anamnesis_http_requests_total{method="other",route="(no route)",status="404"} 1.0' in text
    for typed in ("канарейка", "secret-user", "CANARY"):
        assert typed not in text


def test_the_engine_is_closed_with_the_server(keys):
    from tests.api.live import serving

    engine = FakeEngine()
    with serving(create_app(lambda: engine, settings=Settings(), keys=keys)):
        assert not engine.closed
    assert engine.closed
