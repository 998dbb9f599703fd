"""What runs on this machine, as one dictionary and as a table."""

from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from engine.app import threshold_is_guessed
from engine.cli.running.deployment import Deployment
from engine.cli.running.facts import corpus_facts, newest_revision, place, reach, schema_revision
from engine.cli.running.findings import EXPECTED
from engine.cli.running.machine import CALIBRATE, GUESSED
from engine.cli.running.parts import answers, api_health, api_liveness, console_health, unready
from engine.cli.running.runfile import held, read_record

Status = dict[str, Any]


def read_status(deployment: Deployment) -> Status:
    """Ask every part; nothing is started."""
    database = _database(deployment)
    return {
        "supervisor": _supervisor(deployment),
        "database": database,
        "api": _api(deployment),
        "console": {"up": answers(console_health(deployment)), "address": deployment.console_address},
        "corpus": _ask(lambda: corpus_facts(deployment.urls().console)) if database["up"] else None,
        "schema": {
            "revision": _ask(lambda: schema_revision(deployment.urls().admin)) if database["up"] else None,
            "newest": newest_revision(),
        },
        "threshold": {"guessed": _ask(lambda: threshold_is_guessed(deployment.settings))},
    }


def show_status(found: Status, out: Console) -> None:
    """The same for a person."""
    table = Table("part", "state", "where", box=None)
    for name in ("database", "api", "console"):
        part = found[name]
        state = Text("up", style="green") if part["up"] else Text("down", style="red")
        if part["up"] and not part.get("ready", True):
            state = Text("up, not ready", style="yellow")
        table.add_row(name, state, Text(part["address"] or part.get("detail") or ""))
    out.print(table)
    corpus, schema, supervisor = found["corpus"], found["schema"], found["supervisor"]
    if found["api"]["up"] and found["api"]["detail"]:
        out.print(Text(f"The API is not ready: {found['api']['detail']}", style="yellow"), soft_wrap=True)
    if corpus:
        spaces = ", ".join(corpus["spaces"])
        line = f"corpus: {corpus['documents']} documents, {corpus['chunks']} chunks, vectors of {spaces}"
        out.print(line, highlight=False, soft_wrap=True)
    if schema["revision"]:
        newer = "" if schema["revision"] == schema["newest"] else f" (newest: {schema['newest']})"
        out.print(f"schema: {schema['revision']}{newer}", highlight=False, soft_wrap=True)
    if found["threshold"]["guessed"]:
        out.print(Text(f"{GUESSED[0].upper()}{GUESSED[1:]}. {CALIBRATE}", style="yellow"), soft_wrap=True)
    if supervisor["reason"]:
        out.print(Text(supervisor["reason"], style="yellow"), soft_wrap=True)


def _supervisor(deployment: Deployment) -> Status:
    """The process that `up` left or became; `reason` is why the last one ended, when nobody asked it to."""
    running, record = held(deployment.run_file), read_record(deployment.run_file)
    reason = record.reason if record and not running else ""
    if record and not running and record.state != "stopped":
        left = [part.name for part in record.parts if part.process.alive()]
        reason = "The supervisor was killed." + (f" Still alive: {', '.join(left)}." if left else "")
    return {"up": running, "pid": record.process.pid if record and running else None, "reason": reason}


def _api(deployment: Deployment) -> Status:
    """`detail` is the API's own word on why it cannot answer."""
    why = unready(api_health(deployment))
    return {
        "up": why is None or answers(api_liveness(deployment)),
        "ready": why is None,
        "detail": why or "",
        "address": deployment.api_address,
    }


def _database(deployment: Deployment) -> Status:
    kind = "embedded" if deployment.embedded else "own"
    try:
        url = deployment.urls().console
        reach(url)
    except EXPECTED as error:
        return {"up": False, "kind": kind, "address": None, "detail": str(error)}
    return {"up": True, "kind": kind, "address": place(url), "detail": ""}


def _ask(question: Callable[[], Any]) -> Any:
    """The answer, or None from a database that is not migrated or refuses."""
    try:
        return question()
    except EXPECTED:
        return None
