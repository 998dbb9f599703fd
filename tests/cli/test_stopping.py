"""Signals, deaths and leftovers: nothing stays half made, and nobody else is hurt."""

import json
import os
import signal
import subprocess

import pytest

from engine.cli.running.runfile import read_record
from engine.storage.embedded import EmbeddedPostgres
from tests.cli.observe import gone, processes, record, running_record, status
from tests.polling import eventually
from tests.storage.embedded_support import postmaster


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_start_in_the_foreground(stopped, tmp_path, number):
    output = tmp_path / "up.txt"
    process = stopped.spawn("up", output=output)
    found = running_record(stopped)
    assert found.process.pid == process.pid
    process.send_signal(number)
    assert process.wait(60) == 0
    assert gone(processes(found))
    said = output.read_text(encoding="utf-8")
    assert "Traceback" not in said
    assert "Stopped." in said
    assert status(stopped)["supervisor"] == {"up": False, "pid": None, "reason": ""}


@pytest.mark.parametrize(
    "awaited", ["up.json", "postgres.json", "Database", "Schema", "Corpus", "Recorded runs", "logs/api.log"]
)
def test_a_start_can_be_stopped_at_any_moment(fresh_site, tmp_path, awaited):
    output = tmp_path / "up.txt"
    process = fresh_site.spawn("up", output=output)

    def reached() -> bool:
        seen = (fresh_site.state_dir / awaited).exists() or awaited in output.read_text(encoding="utf-8")
        return seen or process.poll() is not None

    eventually(reached, seconds=240, what=awaited)
    process.send_signal(signal.SIGINT)
    code = process.wait(90)
    said = output.read_text(encoding="utf-8")
    assert code in (0, 130), said
    assert "Traceback" not in said
    found = read_record(fresh_site.state_dir / "up.json")
    assert found is None or gone(processes(found))
    again = fresh_site.run("up", "--detach")
    assert again.returncode == 0, again.stdout + again.stderr
    assert status(fresh_site)["api"]["ready"]


def test_a_part_that_dies_takes_the_other_along_and_is_named(stopped, tmp_path):
    output = tmp_path / "up.txt"
    process = stopped.spawn("up", output=output)
    found = running_record(stopped)
    os.kill(found.parts[0].process.pid, signal.SIGKILL)
    assert process.wait(60) == 1
    assert gone(processes(found))
    told = [line for line in output.read_text(encoding="utf-8").splitlines() if "ended by itself" in line]
    assert len(told) == 1
    assert "The API ended by itself (signal SIGKILL)" in told[0]
    assert "The API ended by itself" in status(stopped)["supervisor"]["reason"]


def test_parts_of_a_killed_supervisor_are_found_and_ended(site):
    assert site.run("up", "--detach").returncode == 0
    first = record(site)
    os.kill(first.process.pid, signal.SIGKILL)
    eventually(lambda: not first.process.alive(), what="the supervisor's end")
    assert "Still alive: API, console" in status(site)["supervisor"]["reason"]
    assert site.run("up", "--detach").returncode == 0
    second = record(site)
    assert gone(processes(first))
    os.kill(second.process.pid, signal.SIGKILL)
    eventually(lambda: not second.process.alive(), what="the supervisor's end")
    assert "Stopped: API and console" in site.run("down").stdout
    assert gone(processes(second))


def test_up_brings_a_killed_database_back_under_the_running_product(site, detached):
    os.kill(postmaster(EmbeddedPostgres(site.state_dir)), signal.SIGKILL)
    eventually(lambda: not status(site)["api"]["ready"], what="an API without its database")
    answer = site.run("up")
    assert answer.returncode == 0, answer.stderr
    assert f"running already (process {detached.process.pid})" in answer.stdout
    assert status(site)["database"]["up"]
    eventually(lambda: status(site)["api"]["ready"], what="an API that answers again")
    assert record(site) == detached


def test_a_reused_process_number_is_left_alone(stopped):
    stranger = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        path = stopped.state_dir / "up.json"
        content = json.loads(path.read_text(encoding="utf-8"))
        for process in (content["process"], *(part["process"] for part in content["parts"])):
            process["pid"] = stranger.pid
        content["state"] = "running"
        path.write_text(json.dumps(content), encoding="utf-8")
        assert not status(stopped)["supervisor"]["up"]
        assert stopped.run("down").returncode == 0
        assert stranger.poll() is None
    finally:
        stranger.kill()
        stranger.wait()
