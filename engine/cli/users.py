"""Commands on who may sign in to the console: `users add`, `users password`."""

import sys
from typing import Annotated, get_args

import typer

from engine.cli.running.deployment import Deployment
from engine.settings import load_settings
from engine.wire.staff import Role

ROLES = ", ".join(get_args(Role))
Name = Annotated[str, typer.Argument(help="The name that is typed at the login.")]
Generate = Annotated[bool, typer.Option("--generate", help="Make a password and print it, this once.")]


def register(app: typer.Typer) -> None:
    """Add the commands to the program; each loads what it needs when it is called."""
    room = typer.Typer(
        help="Who may sign in to the console. The password is asked for without echo, or read from standard input.",
        no_args_is_help=True,
    )
    app.add_typer(room, name="users")
    room.command(epilog="Example: anamnesis users add anna --role safety")(add)
    room.command(epilog="Example: anamnesis users password admin --generate")(password)


def add(
    name: Name,
    role: Annotated[list[str], typer.Option(help=f"Repeatable. One of {ROLES}.")],
    first_name: Annotated[str, typer.Option(help="How the console greets; by default the name.")] = "",
    generate: Generate = False,
) -> None:
    """Let somebody sign in."""
    from engine.cli.running.logins import add_login

    roles = [known for known in get_args(Role) if known in role]
    if set(role) - set(roles):
        raise typer.BadParameter(f"One of {ROLES}.", param_hint="--role")
    chosen = _password(generate)
    add_login(Deployment(load_settings()), name, chosen, roles, first_name or name)
    _tell(chosen, generate)


def password(name: Name, generate: Generate = False) -> None:
    """Give somebody a new password, which signs them out everywhere."""
    from engine.cli.running.logins import change_password

    chosen = _password(generate)
    change_password(Deployment(load_settings()), name, chosen)
    _tell(chosen, generate)


def _password(generate: bool) -> str:
    from engine.cli.running.logins import new_password

    if generate:
        return new_password()
    if sys.stdin.isatty():
        typed: str = typer.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
        return typed
    return sys.stdin.readline().rstrip("\r\n")


def _tell(chosen: str, generate: bool) -> None:
    """A generated password goes to standard output, alone, so that a program can take it."""
    if generate:
        sys.stdout.write(f"{chosen}\n")
