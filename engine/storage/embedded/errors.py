"""The one error of the embedded server."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path


class EmbeddedPostgresError(RuntimeError):
    """The embedded server cannot do what was asked; the message is one line: what is wrong, what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(f"embedded PostgreSQL: {' '.join(message.split())}")


@contextlib.contextmanager
def explained(state_dir: Path) -> Iterator[None]:
    """Turn what the operating system refuses (permissions, a full or read-only disk) into one clear line.

    Raises: EmbeddedPostgresError instead of any OSError.
    """
    try:
        yield
    except OSError as error:
        where = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else state_dir
        raise EmbeddedPostgresError(
            f"{where}: {error.strerror or error}; make it usable for this user, "
            "or choose another state directory with ANAMNESIS_STATE_DIR"
        ) from error
