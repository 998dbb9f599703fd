"""The embedded database server: a private PostgreSQL 16 with pgvector, run from a wheel, for one machine.

Linux only. The parts: ``server`` (the life cycle), ``initdb`` (an empty cluster), ``launch`` (starting the server and
reading its log), ``probe`` (what a running one answers), ``processes`` (which server processes live), ``account`` (whom
the server runs as), ``binaries``, ``record`` (passwords and addresses), ``directories``, ``errors``.
"""

from engine.storage.embedded.directories import default_state_dir
from engine.storage.embedded.errors import EmbeddedPostgresError
from engine.storage.embedded.record import ConnectionUrls
from engine.storage.embedded.server import EmbeddedPostgres

__all__ = ["ConnectionUrls", "EmbeddedPostgres", "EmbeddedPostgresError", "default_state_dir"]
