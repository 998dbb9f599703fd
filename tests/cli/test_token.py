"""`token`, and the command that is none."""

import jwt
import pytest

from engine.storage.schema import GLOBAL_USER_ID


def test_a_token_holds_what_was_asked_for(site):
    answer = site.run("token", "--user", "анна", "--scope", "staff:read", "--scope", "chat", "--hours", "2")
    claims = jwt.decode(answer.stdout.strip(), options={"verify_signature": False})
    assert claims["sub"] == "анна"
    assert set(claims["scope"].split()) == {"chat", "staff:read"}
    assert claims["exp"] - claims["iat"] == 7200
    assert answer.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--user", str(GLOBAL_USER_ID)], 1),
        (["--user", "anna", "--scope", "root"], 2),
        (["--user", " "], 2),
        (["--user", "\udcff"], 2),  # a byte that is no text
        (["--user", "anna", "--hours", "0"], 2),
        ([], 2),
    ],
)
def test_a_token_that_cannot_be_is_refused(site, arguments, code):
    answer = site.run("token", *arguments)
    assert answer.returncode == code
    assert answer.stdout == ""
    assert "fault of the program" not in answer.stderr


def test_the_supervisor_is_no_command_of_its_own(site):
    answer = site.run("supervise")
    assert answer.returncode == 1
    assert "Run that" in answer.stderr
