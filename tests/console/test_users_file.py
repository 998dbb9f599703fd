"""The file of those who may sign in."""

import stat
import threading
from pathlib import Path

import bcrypt
import pytest
import yaml

from console import users


def test_the_first_user_is_made_once(tmp_path: Path) -> None:
    path = tmp_path / "state" / "users.yaml"
    made = users.ensure_first_user(path)
    assert made is not None
    name, password = made
    assert users.ensure_first_user(path) is None
    user = users.load(path)[name]
    assert user.roles == {"admin"}
    assert bcrypt.checkpw(password.encode(), user.password.encode())
    assert user.password.startswith(f"$2b${users.COST}$")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert password not in path.read_text()


def test_many_starts_at_once_make_one_first_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "COST", 4)
    path = tmp_path / "users.yaml"
    made: list[tuple[str, str] | None] = []
    threads = [threading.Thread(target=lambda: made.append(users.ensure_first_user(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = [entry for entry in made if entry]
    assert bcrypt.checkpw(winner[1].encode(), users.load(path)["admin"].password.encode())
    assert [entry.name for entry in tmp_path.iterdir() if ".lock" not in entry.name] == ["users.yaml"]


def test_users_are_added_and_changed_without_loss(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "COST", 4)
    path = tmp_path / "users.yaml"
    users.ensure_first_user(path)
    users.add_user(path, " Мария ", "a-long-password", first_name="Мария", roles=["safety", "product"])
    before = users.load(path)["мария"]
    users.set_password(path, "Мария", "another-password")
    after = users.load(path)
    assert set(after) == {"admin", "мария"}
    assert after["мария"].roles == {"safety", "product"}
    assert after["мария"].password != before.password
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("password", ["short", "x" * 73, "ж" * 37, " begins-with-space", "ends-with-space "])
def test_a_password_that_would_not_do_is_refused(password: str) -> None:
    with pytest.raises(ValueError, match="password"):
        users.hash_password(password)


def test_wrong_additions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users, "COST", 4)
    path = tmp_path / "users.yaml"
    users.ensure_first_user(path)
    with pytest.raises(ValueError, match="exists"):
        users.add_user(path, "ADMIN", "a-long-password", first_name="", roles=["admin"])
    with pytest.raises(ValueError, match="roles"):
        users.add_user(path, "eva", "a-long-password", first_name="", roles=["root"])  # type: ignore[list-item]
    with pytest.raises(ValueError, match="no user"):
        users.set_password(path, "nobody", "a-long-password")


def test_an_entry_without_a_proper_hash_lets_nobody_in(tmp_path: Path, password_hash: str) -> None:
    path = tmp_path / "users.yaml"
    entries = {
        "plain": {"password": "secret", "roles": ["admin"]},
        "empty": {"roles": ["admin"]},
        "broken": "admin",
        "good": {"password": password_hash, "roles": ["admin", "root"]},
    }
    path.write_text(yaml.safe_dump({"users": entries}), encoding="utf-8")
    assert {name: user.roles for name, user in users.load(path).items()} == {"good": {"admin"}}


@pytest.mark.parametrize("content", ["users: [", "- a", "users: 3", ""])
def test_a_broken_file_is_told(tmp_path: Path, content: str) -> None:
    path = tmp_path / "users.yaml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(users.UsersFileError):
        users.load(path)
