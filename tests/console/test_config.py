"""Where the console finds its files: the places that the engine means."""

from pathlib import Path

import pytest

from console import config
from engine.cli.running.deployment import Deployment
from engine.settings import Settings


@pytest.fixture(autouse=True)
def nothing_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANAMNESIS_CONSOLE_USERS", "ANAMNESIS_CONSOLE_KEY", "ANAMNESIS_STATE_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("named", ["~/state", "state", "/var/tmp/state"])
@pytest.mark.parametrize("variable", ["ANAMNESIS_STATE_DIR", "ANAMNESIS_CONSOLE_USERS"])
def test_the_users_file_is_the_one_that_up_makes(variable: str, named: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", "/var/tmp/other")
    monkeypatch.setenv(variable, named)
    found = config.users_file()
    assert found is not None
    assert found.absolute() == Deployment(Settings()).users_file


def test_the_key_of_a_state_directory_at_home_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "keys.json").write_text('{"console_key": "from-home"}')
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", "~")
    assert config.console_key() == "from-home"


@pytest.mark.parametrize("empty", [True, False])
def test_nothing_named_is_nothing_found(tmp_path: Path, empty: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "var").mkdir()
    (tmp_path / "keys.json").write_text('{"console_key": "from-here"}')
    (tmp_path / "var" / "keys.json").write_text('{"console_key": "from-var"}')
    if empty:
        monkeypatch.setenv("ANAMNESIS_STATE_DIR", "")
        monkeypatch.setenv("ANAMNESIS_CONSOLE_USERS", "")
    assert config.users_file() is None
    assert config.console_key() is None
