"""What the API needs of an engine."""

from typing import Protocol

from engine.wire import AskRequest, AskResponse, Origin


class AnsweringEngine(Protocol):
    """The part of `engine.app.Engine` that is served over HTTP."""

    async def ask(self, request: AskRequest, *, origin: Origin) -> AskResponse:
        """Answer one question.

        Raises:
            StorageError: the database refused or could not be reached.
        """

    async def ready(self) -> None:
        """Return when the engine can answer.

        Raises:
            StorageError: it cannot, and why.
        """

    async def close(self) -> None:
        """Let go of connections."""
