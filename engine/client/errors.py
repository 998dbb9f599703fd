"""What can go wrong between a client and the API; every message is one clear line."""


class ClientError(Exception):
    """The API could not be used; the text is fit to be shown to a person."""


class EngineUnreachable(ClientError):  # noqa: N818 - the state of the other side, not a fault of the caller
    """Nobody answers at the API's address, or not in time."""


class EngineError(ClientError):
    """The API answered with an error (problem+json) or with something that is no answer."""

    def __init__(self, status: int, title: str, detail: str = "") -> None:
        self.status = status
        self.title = title
        self.detail = detail
        parts = f"{title}: {detail}" if detail else title
        super().__init__(f"{' '.join(parts.split())} (HTTP {status})")
