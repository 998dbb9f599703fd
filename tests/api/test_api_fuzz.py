"""Whatever is sent, the API answers with success or with a problem that is the sender's, never with a 500."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

CANARY = "канарейка-7f3a"
NAMES = [
    "question",
    "chat",
    "user",
    "now",
    "lang",
    "history",
    "context",
    "role",
    "text",
    "biomarkers",
    "values",
    CANARY,
]
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from([CANARY, "medical", "ru", "user", "2026-01-01T00:00:00Z", "2026-01-01"])
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5)
)
BODIES = st.fixed_dictionaries({"question": VALUES}, optional=dict.fromkeys(NAMES[1:7], VALUES)) | VALUES
RELAXED = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


def check(client, bearer, raw: bytes) -> None:
    answer = client.post("/v1/chat", content=raw, headers=bearer() | {"Content-Type": "application/json"})
    assert answer.status_code in (200, 400, 403, 413, 422), answer.text
    if answer.status_code != 200:
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["detail"]
    assert CANARY not in answer.text


@RELAXED
@given(body=BODIES)
def test_any_json(client, bearer, body):
    check(client, bearer, json.dumps(body).encode())


@RELAXED
@given(raw=st.binary(max_size=300))
def test_any_bytes(client, bearer, raw):
    check(client, bearer, raw)


@RELAXED
@given(sent=st.text(alphabet=[chr(code) for code in (*range(32, 127), *range(160, 256))], max_size=80))
def test_any_authorization_header(client, sent):
    header = f"Bearer {sent}".strip().encode("latin-1")
    answer = client.post("/v1/chat", json={"question": "?"}, headers=[(b"Authorization", header)])
    assert answer.status_code == 401
