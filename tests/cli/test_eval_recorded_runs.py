"""A new installation is not empty: `up` takes over the runs that come with the program, once."""

import json

from engine.evaluation.history import HISTORY, files
from engine.evaluation.store import IMPORTED_AT
from tests.cli.site import Site


def test_the_first_start_takes_over_the_recorded_runs_and_the_next_finds_them(fresh_site: Site) -> None:
    shipped = len(files(HISTORY))
    said = []
    for _ in range(2):
        answer = fresh_site.run("up", "--detach")
        assert answer.returncode == 0, answer.stderr
        said += [line for line in answer.stdout.splitlines() if "Recorded runs: " in line]
        assert fresh_site.run("down").returncode == 0
    assert f"Recorded runs: {shipped} added, 0 there already" in said[0]
    assert f"Recorded runs: 0 added, {shipped} there already" in said[1]
    runs = json.loads(fresh_site.run("eval", "list", "--limit", "1000", "--json").stdout)["runs"]
    assert len(runs) == shipped
    assert all(IMPORTED_AT in run["provenance"] for run in runs)
    told = fresh_site.run("eval", "show", runs[0]["run"]).stdout
    assert "recorded elsewhere, taken over " in " ".join(told.split())
