"""HTTP client of the engine's API: the console's only way to the engine."""

from engine.client.client import EngineClient
from engine.client.errors import ClientError, EngineError, EngineUnreachable

__all__ = ["ClientError", "EngineClient", "EngineError", "EngineUnreachable"]
