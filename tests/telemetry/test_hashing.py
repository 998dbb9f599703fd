"""The keyed hash of a query."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.telemetry.hashing import query_hash

KEY = b"k" * 32


@given(st.text())
def test_a_hash_is_sixteen_hexadecimal_digits_for_any_text(text: str) -> None:
    digest = query_hash(text, KEY)
    assert len(digest) == 16
    assert set(digest) <= set("0123456789abcdef")


def test_case_and_spacing_do_not_split_a_query() -> None:
    assert query_hash("  Боль  в груди", KEY) == query_hash("боль в груди ", KEY)


def test_the_hash_depends_on_the_key_and_is_no_plain_digest() -> None:
    assert query_hash("боль в груди", KEY) != query_hash("боль в груди", b"j" * 32)
    assert query_hash("боль в груди", KEY) != hashlib.sha256("боль в груди".encode()).hexdigest()[:16]


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        query_hash("x", b"short")
