"""`users add` and `users password`: who may sign in, with passwords that nobody sees."""

import contextlib
import io
import os
import pty
import sys
from pathlib import Path

import bcrypt
import pytest

from console.users import load
from engine.cli.errors import run_guarded
from engine.cli.main import app
from tests.cli.site import Site

PASSWORD = "four plain words here"


@pytest.fixture
def file(monkeypatch, tmp_path) -> Path:
    """Where the users of a fresh state directory stand."""
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", str(tmp_path))
    monkeypatch.delenv("ANAMNESIS_CONSOLE_USERS", raising=False)
    return tmp_path / "console_users.yaml"


@pytest.fixture
def users(file, monkeypatch, capfd):
    """Run `anamnesis users …` with a line of standard input; exit code, standard output, standard error."""

    def run(*words: str, line: str = "") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.StringIO(line))
        code = run_guarded(lambda: app(["users", *words], standalone_mode=False), debug=False)
        return code, *capfd.readouterr()

    return run


def opens(file: Path, name: str, password: str) -> bool:
    return bcrypt.checkpw(password.encode(), load(file)[name].password.encode())


def test_somebody_is_added_with_a_password_of_standard_input(users, file):
    code, out, err = users("add", "Anna", "--role", "safety", "--role", "product", line=f"{PASSWORD}\n")
    assert (code, out, err) == (0, "", "")
    assert load(file)["anna"].roles == {"safety", "product"}
    assert load(file)["anna"].first_name == "Anna"
    assert opens(file, "anna", PASSWORD)
    assert not file.stat().st_mode & 0o077
    assert PASSWORD not in file.read_text(encoding="utf-8")


def test_a_generated_password_is_printed_alone(users, file):
    code, out, err = users("add", "anna", "--role", "admin", "--first-name", "Анна", "--generate")
    assert (code, err, out.count("\n")) == (0, "", 1)
    assert opens(file, "anna", out.strip())
    assert load(file)["anna"].first_name == "Анна"


def test_a_new_password_takes_the_place_of_the_old_one(users, file):
    users("add", "anna", "--role", "safety", line=PASSWORD)
    code, out, _ = users("password", "anna", "--generate")
    assert code == 0
    assert opens(file, "anna", out.strip())
    assert not opens(file, "anna", PASSWORD)
    assert users("password", "anna", line=PASSWORD)[0] == 0
    assert opens(file, "anna", PASSWORD)


@pytest.mark.parametrize(
    ("words", "line", "code", "told"),
    [
        (["add", "anna", "--role", "safety"], PASSWORD, 1, "User anna exists."),
        (["add", "boris", "--role", "safety"], "short", 1, "A password has 10 characters or more."),
        (["add", "boris", "--role", "safety"], "", 1, "A password has 10 characters or more."),
        (["add", "boris", "--role", "root"], PASSWORD, 2, "One of product, safety, engineer, admin."),
        (["add", "boris"], PASSWORD, 2, "Missing option '--role'"),
        (["add", " ", "--role", "safety"], PASSWORD, 1, "A user name has 1 to 100 characters."),
        (["password", "boris"], PASSWORD, 1, "No user boris."),
    ],
)
def test_what_cannot_be_is_told_and_changes_nothing(users, file, words, line, code, told):
    users("add", "anna", "--role", "safety", line=PASSWORD)
    before = file.read_bytes()
    ended, out, err = users(*words, line=line)
    assert (ended, out) == (code, "")
    assert told in err.splitlines()[-1]
    assert PASSWORD not in err
    assert file.read_bytes() == before


def test_a_damaged_file_is_told_and_kept(users, file):
    file.write_text("[]", encoding="utf-8")
    code, _, err = users("password", "anna", line=PASSWORD)
    assert code == 1
    assert err.startswith(f"Error: {file} is damaged: restore it, or remove it")
    assert err.count("\n") == 1
    assert file.read_text(encoding="utf-8") == "[]"


def test_at_a_terminal_the_password_is_asked_for_twice_and_not_shown(file):
    process, terminal = pty.fork()
    if process == 0:
        os.execv(sys.executable, Site.command("users", "add", "anna", "--role", "safety"))
    seen = b""
    for prompts in (1, 2):
        while seen.count(b": ") < prompts:
            seen += os.read(terminal, 1024)
        os.write(terminal, f"{PASSWORD}\n".encode())
    with contextlib.suppress(OSError):  # Linux tells the end of a terminal by an error
        while rest := os.read(terminal, 1024):
            seen += rest
    assert os.waitpid(process, 0)[1] == 0
    os.close(terminal)
    assert PASSWORD.encode() not in seen
    assert opens(file, "anna", PASSWORD)
