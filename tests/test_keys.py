"""The three secrets: made once, kept private, never made up where a person has to give them."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.keys import KeysError, load_keys
from engine.settings import Settings

GIVEN = {name: name[0] * 32 for name in ("hash_key", "jwt_key", "console_key")}


def test_keys_are_made_once_and_are_private(tmp_path):
    made = load_keys(Settings(), tmp_path / "state")
    assert load_keys(Settings(), tmp_path / "state") == made
    assert len({made.hash_key, made.jwt_key, made.console_key}) == 3
    assert min(map(len, (made.hash_key, made.jwt_key, made.console_key))) >= 32
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["keys.json"]
    assert (tmp_path / "state" / "keys.json").stat().st_mode & 0o777 == 0o600


def test_of_many_at_once_all_get_the_same(tmp_path):
    with ThreadPoolExecutor(16) as pool:
        made = set(pool.map(lambda _: load_keys(Settings(), tmp_path).jwt_key, range(64)))
    assert len(made) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["keys.json"]


def test_a_setting_goes_before_the_file(tmp_path):
    made = load_keys(Settings(), tmp_path)
    found = load_keys(Settings(jwt_key="j" * 32), tmp_path)
    assert found.jwt_key == b"j" * 32
    assert found.hash_key == made.hash_key


def test_with_all_settings_nothing_is_written(tmp_path):
    assert load_keys(Settings(**GIVEN), tmp_path).hash_key == b"h" * 32
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("missing", GIVEN)
def test_without_a_state_directory_a_missing_key_is_named(missing):
    settings = Settings(**{name: value for name, value in GIVEN.items() if name != missing})
    with pytest.raises(KeysError, match=f"Set ANAMNESIS_{missing.upper()}:"):
        load_keys(settings, None)


def test_a_short_key_is_refused_without_being_told():
    with pytest.raises(KeysError, match="ANAMNESIS_JWT_KEY must have 32 bytes") as caught:
        load_keys(Settings(**GIVEN | {"jwt_key": "my-short-secret"}), None)
    assert "my-short-secret" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"hash_key": "a"}', json.dumps(dict.fromkeys(GIVEN, 5))])
def test_a_damaged_file_is_told_and_not_replaced(tmp_path, content):
    path = tmp_path / "keys.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(KeysError, match="damaged"):
        load_keys(Settings(), tmp_path)
    assert path.read_text(encoding="utf-8") == content


def test_a_place_that_cannot_be_written_is_told_in_one_line(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(KeysError, match="cannot be used"):
        load_keys(Settings(), tmp_path / "file")


def test_keys_do_not_show_in_their_own_words(tmp_path):
    made = load_keys(Settings(), tmp_path)
    assert made.jwt_key.decode() not in repr(made)
