"""Bearer tokens: JWT, HS256, with an end and an audience, and the scopes that they carry."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import get_args

import jwt

from engine.wire.staff import Role, Scope

ALGORITHM = "HS256"
AUDIENCE = "anamnesis"
SCOPES: frozenset[Scope] = frozenset(get_args(Scope))
MAX_SUBJECT = 200
STAFF_LIFETIME = timedelta(hours=1)


class TokenError(ValueError):
    """A token that is not accepted; the text says why and repeats nothing of it."""


@dataclass(frozen=True)
class Principal:
    """Who calls, and what that caller may do."""

    subject: str
    scopes: frozenset[Scope]


def issue(key: bytes, subject: str, scopes: Iterable[Scope], lifetime: timedelta) -> str:
    """Sign a token for somebody.

    Raises:
        TokenError: the subject cannot be one.
    """
    _check_subject(subject)
    now = datetime.now(UTC)
    claims = {
        "sub": subject,
        "aud": AUDIENCE,
        "iat": now,
        "exp": now + lifetime,
        "scope": " ".join(sorted(scopes)),
    }
    return jwt.encode(claims, key, algorithm=ALGORITHM)


def verify(key: bytes, token: str) -> Principal:
    """Who holds this token.

    Raises:
        TokenError: it is forged, malformed, expired, or meant for another audience.
    """
    try:
        claims = jwt.decode(
            token,
            key,
            algorithms=[ALGORITHM],
            audience=AUDIENCE,
            options={"require": ["exp", "sub", "aud"]},
        )
    except jwt.ExpiredSignatureError:
        raise TokenError("The token has expired.") from None
    except (jwt.InvalidTokenError, ValueError):
        raise TokenError("The token is not valid.") from None
    _check_subject(claims["sub"])
    granted = claims.get("scope")
    names = granted.split() if isinstance(granted, str) else []
    return Principal(claims["sub"], frozenset(scope for scope in SCOPES if scope in names))


def staff_scopes(roles: Iterable[Role]) -> frozenset[Scope]:
    """What a signed-in person of the staff may do."""
    scopes: set[Scope] = {"chat", "staff:read", "staff:run"}
    if "admin" in roles:
        scopes.add("staff:admin")
    return frozenset(scopes)


def _check_subject(subject: str) -> None:
    try:
        subject.encode()
    except UnicodeEncodeError:
        raise TokenError("The token's subject is not valid text.") from None
    if not subject.strip() or len(subject) > MAX_SUBJECT or "\x00" in subject:
        raise TokenError(f"The token's subject must have 1 to {MAX_SUBJECT} characters.")
