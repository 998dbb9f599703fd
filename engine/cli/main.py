"""The program `anamnesis`: commands by room, errors in one line."""

import sys
from typing import Annotated

import typer

from engine import __version__
from engine.cli import bench, chats, corpus, evaluate, guards, rules, run, train, users
from engine.cli.errors import run_guarded

app = typer.Typer(
    name="anamnesis",
    help="Operations console and headless engine of a consumer-health assistant, in Russian and English.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True)] = False,
) -> None:
    """Options of every command."""


for room in (run, users, chats, corpus, guards, rules, evaluate, bench, train):
    room.register(app)


SWITCH_SECONDS = 0.0005
"""How long a thread may keep the interpreter while another waits for it; with the usual 5 ms an encoder that has
finished waits longer than it worked."""


def main() -> None:
    """Entry point of the installed program."""
    sys.setswitchinterval(SWITCH_SECONDS)
    words, debug = without_debug(sys.argv[1:])
    sys.exit(run_guarded(lambda: app(words, standalone_mode=False), debug=debug))


def without_debug(words: list[str]) -> tuple[list[str], bool]:
    """The command line without `--debug`, wherever it stands, and whether it did; what follows `--` is text."""
    end = words.index("--") if "--" in words else len(words)
    kept = [word for word in words[:end] if word != "--debug"]
    return kept + words[end:], len(kept) < end
