"""What a test looks at in a running deployment."""

import json
from pathlib import Path

from engine.cli.running.identity import ProcessId
from engine.cli.running.runfile import RunRecord, read_record
from tests.cli.site import Site
from tests.polling import eventually


def status(site: Site) -> dict:
    answer = site.run("status", "--json")
    assert answer.returncode == 0, answer.stderr
    return json.loads(answer.stdout)


def record(site: Site) -> RunRecord:
    return eventually(lambda: read_record(site.state_dir / "up.json"), what="the run file")


def running_record(site: Site) -> RunRecord:
    return eventually(
        lambda: (found := read_record(site.state_dir / "up.json")) and found.state == "running" and found,
        seconds=240,
        what="a running supervisor",
    )


def environment(pid: int) -> dict[str, str]:
    raw = Path(f"/proc/{pid}/environ").read_bytes().decode()
    return dict(item.split("=", 1) for item in raw.split("\0") if "=" in item)


def gone(processes: list[ProcessId]) -> bool:
    return not any(process.alive() for process in processes)


def processes(found: RunRecord) -> list[ProcessId]:
    return [found.process, *(part.process for part in found.parts)]
