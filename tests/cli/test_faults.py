"""What was damaged, lost or asked wrongly, told by the commands as a person runs them."""

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from engine.models.embedding.nano import supported
from tests.cli.observe import status
from tests.cli.site import Site
from tests.polling import eventually


@pytest.fixture(scope="module")
def seeded(site: Site) -> Site:
    assert site.run("seed").returncode == 0
    return site


@pytest.fixture
def without_english(seeded: Site) -> Iterator[Site]:
    """One of two documents is gone from the disk."""
    kept = seeded.state_dir / "kept"
    shutil.move(seeded.state_dir / "corpus" / "en", kept)
    try:
        yield seeded
    finally:
        shutil.move(kept, seeded.state_dir / "corpus" / "en")
        assert seeded.run("seed").returncode == 0


def lines(site: Site, command: str, *given: str) -> list[dict]:
    answer = subprocess.run(
        site.command(command), env=site.environment, input="\n".join(given), capture_output=True, text=True,
        timeout=240, check=False,
    )  # fmt: skip
    assert answer.returncode == 0, answer.stderr
    return [json.loads(line) for line in answer.stdout.splitlines()]


def corpus_finding(site: Site, **changes: str) -> dict:
    findings = json.loads(site.run("doctor", "--json", **changes).stdout)["findings"]
    return next(finding for finding in findings if finding["name"] == "corpus")


def test_a_batch_answers_a_wrong_line_by_its_id_and_goes_on(seeded: Site) -> None:
    assert lines(seeded, "ask", '{"id": 1, "question": " \u200b"}') == [{"id": 1, "error": "question: it is empty"}]
    found = lines(
        seeded,
        "retrieve",
        '{"id": 1, "query": ""}',
        '{"id": 2, "query": "x", "min_score": 1e999}',
        '{"id": 3, "query": "x", "k": true}',
        '{"id": 4, "query": "x", "min_score": "0"}',
        json.dumps({"id": 5, "query": "x" * 4_001}),
        '{"id": 6, "query": "HbA1c", "k": 1}',
    )
    assert [line["id"] for line in found] == [1, 2, 3, 4, 5, 6]
    assert [line["error"] for line in found[:-1]] == [
        "query: it is empty",
        "a number of the line is too large",
        "k: Input should be a valid integer",
        "min_score: Input should be a valid number",
        "query: Text should have at most 4,000 characters, not 4,001",
    ]
    assert len(found[-1]["hits"]) == 1


@pytest.mark.parametrize("command", ["seed", "reembed", "up"])
def test_a_lost_language_is_not_taken_for_a_deletion(without_english: Site, command: str) -> None:
    answer = without_english.run(command)
    assert answer.returncode == 1
    (line,) = answer.stderr.strip().splitlines()
    assert "1 of the 2 stored documents are not in the corpus on disk" in line
    assert "--allow-removal" in line
    assert status(without_english)["corpus"]["documents"] == 2


def test_a_removal_that_is_meant_is_done(without_english: Site) -> None:
    answer = without_english.run("seed", "--allow-removal")
    assert answer.returncode == 0, answer.stderr
    assert "1 removed" in answer.stdout
    assert status(without_english)["corpus"]["documents"] == 1


def test_doctor_says_whether_the_active_encoders_fit_the_corpus(seeded: Site) -> None:
    found = corpus_finding(seeded)
    assert found["ok"]
    assert found["found"].startswith("2 documents, ")
    assert found["found"].endswith("vectors of use512")
    assert "vectors of use512" in seeded.run("status").stdout
    if supported():
        found = corpus_finding(seeded, ANAMNESIS_EMBEDDER="embedded")
        assert not found["ok"]
        assert "nano384" in found["found"]
        assert "`anamnesis reembed`" in found["found"]


def test_an_api_that_is_not_ready_says_why_and_holds_its_own_port(seeded: Site, as_admin, tmp_path) -> None:
    process = seeded.spawn("serve", output=tmp_path / "serve.txt")
    address = f"http://127.0.0.1:{seeded.environment['ANAMNESIS_API_PORT']}"
    try:
        eventually(lambda: _ready(address), seconds=90, what="the API")
        as_admin("DELETE FROM knowledge.corpus_state")
        found = status(seeded)["api"]
        assert (found["up"], found["ready"]) == (True, False)
        assert found["detail"] == "The database holds no corpus. Run `anamnesis seed`."
        assert f"The API is not ready: {found['detail']}" in seeded.run("status").stdout
        findings = {each["name"]: each for each in json.loads(seeded.run("doctor", "--json").stdout)["findings"]}
        assert findings[f"port {seeded.environment['ANAMNESIS_API_PORT']}"]["ok"]
        assert findings["corpus"] == {
            "name": "corpus", "ok": False, "found": "nothing is stored yet", "cure": "Run `anamnesis seed`."
        }  # fmt: skip
    finally:
        process.terminate()
        process.wait(60)
        assert seeded.run("seed").returncode == 0


def test_both_taken_ports_are_told_at_once(seeded: Site) -> None:
    ports = [int(seeded.environment[f"ANAMNESIS_{name}_PORT"]) for name in ("API", "CONSOLE")]
    with socket.create_server(("127.0.0.1", ports[0])), socket.create_server(("127.0.0.1", ports[1])):
        answer = seeded.run("up")
    assert answer.returncode == 1
    (line,) = answer.stderr.strip().splitlines()
    assert all(f"Port {port} on 127.0.0.1 is taken" in line for port in ports)


def _ready(address: str) -> bool:
    try:
        return httpx.get(f"{address}/readyz", timeout=2).status_code == 200
    except httpx.HTTPError:
        return False
