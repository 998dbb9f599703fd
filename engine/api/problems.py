"""Errors as `application/problem+json` (RFC 9457) that name the field and never repeat what was sent."""

import logging
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from engine.chat.router import ChatUnavailableError
from engine.models.base import ModelError
from engine.storage.errors import NotSeededError, OtherVectorsError, StorageError

MEDIA_TYPE = "application/problem+json"
DATABASE_DOWN = "The database cannot be reached."
OTHER_VECTORS = (
    "The corpus holds vectors of another encoder than this server's. Restart the server with the encoder that the "
    "corpus was embedded with, or run `anamnesis reembed` with this server's."
)
NO_CORPUS = "The database holds no corpus. Run `anamnesis seed`."
MODEL_DOWN = "A model that answers need does not work."
STORAGE_DETAILS: tuple[tuple[type[StorageError], str], ...] = (
    (OtherVectorsError, OTHER_VECTORS),
    (NotSeededError, NO_CORPUS),
)
"""What everybody may know of a fault of the database; of all others nothing but that there is one."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,39}")

error_log = logging.getLogger("anamnesis.api")


class FieldError(BaseModel):
    """What is wrong with one field."""

    field: str
    message: str


class ProblemDetails(BaseModel):
    """The body of every error."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: list[FieldError] = []


class Problem(Exception):  # noqa: N818 - the RFC's own word
    """An error that the API answers with."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        errors: Sequence[FieldError] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = list(errors)
        self.headers = dict(headers or {})


def respond(problem: Problem) -> JSONResponse:
    """The HTTP answer to a problem."""
    body = ProblemDetails(
        title=HTTPStatus(problem.status).phrase,
        status=problem.status,
        detail=problem.detail,
        errors=problem.errors,
    )
    return JSONResponse(body.model_dump(), status_code=problem.status, headers=problem.headers, media_type=MEDIA_TYPE)


def refused(field: str, message: str, status: int = 422) -> Problem:
    """A problem with one field."""
    return Problem(status, f"{field}: {message}", errors=[FieldError(field=field, message=message)])


def field_name(location: Sequence[Any]) -> str:
    """A dotted path; a key that is no plain name may be a person's words and is not repeated."""
    parts = [
        str(part) if isinstance(part, int) or _PLAIN_NAME.fullmatch(str(part)) else "(another key)" for part in location
    ]
    return ".".join(parts) or "body"


async def on_problem(_: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Problem)
    return respond(error)


async def on_invalid(_: Request, error: Exception) -> JSONResponse:
    """Pydantic's messages without the input that it quotes beside them."""
    assert isinstance(error, RequestValidationError)
    errors = [
        FieldError(field=field_name([part for part in fault["loc"] if part != "body"]), message=fault["msg"])
        for fault in error.errors()
    ]
    first = errors[0]
    return respond(Problem(422, f"{first.field}: {first.message}", errors=errors))


async def on_http_error(_: Request, error: Exception) -> JSONResponse:
    """Unknown address, wrong method: the framework's own errors in the same form."""
    assert isinstance(error, HTTPException)
    detail = {404: "There is nothing at this address.", 405: "This address does not take this method."}
    return respond(
        Problem(
            error.status_code,
            detail.get(error.status_code, HTTPStatus(error.status_code).phrase),
            headers=error.headers,
        )
    )


async def on_storage_error(_: Request, error: Exception) -> JSONResponse:
    """The database's one clear line is for the log alone: it names hosts and paths, and holds no data of a user's."""
    assert isinstance(error, StorageError)
    error_log.warning("%s", error)
    detail = next((told for kind, told in STORAGE_DETAILS if isinstance(error, kind)), DATABASE_DOWN)
    return respond(Problem(503, detail, headers={"Retry-After": "5"}))


async def on_model_error(_: Request, error: Exception) -> JSONResponse:
    """The model's name and cure are for the log alone."""
    assert isinstance(error, ModelError)
    error_log.warning("%s", error)
    return respond(Problem(503, MODEL_DOWN, headers={"Retry-After": "30"}))


async def on_chat_unavailable(_: Request, error: Exception) -> JSONResponse:
    """The engine's own words about a chat that this version lacks; they quote nothing but the chat's name."""
    assert isinstance(error, ChatUnavailableError)
    return respond(refused("chat", str(error)))


HANDLERS: dict[Any, Any] = {
    Problem: on_problem,
    RequestValidationError: on_invalid,
    HTTPException: on_http_error,
    StorageError: on_storage_error,
    ModelError: on_model_error,
    ChatUnavailableError: on_chat_unavailable,
}
