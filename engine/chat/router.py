"""Which chat a question goes to."""

from engine.wire import ChatName


class ChatUnavailableError(ValueError):
    """The chat that was asked for is not part of this version."""


def route(chat: ChatName) -> str:
    """The chat that answers: `auto` is the medical one as long as there is no other.

    Raises:
        ChatUnavailableError: the personal or the work chat was named.
    """
    if chat in ("auto", "medical"):
        return "medical"
    raise ChatUnavailableError(f"The {chat} chat is not available in this version; use chat=medical or chat=auto.")
