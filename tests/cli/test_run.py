"""`up`, `down` and `status` as a person runs them: real processes, a database and a corpus of their own."""

import json
import re
import socket
import time

import httpx
import pytest

from tests.cli.observe import environment, gone, processes, record, running_record, status

QUICK_SECONDS = 30
"""Far above what saying so takes, far below what a start takes on a busy machine."""


def test_the_first_start_shows_a_login_once(stopped):
    answers = []
    for _ in range(2):
        answers.append(stopped.run("up", "--detach"))
        assert answers[-1].returncode == 0, answers[-1].stderr
        assert stopped.run("down").returncode == 0
    password = re.search(r"user admin, password (\S+)", answers[0].stdout)
    assert password
    assert "password" not in answers[1].stdout
    assert "0 new" in answers[1].stdout
    assert "up to date" in answers[1].stdout
    for log in [*stopped.state_dir.glob("logs/*"), stopped.state_dir / "up.json"]:
        assert password[1] not in log.read_text(encoding="utf-8")


def test_what_was_started_answers(site, detached):
    found = status(site)
    assert found["database"]["up"]
    assert found["database"]["kind"] == "embedded"
    assert found["api"]["up"]
    assert found["api"]["ready"]
    assert found["console"]["up"]
    assert found["supervisor"] == {"up": True, "pid": detached.process.pid, "reason": ""}
    assert found["corpus"]["documents"] == 2
    assert found["schema"]["revision"] == found["schema"]["newest"]
    token = site.run("token", "--user", "anna").stdout.strip()
    answer = httpx.post(
        f"{found['api']['address']}/v1/chat",
        json={"question": "Что показывает гликированный гемоглобин?"},
        headers={"Authorization": f"Bearer {token}"},
        timeout=60,
    )
    assert answer.status_code == 200
    assert answer.json()["lang"] == "ru"


def test_repeating_up_says_so_and_changes_nothing(site, detached):
    began = time.monotonic()
    for arguments in (("up",), ("up", "--detach")):
        answer = site.run(*arguments)
        assert answer.returncode == 0
        assert f"running already (process {detached.process.pid})" in answer.stdout
    assert time.monotonic() - began < QUICK_SECONDS
    assert record(site) == detached


def test_each_child_gets_its_own_secrets_and_no_other(site, detached):
    api, console = (environment(part.process.pid) for part in detached.parts)
    assert {name for name in console if name.startswith("ANAMNESIS_")} == {
        "ANAMNESIS_CONSOLE_URL",
        "ANAMNESIS_API_URL",
        "ANAMNESIS_CONSOLE_KEY",
        "ANAMNESIS_CONSOLE_USERS",
    }
    assert "anamnesis_console" in console["ANAMNESIS_CONSOLE_URL"]
    assert "anamnesis_engine" in api["ANAMNESIS_ENGINE_URL"]
    assert not {"ANAMNESIS_ADMIN_URL", "ANAMNESIS_CONSOLE_URL"} & set(api)
    keys = json.loads((site.state_dir / "keys.json").read_text(encoding="utf-8"))
    for secret in (keys["jwt_key"], keys["hash_key"], api["ANAMNESIS_ENGINE_URL"]):
        assert secret not in console.values()


def test_what_lies_in_the_state_directory_is_private(site, detached):
    for name in ("keys.json", "postgres.json", "console_users.yaml", "up.json", "logs/api.log", "logs/console.log"):
        assert not (site.state_dir / name).stat().st_mode & 0o077, name


def test_down_stops_everything_and_may_be_repeated(site):
    assert site.run("up", "--detach").returncode == 0
    found = record(site)
    answer = site.run("down")
    assert "API and console" in answer.stdout
    assert "embedded database" in answer.stdout
    assert gone(processes(found))
    after = status(site)
    assert not any(after[part]["up"] for part in ("supervisor", "database", "api", "console"))
    assert "Nothing was running" in site.run("down").stdout


@pytest.mark.parametrize("name", ["API", "CONSOLE"])
def test_a_taken_port_is_named_with_its_setting(stopped, name):
    setting = f"ANAMNESIS_{name}_PORT"
    with socket.create_server(("127.0.0.1", int(stopped.environment[setting]))):
        answer = stopped.run("up")
    assert answer.returncode == 1
    lines = answer.stderr.strip().splitlines()
    assert len(lines) == 1
    assert f"Port {stopped.environment[setting]} on 127.0.0.1 is taken" in lines[0]
    assert setting in lines[0]
    assert not status(stopped)["database"]["up"]


def test_one_port_for_both_is_refused(stopped):
    answer = stopped.run("up", ANAMNESIS_CONSOLE_PORT=stopped.environment["ANAMNESIS_API_PORT"])
    assert answer.returncode == 1
    assert "both given port" in answer.stderr


@pytest.mark.parametrize(
    ("name", "content", "cure"),
    [
        ("keys.json", '{"jwt_key": "abc', "Restore it from a backup"),
        ("console_users.yaml", "users: [", "restore it, or remove it and run `anamnesis up` for a new first login"),
    ],
)
def test_a_damaged_file_ends_a_start_before_it_does_anything(fresh_site, name, content, cure):
    (fresh_site.state_dir / name).write_text(content, encoding="utf-8")
    answer = fresh_site.run("up", "--detach")
    assert answer.returncode == 1
    assert answer.stdout == ""
    (line,) = answer.stderr.strip().splitlines()
    assert f"{name} is damaged" in line
    assert cure in line
    assert not (fresh_site.state_dir / "pgdata").exists()


def test_two_starts_at_once_make_one(stopped, tmp_path):
    starts = [stopped.spawn("up", "--detach", output=tmp_path / f"{index}.txt") for index in range(2)]
    assert [start.wait(240) for start in starts] == [0, 0]
    said = [(tmp_path / f"{index}.txt").read_text(encoding="utf-8") for index in range(2)]
    assert sum("Console:" in text for text in said) == 1
    running_record(stopped)
