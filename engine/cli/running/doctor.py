"""`doctor`: every part of a deployment in one line, with what to do where something is wrong."""

from collections.abc import Iterator
from functools import partial

from rich.console import Console
from rich.text import Text

from engine.cli.running import machine
from engine.cli.running.deployment import Deployment
from engine.cli.running.facts import corpus_state, newest_revision, place, reach, schema_revision, server_facts
from engine.cli.running.findings import Check, Finding, guarded
from engine.knowledge.seeding import space_mismatch
from engine.models.registry import embedders
from engine.storage.errors import StorageError

ROLES = {"anamnesis_owner", "anamnesis_engine", "anamnesis_console"}
BOOTSTRAP = "Run `anamnesis migrate --bootstrap`."


def examine(deployment: Deployment) -> list[Finding]:
    """Look at everything; the embedded server is not started for it."""
    checks: list[tuple[str, Check]] = [
        ("python", machine.check_python),
        ("packages", machine.check_wheels),
        ("processor", machine.check_processor),
        ("state directory", partial(machine.check_state_dir, deployment)),
        ("keys", partial(machine.check_keys, deployment)),
        ("ports", partial(machine.check_ports, deployment)),
        ("database", partial(check_database, deployment)),
        ("corpus", partial(check_corpus, deployment)),
        ("models", partial(machine.check_models, deployment)),
        ("relevance threshold", partial(machine.check_threshold, deployment)),
        ("reranker", partial(machine.check_reranker, deployment)),
        ("language model", partial(machine.check_language_model, deployment)),
    ]
    return [finding for name, check in checks for finding in guarded(name, check)]


def show_findings(findings: list[Finding], out: Console) -> None:
    """One line a finding."""
    for finding in findings:
        mark = Text("ok      ", style="green") if finding.ok else Text("problem ", style="bold red")
        cure = f" {finding.cure}" if not finding.ok and finding.cure else ""
        out.print(mark + Text(f"{finding.name}: {finding.found}{cure}"), soft_wrap=True)


def check_database(deployment: Deployment) -> Iterator[Finding]:
    """The server, the roles on it, and every connection."""
    if (embedded := deployment.embedded) is not None and not embedded.running():
        yield Finding("database", True, "embedded, not running; `anamnesis up` starts it")
        return
    urls = deployment.urls()
    reachable = {}
    for role in ("admin", "engine", "console"):
        finding = _reached(role, getattr(urls, role))
        reachable[role] = finding.ok
        yield finding
    if not reachable["admin"]:
        return
    yield from _server(urls.admin)
    newest, present = newest_revision(), schema_revision(urls.admin)
    yield Finding(
        "schema", present == newest, present or "not there yet", "" if present == newest else "Run `anamnesis migrate`."
    )


def check_corpus(deployment: Deployment) -> Iterator[Finding]:
    """What is stored, and whether the active encoders can search it."""
    if (embedded := deployment.embedded) is not None and not embedded.running():
        yield Finding("corpus", True, "not examined: the embedded database is not running")
        return
    state = corpus_state(deployment.urls().engine)
    if state is None:
        yield Finding("corpus", False, "nothing is stored yet", "Run `anamnesis seed`.")
        return
    active = {embedder.space: embedder.model for embedder in embedders(deployment.settings)}
    fits = active.items() <= state.models.items()
    size = f"{state.documents} documents, {state.chunks} chunks"
    if fits:
        yield Finding("corpus", True, f"{size}, vectors of {', '.join(sorted(state.models))}")
    else:
        yield Finding("corpus", False, f"{size}. {space_mismatch(state.models, active)}")


def _reached(role: str, url: str) -> Finding:
    try:
        reach(url)
    except StorageError as error:
        return Finding(f"connection as {role}", False, str(error))
    return Finding(f"connection as {role}", True, place(url))


def _server(admin_url: str) -> Iterator[Finding]:
    facts = server_facts(admin_url)
    major = int(facts.version.split(".")[0])
    yield Finding("PostgreSQL", major >= 16, facts.version, "16 or newer is needed.")
    yield Finding("encoding", facts.encoding == "UTF8", facts.encoding, "Create the database with encoding UTF8.")
    yield Finding(
        "Cyrillic letters",
        facts.folds_cyrillic,
        "lower('Ж') = 'ж'" if facts.folds_cyrillic else "lower('Ж') leaves the letter as it is",
        "Create the database with locale C.UTF-8; Russian words are not found otherwise.",
    )
    new_enough = facts.pgvector is not None and _version(facts.pgvector) >= (0, 8)
    yield Finding(
        "pgvector", new_enough, facts.pgvector or "missing", f"0.8 or newer is needed. Install it there. {BOOTSTRAP}"
    )
    missing = sorted(ROLES - set(facts.roles))
    yield Finding("roles", not missing, f"missing: {', '.join(missing)}" if missing else "all there", BOOTSTRAP)
    mighty = ROLES & set(facts.mighty)
    yield Finding(
        "rights of the roles",
        not mighty,
        f"superuser or BYPASSRLS: {', '.join(sorted(mighty))}" if mighty else "held by row level security",
        "Run `ALTER ROLE … NOSUPERUSER NOBYPASSRLS` for each as the administrator.",
    )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])
