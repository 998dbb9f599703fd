"""The check of a password: what the login library leaves open is closed."""

import bcrypt
import pytest

from console.passwords import Passwords
from console.users import User
from tests.console.conftest import PASSWORD


@pytest.fixture
def passwords(password_hash: str) -> Passwords:
    return Passwords({"eva": User("eva", "Eva", frozenset({"admin"}), password_hash)})


def test_right_and_wrong(passwords: Passwords) -> None:
    assert passwords.check("eva", PASSWORD)
    assert not passwords.check("eva", PASSWORD + "x")
    assert not passwords.check("adam", PASSWORD)


@pytest.mark.parametrize("password", ["", "x" * 73, "ж" * 40, "a\0b", "\ud800", PASSWORD + "\0"])
def test_odd_passwords_are_wrong_and_raise_nothing(passwords: Passwords, password: str) -> None:
    assert not passwords.check("eva", password)


def test_every_failure_costs_one_check_of_equal_cost(
    passwords: Passwords, password_hash: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    costs: list[bytes] = []
    check = bcrypt.checkpw

    def counted(password: bytes, hashed: bytes) -> bool:
        costs.append(hashed[:7])
        return check(password, hashed)

    monkeypatch.setattr(bcrypt, "checkpw", counted)
    for name, password in (("eva", "wrong"), ("adam", "wrong"), ("eva", "x" * 100), ("eva", "")):
        assert not passwords.check(name, password)
    assert costs == [password_hash.encode()[:7]] * 4
