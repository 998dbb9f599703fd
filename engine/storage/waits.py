"""How long anything waits for the database, so that one that does not answer is a fault and not a hang.

How long one statement of the engine's may take is set on its role, in `bootstrap.sql`.
"""

from sqlalchemy.engine import make_url

CONNECT_SECONDS = 5
SILENCE_MS = 15_000
"""Sent and not acknowledged for so long (the machine or the way to it has gone): the connection is given up."""

POOL_SECONDS = 5.0
"""For a free connection of the pool."""

LOCK_SECONDS = 10
"""For a lock that changes of tables and functions need: whoever waits for one holds up every query behind it."""


def connect_args(url: str) -> dict[str, int]:
    """What the driver is told beside the URL; what the URL says itself stands."""
    said = make_url(url).query
    limits = {"connect_timeout": CONNECT_SECONDS, "tcp_user_timeout": SILENCE_MS}
    return {name: value for name, value in limits.items() if name not in said}
