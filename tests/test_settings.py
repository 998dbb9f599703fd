"""What the environment says becomes settings, or one line that names the variable and quotes no value."""

from pathlib import Path

import pytest

from engine.app import state_dir
from engine.settings import MINIMUM_KEY_BYTES, Settings, SettingsError, load_settings
from engine.telemetry import hashing


@pytest.fixture(autouse=True)
def bare(monkeypatch):
    """No setting of the developer's own."""
    for name in Settings.model_fields:
        monkeypatch.delenv(f"ANAMNESIS_{name.upper()}", raising=False)


@pytest.mark.parametrize(
    ("variable", "value", "told"),
    [
        ("API_PORT", "abc", "valid integer"),
        ("API_PORT", "0", "greater than or equal to 1"),
        ("REGION", "mars", "'ru', 'us' or 'eu'"),
        ("FUSION", "xx", "'trained', 'rescored', 'rrf'"),
        ("STATE_DIR", "~nobody-of-this-name/x", "home directory"),
        ("ENGINE_URL", "secret-word", "no URL like postgresql+psycopg://"),
        ("ENGINE_URL", "mysql://u:secret-word@h/d", "no URL like"),
        ("ENGINE_URL", "postgresql+psycopg2://u:secret-word@h/d", "no URL like"),
        ("ENGINE_URL", "postgresql://u:secret-word@h:port/d", "no URL like"),
        ("ADMIN_URL", "postgresql:/u:secret-word@h/d", "no URL like"),
        ("API_URL", "secret-word:8710", "begins with http"),
        ("MAX_BODY", "-5", "greater than or equal to 1024"),
        ("LLM_TIMEOUT", "inf", "less than or equal to"),
        ("LLM_TIMEOUT", "nan", "Input should be"),
        ("EMBEDDER_MODEL", " ", "at least 1 character"),
        ("RELEVANCE_THRESHOLD", "nan", "a number from 0 to 1"),
        ("RELEVANCE_THRESHOLD", "1.5", "a number from 0 to 1"),
        ("RELEVANCE_THRESHOLD", "secret-word", "a number from 0 to 1"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line_without_its_value(monkeypatch, variable, value, told):
    monkeypatch.setenv(f"ANAMNESIS_{variable}", value)
    with pytest.raises(SettingsError) as caught:
        load_settings()
    line = str(caught.value)
    assert line.startswith(f"ANAMNESIS_{variable}: ")
    assert told in line
    assert "\n" not in line
    assert "secret-word" not in line


def test_every_wrong_setting_is_named(monkeypatch):
    monkeypatch.setenv("ANAMNESIS_POOL", "1")
    monkeypatch.setenv("ANAMNESIS_LLM_RETRIES", "-1")
    with pytest.raises(SettingsError, match=r"ANAMNESIS_POOL: .*; ANAMNESIS_LLM_RETRIES: "):
        load_settings()


def test_a_secret_is_not_told_by_the_library_either():
    with pytest.raises(ValueError, match="engine_url") as caught:
        Settings(engine_url="mysql://u:secret-word@h/d")
    assert "secret-word" not in str(caught.value)


@pytest.mark.parametrize("name", Settings.model_fields)
def test_an_empty_variable_is_an_unset_one(monkeypatch, name):
    monkeypatch.setenv(f"ANAMNESIS_{name.upper()}", "")
    assert getattr(load_settings(), name) == Settings.model_fields[name].default


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_way_to_write_a_database_gets_the_driver_that_is_installed(monkeypatch, scheme):
    monkeypatch.setenv("ANAMNESIS_CONSOLE_URL", f"{scheme}://u:p%40ss@db.example:5432/d?sslmode=require")
    url = load_settings().console_url
    assert url
    assert url.get_secret_value() == "postgresql+psycopg://u:p%40ss@db.example:5432/d?sslmode=require"


def test_the_state_directory_is_resolved_once(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for written, meant in (("~/x", tmp_path / "x"), ("y", tmp_path / "y"), (str(tmp_path), tmp_path)):
        monkeypatch.setenv("ANAMNESIS_STATE_DIR", written)
        found = load_settings()
        assert found.state_dir == state_dir(found) == meant
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", "")
    assert state_dir(load_settings()) in (tmp_path / "var", Path("/var/lib/anamnesis"))


def test_an_endpoint_without_a_model_is_refused(monkeypatch):
    monkeypatch.setenv("ANAMNESIS_LLM_URL", "http://127.0.0.1:1/v1")
    with pytest.raises(SettingsError, match=r"^ANAMNESIS_LLM_MODEL: name the model"):
        load_settings()
    assert load_settings(llm_model="any").llm_model == "any"


def test_a_self_check_without_an_endpoint_is_refused(monkeypatch):
    monkeypatch.setenv("ANAMNESIS_JUDGE_MODEL", "any")
    with pytest.raises(SettingsError, match=r"^ANAMNESIS_LLM_URL: name the endpoint"):
        load_settings()


def test_one_length_of_keys_holds_everywhere():
    assert hashing.query_hash("a", b"k" * MINIMUM_KEY_BYTES)
    with pytest.raises(ValueError, match=f"{MINIMUM_KEY_BYTES} bytes"):
        hashing.query_hash("a", b"k" * (MINIMUM_KEY_BYTES - 1))
