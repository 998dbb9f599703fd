"""Staff sessions: how the console gets a token to act for a signed-in person."""

from typing import Literal

from pydantic import BaseModel, Field

from engine.wire.chat import Strict
from engine.wire.fields import Text

Scope = Literal["chat", "documents", "memory", "staff:read", "staff:run", "staff:admin"]
Role = Literal["product", "safety", "engineer", "admin"]


class StaffSessionRequest(Strict):
    """Who is signed in to the console, by its own account."""

    username: Text = Field(min_length=1, max_length=100)
    roles: list[Role] = Field(min_length=1)


class StaffSession(BaseModel):
    """A token with the scopes of that person's roles."""

    token: str
    expires_in: int
    """Seconds for which the token is good."""
