"""Wrong settings and options become one line that names them; `--debug` shows where, wherever it stands."""

import sys
from collections.abc import Callable

import pytest

from engine.cli.errors import run_guarded
from engine.cli.main import app, main, without_debug
from engine.settings import SettingsError

Outcome = tuple[int, str, str]
Command = Callable[..., Outcome]


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, tmp_path, capfd: pytest.CaptureFixture[str]) -> Command:
    """Run the program in a fresh state directory; exit code, standard output, standard error."""
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", str(tmp_path))

    def run(*words: str) -> Outcome:
        code = run_guarded(lambda: app(list(words), standalone_mode=False), debug=False)
        return code, *capfd.readouterr()

    return run


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ANAMNESIS_API_PORT", "abc"),
        ("ANAMNESIS_FUSION", "xx"),
        ("ANAMNESIS_ENGINE_URL", "foo"),
        ("ANAMNESIS_CONSOLE_URL", "mysql://u:secret-word@h/d"),
        ("ANAMNESIS_REGION", "mars"),
        ("ANAMNESIS_LLM_URL", "secret-word"),
    ],
)
@pytest.mark.parametrize(
    "words",
    [["status"], ["doctor"], ["ask", "x"], ["retrieve", "x"], ["seed"], ["migrate"], ["eval", "list"], ["console"]],
    ids=" ".join,
)
def test_a_wrong_setting_is_named_by_every_command(command, monkeypatch, words, variable, value):
    monkeypatch.setenv(variable, value)
    code, out, err = command(*words)
    assert (code, out) == (1, "")
    assert err.startswith(f"Error: {variable}: ")
    assert len(err.splitlines()) == 1
    assert "secret-word" not in err


def test_a_wrong_setting_of_the_environment_is_no_wrong_use_of_a_command(command, monkeypatch):
    monkeypatch.setenv("ANAMNESIS_POOL", "many")
    assert command("eval", "run")[0] == 1
    code, _, err = command("eval", "run", "--setting", "pool=few")
    assert code == 2
    assert "ANAMNESIS_POOL: Input should be a valid integer" in err


@pytest.mark.parametrize("sources", ["-1", "10001", "many"])
def test_a_number_of_sources_that_cannot_be_is_wrong_use(command, sources):
    code, out, err = command("cite", "Iron [1].", "--sources", sources)
    assert (code, out) == (2, "")
    assert "--sources" in err


@pytest.mark.parametrize("text", ["", "  ", "\u200b\n"])
@pytest.mark.parametrize(("name", "field"), [("ask", "question"), ("retrieve", "query")])
def test_nothing_asked_is_wrong_use(command, name, field, text):
    assert command(name, text) == (2, "", f"Error: {field}: it is empty\n")


def test_too_long_a_question_is_told_in_characters(command):
    line = "Error: question: Text should have at most 4,000 characters, not 4,500\n"
    assert command("ask", "x" * 4_500) == (2, "", line)


def test_an_answer_without_sources_is_no_wrong_use(command):
    code, out, _ = command("cite", "Iron [1].", "--sources", "0", "--json")
    assert code == 0
    assert '"removed": [1]' in out


@pytest.mark.parametrize("words", [["--debug", "status"], ["status", "--debug"], ["status", "--json", "--debug"]])
def test_debug_stands_anywhere(monkeypatch, words):
    monkeypatch.setenv("ANAMNESIS_API_PORT", "abc")
    monkeypatch.setattr(sys, "argv", ["anamnesis", *words])
    with pytest.raises(SettingsError):
        main()


def test_without_debug_there_is_an_exit_code(monkeypatch):
    monkeypatch.setenv("ANAMNESIS_API_PORT", "abc")
    monkeypatch.setattr(sys, "argv", ["anamnesis", "status"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 1


def test_a_text_that_reads_debug_stays():
    assert without_debug(["ask", "--", "--debug"]) == (["ask", "--", "--debug"], False)
    assert without_debug(["--debug", "ask", "--", "--debug"]) == (["ask", "--", "--debug"], True)


def test_an_unknown_run_is_told_in_the_words_of_the_evaluation_room(command, monkeypatch, settings, urls):
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", str(settings.state_dir))
    code, _, err = command("eval", "show", "zzzz")
    assert (code, err) == (1, "Error: There is no run 'zzzz'. `anamnesis eval list` shows the runs.\n")


@pytest.mark.parametrize("name", ["~", "~/state"])
def test_a_state_directory_below_home_is_there(command, monkeypatch, tmp_path, name):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("ANAMNESIS_STATE_DIR", name)
    assert command("token", "--user", "anna")[0] == 0
    assert (tmp_path / name[2:] / "keys.json").exists()
