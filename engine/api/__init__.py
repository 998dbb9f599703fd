"""The HTTP API."""

from engine.api.application import create_app

__all__ = ["create_app"]
