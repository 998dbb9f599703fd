"""`doctor` on a good deployment and on broken ones; `serve` and `console` beside a database of one's own."""

import json
import subprocess

import httpx
import pytest

from engine.storage.embedded import EmbeddedPostgres
from tests.cli.observe import status
from tests.cli.site import Site
from tests.models.tiny import make_reranker
from tests.polling import eventually

KEYS = {f"ANAMNESIS_{name}_KEY": name[0].lower() * 32 for name in ("HASH", "JWT", "CONSOLE")}


def findings(site: Site, **changes: str) -> tuple[int, dict[str, dict]]:
    answer = site.run("doctor", "--json", **changes)
    assert "Traceback" not in answer.stderr
    told = json.loads(answer.stdout)
    assert told["ok"] == (answer.returncode == 0) == all(finding["ok"] for finding in told["findings"])
    return answer.returncode, {finding["name"]: finding for finding in told["findings"]}


@pytest.fixture(scope="module")
def own(site: Site) -> dict[str, str]:
    """Settings of a database of one's own: the embedded server, named by its URLs."""
    for command in ("migrate", "seed"):
        assert site.run(command).returncode == 0
    urls = EmbeddedPostgres(site.state_dir).urls()
    return {
        "ANAMNESIS_ADMIN_URL": urls.admin,
        "ANAMNESIS_ENGINE_URL": urls.engine,
        "ANAMNESIS_CONSOLE_URL": urls.console,
    } | KEYS


def test_a_machine_before_the_first_start_is_sound_and_stays_untouched(fresh_site):
    before = sorted(fresh_site.state_dir.iterdir())
    code, found = findings(fresh_site)
    assert code == 0
    assert "not running" in found["database"]["found"]
    assert "not made yet" in found["keys"]["found"]
    assert sorted(fresh_site.state_dir.iterdir()) == before


def test_a_good_deployment(site, own):
    code, found = findings(site)
    assert code == 0, found
    assert found["PostgreSQL"]["found"].startswith("16.")
    assert found["Cyrillic letters"]["found"] == "lower('Ж') = 'ж'"
    assert found["encoding"]["found"] == "UTF8"
    assert {f"connection as {role}" for role in ("admin", "engine", "console")} <= set(found)
    assert "language model" in found
    answer = site.run("doctor")
    assert all(line.startswith("ok ") for line in answer.stdout.strip().splitlines())


def test_a_database_of_ones_own(site, own):
    code, found = findings(site, **own)
    assert code == 0, found
    assert found["keys"]["ok"]


def test_a_url_that_leads_nowhere(site, own):
    code, found = findings(
        site, **own | {"ANAMNESIS_CONSOLE_URL": "postgresql+psycopg://anamnesis_console:secret-word@127.0.0.1:1/x"}
    )
    assert code == 1
    assert not found["connection as console"]["ok"]
    assert found["connection as engine"]["ok"]
    assert "secret-word" not in json.dumps(found)


@pytest.mark.parametrize("missing", [*KEYS, "ANAMNESIS_ADMIN_URL"])
def test_what_is_missing_is_named(site, own, missing):
    kept = {name: value for name, value in own.items() if name != missing}
    code, found = findings(site, **kept)
    assert code == 1
    assert missing in json.dumps(found)


def test_a_short_key_is_named(site, own):
    code, found = findings(site, **own | {"ANAMNESIS_JWT_KEY": "short"})
    assert code == 1
    assert "ANAMNESIS_JWT_KEY must have 32 bytes" in found["keys"]["found"]


def test_a_language_model_that_is_not_there(site, own):
    code, found = findings(site, ANAMNESIS_LLM_URL="http://127.0.0.1:1/v1", ANAMNESIS_LLM_MODEL="any")
    assert code == 1
    assert "not reachable" in found["language model"]["found"]


def test_a_threshold_that_is_calibrated(site, own):
    _, found = findings(site)
    assert found["relevance threshold"]["found"] == "made for the active models"
    assert "not calibrated" not in site.run("status").stdout
    assert status(site)["threshold"] == {"guessed": False}


def test_a_threshold_that_is_a_guess_is_told_by_doctor_and_status(site, own):
    other = {"ANAMNESIS_EMBEDDER": "sentence_transformers", "ANAMNESIS_EMBEDDER_MODEL": "/nowhere/other-encoder"}
    told = "the relevance threshold is not calibrated for these encoders"
    _, found = findings(site, **other)
    assert found["relevance threshold"]["ok"], "it stops nothing"
    assert told in found["relevance threshold"]["found"]
    assert told in site.run("status", **other).stdout.lower()
    assert json.loads(site.run("status", "--json", **other).stdout)["threshold"] == {"guessed": True}
    chosen = other | {"ANAMNESIS_RELEVANCE_THRESHOLD": "0.4"}
    _, found = findings(site, **chosen)
    assert told not in found["relevance threshold"]["found"]
    assert told not in site.run("status", **chosen).stdout.lower()


def test_a_reranker_that_is_not_there_is_told_in_one_line(site, own):
    code, found = findings(site, ANAMNESIS_RERANKER_MODEL="/nowhere/reranker")
    assert code == 1
    assert not found["reranker"]["ok"]
    assert "/nowhere/reranker" in found["reranker"]["found"]
    assert "\n" not in found["reranker"]["found"]
    assert findings(site)[1]["reranker"]["found"].startswith("not configured")


@pytest.mark.parametrize(("fitting", "ok"), [(6.0, True), (-6.0, False)])
def test_a_reranker_is_tried_on_pairs(site, own, tmp_path, fitting, ok):
    pytest.importorskip("sentence_transformers", reason="needs the extra models")
    folder = make_reranker(tmp_path / "reranker", fitting=fitting)
    _, found = findings(site, ANAMNESIS_RERANKER_MODEL=str(folder), ANAMNESIS_MODELS_DEVICE="cpu")
    assert found["reranker"]["ok"] == ok
    assert ok or "is no reranker that can be used" in found["reranker"]["found"]


def test_a_secret_that_is_open_to_others(site, own):
    keys = site.state_dir / "keys.json"
    site.run("token", "--user", "anna")
    keys.chmod(0o644)
    try:
        code, found = findings(site)
    finally:
        keys.chmod(0o600)
    assert code == 1
    assert "chmod 600" in found["keys.json"]["cure"]


def test_a_role_that_row_level_security_does_not_hold(site, own, as_admin):
    as_admin("ALTER ROLE anamnesis_engine BYPASSRLS")
    try:
        code, found = findings(site)
    finally:
        as_admin("ALTER ROLE anamnesis_engine NOBYPASSRLS")
    assert code == 1
    assert "anamnesis_engine" in found["rights of the roles"]["found"]


def terminate(process: "subprocess.Popen[bytes]") -> int:
    process.terminate()
    return process.wait(60)


def test_serve_needs_the_engines_connection_alone(site, own, tmp_path):
    output = tmp_path / "serve.txt"
    kept = {name: own[name] for name in ("ANAMNESIS_ENGINE_URL", *KEYS)}
    process = Site(site.state_dir, site.environment | kept).spawn("serve", output=output)
    address = f"http://127.0.0.1:{site.environment['ANAMNESIS_API_PORT']}"
    try:
        eventually(lambda: answers(f"{address}/readyz"), seconds=90, what="the API")
    finally:
        terminate(process)
    assert "Traceback" not in output.read_text(encoding="utf-8")


def test_console_needs_its_own_connection_and_key_alone(site, own, tmp_path):
    output = tmp_path / "console.txt"
    kept = {name: own[name] for name in ("ANAMNESIS_CONSOLE_URL", "ANAMNESIS_CONSOLE_KEY")}
    process = Site(site.state_dir, site.environment | kept).spawn("console", output=output)
    address = f"http://127.0.0.1:{site.environment['ANAMNESIS_CONSOLE_PORT']}"
    try:
        eventually(lambda: answers(f"{address}/_stcore/health"), seconds=90, what="the console")
    finally:
        terminate(process)


@pytest.mark.parametrize(
    ("command", "given", "named"),
    [
        ("serve", ["ANAMNESIS_CONSOLE_URL", *KEYS], "ANAMNESIS_ENGINE_URL"),
        ("serve", ["ANAMNESIS_ENGINE_URL"], "ANAMNESIS_HASH_KEY, ANAMNESIS_JWT_KEY, ANAMNESIS_CONSOLE_KEY"),
        ("console", ["ANAMNESIS_ENGINE_URL", *KEYS], "ANAMNESIS_CONSOLE_URL"),
        ("console", ["ANAMNESIS_CONSOLE_URL"], "ANAMNESIS_CONSOLE_KEY"),
        ("up", ["ANAMNESIS_ENGINE_URL", *KEYS], "ANAMNESIS_ADMIN_URL, ANAMNESIS_CONSOLE_URL"),
    ],
)
def test_a_missing_setting_is_named_in_one_line(site, own, command, given, named):
    answer = site.run(command, **{name: own[name] for name in given})
    assert answer.returncode == 1
    assert len(answer.stderr.strip().splitlines()) == 1
    assert named in answer.stderr


def answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
