"""Commands that run the system: `up`, `down`, `status`, `doctor`, `serve`, `console`, `token`."""

import sys
from datetime import timedelta
from typing import Annotated, get_args

import typer
from rich.console import Console

from engine.cli.batch import emit
from engine.cli.options import AsJson
from engine.cli.running.deployment import Deployment
from engine.settings import load_settings
from engine.wire.staff import Scope

SCOPES = ", ".join(get_args(Scope))


def register(app: typer.Typer) -> None:
    """Add the commands to the program; each loads what it needs when it is called."""
    app.command(epilog="Example: anamnesis up --detach")(up)
    app.command(epilog="Example: anamnesis down")(down)
    app.command(epilog="Example: anamnesis status --json")(status)
    app.command(epilog="Example: anamnesis doctor")(doctor)
    app.command(epilog="Example: ANAMNESIS_API_PORT=8080 anamnesis serve")(serve)
    app.command(epilog="Example: anamnesis console --port 8501")(console)
    app.command(epilog="Example: anamnesis token --user anna --hours 8")(token)
    app.command(hidden=True)(supervise)


def up(
    detach: Annotated[bool, typer.Option("--detach", help="Leave everything running in the background.")] = False,
) -> None:
    """Start database, API and console; prints the addresses and, once, the first login. Safe to repeat."""
    from engine.cli.running import up as running

    running.up(_deployment(), Console(), detach=detach)


def supervise() -> None:
    """The second half of `up`."""
    from engine.cli.running import up as running

    running.supervise(_deployment(), Console())


def down() -> None:
    """Stop API, console and the embedded database."""
    from engine.cli.running import up as running

    running.down(_deployment(), Console())


def status(as_json: AsJson = False) -> None:
    """What runs, where, with which corpus and schema; starts nothing."""
    from engine.cli.running.status import read_status, show_status

    found = read_status(_deployment())
    if as_json:
        emit(found)
    else:
        show_status(found, Console())


def doctor(as_json: AsJson = False) -> None:
    """Examine machine, settings, database and models; exit code 1 when something is to be mended."""
    from engine.cli.running.doctor import examine, show_findings

    findings = examine(_deployment())
    if as_json:
        emit({"ok": all(finding.ok for finding in findings), "findings": [vars(finding) for finding in findings]})
    else:
        show_findings(findings, Console())
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


def serve() -> None:
    """Serve the API in this process."""
    from engine.cli.running.serve import serve_api

    serve_api(_deployment())


def console(
    host: Annotated[str | None, typer.Option(help="Address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=1, max=65535, help="Port to listen on.")] = None,
) -> None:
    """Serve the console; Streamlit takes this process over."""
    from engine.cli.running.serve import become_console

    deployment = _deployment()
    settings = deployment.settings
    become_console(deployment, host or settings.console_host, port or settings.console_port)


def token(
    user: Annotated[str, typer.Option(help="Whose token it is.")],
    scope: Annotated[list[str] | None, typer.Option(help=f"Repeatable. Default: chat. One of {SCOPES}.")] = None,
    hours: Annotated[float, typer.Option(min=0.01, max=8784, help="How long it is good.")] = 1.0,
) -> None:
    """Print a token for the API."""
    from engine.api.tokens import TokenError, issue
    from engine.storage.sessions import tenant_id

    scopes = [name for name in get_args(Scope) if name in (scope or ["chat"])]
    if set(scope or []) - set(scopes):
        raise typer.BadParameter(f"One of {SCOPES}.", param_hint="--scope")
    try:
        signed = issue(_deployment().keys().jwt_key, user, scopes, timedelta(hours=hours))
    except TokenError as error:
        raise typer.BadParameter(str(error), param_hint="--user") from None
    tenant_id(user)
    sys.stdout.write(f"{signed}\n")


def _deployment() -> Deployment:
    return Deployment(load_settings())
