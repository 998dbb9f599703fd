"""Staff sessions: how the console gets a token to act for a signed-in person."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from engine.wire.chat import Strict
from engine.wire.fields import Length, Text

Scope = Literal["chat", "documents", "memory", "staff:read", "staff:run", "staff:admin"]
Role = Literal["product", "safety", "engineer", "admin"]


class StaffSessionRequest(Strict):
    """Who is signed in to the console, by its own account."""

    username: Annotated[Text, Length(100, least=1)]
    roles: list[Role] = Field(min_length=1)


class StaffSession(BaseModel):
    """A token with the scopes of that person's roles."""

    token: str
    expires_in: int
    """Seconds for which the token is good."""
