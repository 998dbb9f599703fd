"""A typed, synchronous client over httpx."""

from types import TracebackType
from typing import Self, TypeVar

import httpx
from pydantic import BaseModel, ValidationError

from engine.client.errors import EngineError, EngineUnreachable
from engine.wire import AskRequest, AskResponse, StaffSession, StaffSessionRequest

TIMEOUT = httpx.Timeout(60.0, connect=3.0)
_LONGEST_DETAIL = 300

Answer = TypeVar("Answer", bound=BaseModel)


class EngineClient:
    """Calls the API at `base_url`, as the bearer of `token` where one is given."""

    def __init__(
        self, base_url: str, token: str | None = None, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._base_url = base_url.rstrip("/")
        self._token = token
        # Proxies of the environment are not for a service of our own.
        self._http = httpx.Client(base_url=self._base_url, timeout=TIMEOUT, transport=transport, trust_env=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Give the connections back."""
        self._http.close()

    def chat(self, request: AskRequest) -> AskResponse:
        """Put one question to a chat."""
        return self._post("/v1/chat", request, AskResponse, self._token)

    def staff_session(self, console_key: str, request: StaffSessionRequest) -> StaffSession:
        """Get a token to act for a signed-in member of the staff."""
        return self._post("/v1/staff/sessions", request, StaffSession, console_key)

    def _post(self, path: str, request: BaseModel, answer: type[Answer], bearer: str | None) -> Answer:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        body = request.model_dump(mode="json", exclude_none=True)
        try:
            response = self._http.post(path, json=body, headers=headers)
        except httpx.TimeoutException as error:
            raise EngineUnreachable(f"No answer in time from {self._base_url}") from error
        except httpx.HTTPError as error:
            raise EngineUnreachable(f"Cannot reach the API at {self._base_url}") from error
        if not response.is_success:
            raise _problem(response)
        try:
            return answer.model_validate_json(response.content)
        except ValidationError as error:
            raise EngineError(response.status_code, "The API sent an answer of an unknown form") from error


def _problem(response: httpx.Response) -> EngineError:
    """Read a problem+json body; anything else keeps the status alone."""
    title, detail = response.reason_phrase or "Error", ""
    try:
        body = response.json()
    except ValueError:
        body = None
    if isinstance(body, dict):
        title = str(body.get("title") or title)
        detail = str(body.get("detail") or "")[:_LONGEST_DETAIL]
    return EngineError(response.status_code, title, detail)
