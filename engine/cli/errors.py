"""Faults that a person can mend become one line on standard error; everything else too, without a traceback."""

import os
import sys
from collections.abc import Callable

import typer

from engine.chat.router import ChatUnavailableError
from engine.evaluation.errors import EvaluationError
from engine.guardrails.rules import RuleFileError
from engine.keys import KeysError
from engine.knowledge.corpus import CorpusError
from engine.knowledge.seeding import RemovalError, SpaceMismatchError
from engine.models.base import ModelError
from engine.retrieval.follow_up_words import WordDataError
from engine.settings import SettingsError
from engine.storage.embedded import EmbeddedPostgresError
from engine.storage.errors import StorageError
from engine.storage.sessions import TenantError

KNOWN: tuple[type[Exception], ...] = (
    SettingsError,
    StorageError,
    EmbeddedPostgresError,
    KeysError,
    CorpusError,
    SpaceMismatchError,
    RemovalError,
    ModelError,
    RuleFileError,
    WordDataError,
    TenantError,
    ChatUnavailableError,
    EvaluationError,
)
"""Errors whose text says what was wrong and what to do, and holds no data of a user's."""


UsageFault: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")
"""What every wrong use of a command raises; typer carries its own copy of the class and does not name it."""


class CommandError(Exception):
    """A command cannot go on; the text is the one line that is shown."""


class WrongUseError(CommandError):
    """A command was given what it cannot work on."""


def run_guarded(program: Callable[[], object], *, debug: bool) -> int:
    """Run the program; return its exit code: 0, 1 on failure, 2 on wrong usage, 130 on Ctrl-C."""
    try:
        result = program()
        return result if isinstance(result, int) else 0
    except UsageFault as error:
        error.show()  # type: ignore[attr-defined]
        return 2
    except (typer.Abort, KeyboardInterrupt):
        print("Interrupted.", file=sys.stderr)  # noqa: T201
        return 130
    except typer.Exit as stop:
        return stop.exit_code
    except BrokenPipeError:
        # The reader of our output has gone; nothing is left to say, and the interpreter must not try at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:
        if debug:
            raise
        print(f"Error: {one_line(error)}", file=sys.stderr)  # noqa: T201
        return 2 if isinstance(error, WrongUseError) else 1


def one_line(error: Exception) -> str:
    """The text of a known error; only the kind of any other, whose text might quote what somebody wrote."""
    if isinstance(error, (*KNOWN, CommandError)):
        return " ".join(str(error).split())
    return f"{type(error).__name__} (a fault of the program; --debug shows where)"
