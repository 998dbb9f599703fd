"""Who may call a route: declared beside it, checked before a byte of the body is read."""

import hmac
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from engine.api.body import read_json
from engine.api.problems import Problem
from engine.api.tokens import Principal, TokenError, verify
from engine.keys import Keys
from engine.storage.sessions import TenantError, tenant_id
from engine.wire.staff import Scope

Access = Literal["public", "console-key"] | Scope
Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
SECURITY_SCHEMES: dict[str, Any] = {
    "token": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
    "console-key": {"type": "http", "scheme": "bearer", "description": "The key that console and API share."},
}


@dataclass(frozen=True)
class Gate:
    """What the routes need to let callers in; it stands in the application's state."""

    keys: Keys
    max_body: int


def access(needed: Access) -> Callable[[Endpoint], Endpoint]:
    """Declare what a route needs; a route without this does not start."""

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.__access__ = needed  # type: ignore[attr-defined]
        return endpoint

    return declare


class GuardedRoute(APIRoute):
    """A route that lets in whom its endpoint declares, and only then reads and parses the body."""

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:
        needed: Access | None = getattr(endpoint, "__access__", None)
        if needed is None:
            raise TypeError(f"The route {path} does not declare its access.")
        self.access: Access = needed
        if needed != "public":
            scheme = {"console-key": []} if needed == "console-key" else {"token": [needed]}
            options["openapi_extra"] = {**(options.get("openapi_extra") or {}), "security": [scheme]}
        super().__init__(path, endpoint, **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        reads_body = self.body_field is not None

        async def guarded(request: Request) -> Response:
            gate: Gate = request.app.state.gate
            _let_in(request, self.access, gate.keys)
            if reads_body:
                request = await read_json(request, gate.max_body)
            return await handle(request)

        return guarded


def principal(request: Request) -> Principal:
    """The caller of a route that needs a scope."""
    found: Principal = request.state.principal
    return found


def _let_in(request: Request, needed: Access, keys: Keys) -> None:
    if needed == "public":
        return
    secret = _bearer(request)
    if needed == "console-key":
        if not hmac.compare_digest(secret.encode(), keys.console_key):
            raise _unauthorised("The console's key was refused.", "invalid_token")
        return
    try:
        caller = verify(keys.jwt_key, secret)
    except TokenError as error:
        raise _unauthorised(str(error), "invalid_token") from None
    try:
        tenant_id(caller.subject)
    except TenantError as error:
        raise Problem(403, f"sub: {error}") from None
    if needed not in caller.scopes:
        raise Problem(
            403,
            f"This needs a token with the scope {needed}.",
            headers={"WWW-Authenticate": f'Bearer error="insufficient_scope", scope="{needed}"'},
        )
    request.state.principal = caller


def _bearer(request: Request) -> str:
    sent = request.headers.getlist("authorization")
    scheme, _, secret = (sent[0] if len(sent) == 1 else "").partition(" ")
    if scheme.lower() != "bearer" or not secret.strip():
        raise _unauthorised("Send one header `Authorization: Bearer …`.", None)
    return secret.strip()


def _unauthorised(detail: str, error: str | None) -> Problem:
    challenge = f'Bearer error="{error}"' if error else "Bearer"
    return Problem(401, detail, headers={"WWW-Authenticate": challenge})
