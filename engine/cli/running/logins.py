"""Who may sign in to the console. The file is the console's own; this is the one place where the engine calls it."""

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

from console.users import UsersFileError, add_user, ensure_first_user, generate_password, load, set_password
from engine.cli.errors import CommandError
from engine.cli.running.deployment import Deployment
from engine.wire.staff import Role


def check_logins(deployment: Deployment) -> None:
    """Look whether the file can be used; it need not be there yet.

    Raises:
        CommandError: it cannot.
    """
    with _users_file(deployment):
        load(deployment.users_file)


def first_login(deployment: Deployment, out: Console) -> None:
    """Make the console's first user and show the password, this once."""
    check_logins(deployment)
    with _users_file(deployment):
        login = ensure_first_user(deployment.users_file)
    if login:
        user, password = login
        out.print(
            f"First login, shown once: user [bold]{user}[/], password [bold]{password}[/]",
            highlight=False,
            soft_wrap=True,
        )


def new_password() -> str:
    """One that nobody can guess and everybody can type."""
    return generate_password()


def add_login(deployment: Deployment, name: str, password: str, roles: list[Role], first_name: str) -> None:
    """Let somebody in.

    Raises:
        CommandError: the name is taken, the password is poor, or the file cannot be used.
    """
    with _users_file(deployment):
        add_user(deployment.users_file, name, password, first_name=first_name, roles=roles)


def change_password(deployment: Deployment, name: str, password: str) -> None:
    """Give somebody a new password; who is signed in with the old one is signed out.

    Raises:
        CommandError: there is no such user, the password is poor, or the file cannot be used.
    """
    with _users_file(deployment):
        set_password(deployment.users_file, name, password)


@contextmanager
def _users_file(deployment: Deployment) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        text = str(error)
        raise CommandError(f"{text[:1].upper()}{text[1:]}.") from None
    except (OSError, UsersFileError) as error:
        if not isinstance(error.__cause__ or error, OSError):
            raise CommandError(
                f"{deployment.users_file} is damaged: restore it, or remove it and run `anamnesis up` "
                "for a new first login."
            ) from None
        raise CommandError(f"{deployment.users_file} cannot be used ({error}). Mend its rights.") from None
