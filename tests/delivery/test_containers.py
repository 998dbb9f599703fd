"""Dockerfile and compose file, read without an engine: what they copy, run, set and publish is real."""

import re
import shlex
from pathlib import Path

import pytest
import typer.main
import yaml

from engine.cli.main import app
from engine.settings import Settings

ROOT = Path(__file__).parents[2]
OTHER_VARIABLES = {"ANAMNESIS_CONSOLE_USERS"}


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    """Instructions and their arguments, continued lines joined, comments left out."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines()
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined)]


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def commands() -> set[str]:
    return set(typer.main.get_command(app).commands)


def words(command: list[str]) -> list[list[str]]:
    """The programs that a command line starts, a shell's own line taken apart."""
    if command[:2] == ["sh", "-c"]:
        return [shlex.split(part) for part in command[2].split("&&")]
    return [command]


def test_what_the_image_copies_exists_and_reaches_the_builder(dockerfile):
    sent = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    copies = [shlex.split(rest) for word, rest in dockerfile if word == "COPY"]
    for source in (source for copy in copies if not copy[0].startswith("--from") for source in copy[:-1]):
        assert (ROOT / source).exists(), source
        assert source.rstrip("/") in sent, source


def test_the_image_is_sound(dockerfile):
    said = [word for word, _ in dockerfile]
    images = [rest.split()[0] for word, rest in dockerfile if word == "FROM"]
    assert set(images) == {"python:3.11-slim"}
    assert ("USER", "anamnesis") in dockerfile
    assert said.index("USER") > max(index for index, word in enumerate(said) if word == "RUN")
    assert "HEALTHCHECK" in said
    assert "ADD" not in said
    assert not [rest for word, rest in dockerfile if word == "RUN" and re.search(r"\bsudo\b|curl|wget", rest)]
    assert "/models" in next(rest for word, rest in dockerfile if word == "VOLUME")
    assert not [rest for word, rest in dockerfile if word in {"ENV", "ARG"} and re.search(r"_(KEY|PASSWORD)=", rest)]


def test_torch_comes_only_with_the_models_and_only_for_the_processor(dockerfile):
    torch = [rest for word, rest in dockerfile if word == "RUN" and "torch" in rest]
    assert len(torch) == 1
    assert torch[0].startswith('if [ "$EXTRAS" = models ]')
    assert "torch.version.cuda is None" in torch[0]
    assert ("ARG", 'EXTRAS=""') in dockerfile
    pinned = re.search(r'models = \["(torch==[^"]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned
    assert f" {pinned[1]} " in torch[0]


def test_what_runs_in_containers_is_a_command_of_the_program(dockerfile, compose):
    lines = [yaml.safe_load(rest) for word, rest in dockerfile if word == "CMD"]
    lines += [service["command"] for service in compose["services"].values() if "command" in service]
    started = [program for line in lines for program in words(line)]
    assert len(started) == 5
    for program, command, *options in started:
        assert program == "anamnesis"
        assert command in commands()
        known = {name for option in typer.main.get_command(app).commands[command].params for name in option.opts}
        assert set(options) <= known


def test_every_variable_is_a_setting(dockerfile, compose):
    named = {
        variable
        for service in compose["services"].values()
        for variable in service.get("environment", {})
        if variable.startswith("ANAMNESIS_")
    }
    named |= {name for word, rest in dockerfile if word == "ENV" for name in re.findall(r"(ANAMNESIS_\w+)=", rest)}
    settings = {f"ANAMNESIS_{name.upper()}" for name in Settings.model_fields}
    assert named
    assert named <= settings | OTHER_VARIABLES


def test_every_secret_is_asked_for_and_none_is_given(compose):
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{(\w+)[:}]", text))
    offered = dict(line.split("=", 1) for line in example.splitlines() if line and not line.startswith("#"))
    assert asked == set(offered)
    assert set(offered.values()) == {""}
    optional = {"ANAMNESIS_LLM_URL", "ANAMNESIS_LLM_KEY", "ANAMNESIS_LLM_MODEL"}
    assert asked - optional <= set(re.findall(r"\$\{(\w+):\?", text)), "a missing secret must stop the start"
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if re.search("KEY|PASSWORD|URL", name) and name != "ANAMNESIS_API_URL":
                assert "${" in value, name


def test_each_service_gets_the_connections_that_it_needs_and_no_other(compose):
    given = {
        name: {variable for variable in service.get("environment", {}) if variable.endswith("_URL")}
        for name, service in compose["services"].items()
    }
    assert given["engine"] == {"ANAMNESIS_ENGINE_URL", "ANAMNESIS_LLM_URL"}
    assert given["console"] == {"ANAMNESIS_CONSOLE_URL", "ANAMNESIS_API_URL"}
    assert {"ANAMNESIS_JWT_KEY", "ANAMNESIS_HASH_KEY"}.isdisjoint(compose["services"]["console"]["environment"])


def test_only_api_and_proxy_are_published_and_only_to_this_machine(compose):
    published = {name: service["ports"] for name, service in compose["services"].items() if "ports" in service}
    assert set(published) == {"engine", "proxy"}
    assert all(port.startswith("127.0.0.1:") for ports in published.values() for port in ports)


def test_streamlits_own_metrics_stay_inside():
    proxy = (ROOT / ".ci" / "nginx.conf").read_text(encoding="utf-8")
    assert re.search(r"location \^~ /_stcore/metrics \{\s*return 404;", proxy)


def test_services_start_in_order_and_volumes_are_declared(compose):
    services = compose["services"]
    assert services["migrate"]["depends_on"] == {"postgres": {"condition": "service_healthy"}}
    assert services["engine"]["depends_on"] == {"migrate": {"condition": "service_completed_successfully"}}
    assert services["postgres"]["image"] == "pgvector/pgvector:pg16"
    used = {
        volume.split(":")[0]
        for service in services.values()
        for volume in service.get("volumes", [])
        if not volume.startswith("./")
    }
    assert used == set(compose["volumes"])
    for service in services.values():
        for volume in service.get("volumes", []):
            assert not volume.startswith("./") or (ROOT / volume.split(":")[0]).exists()
