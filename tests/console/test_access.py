"""Who sees what: the guard of every page, the menu, the login form."""

import time
from pathlib import Path

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from console import access, auth, navigation, texts
from console.lockout import TRIES
from tests.console.conftest import PASSWORD, ROLES, Page

PAGES = sorted(path.stem for path in navigation.PAGES_DIRECTORY.glob("*.py"))
EN = texts.catalogue("en")


def test_every_page_file_is_in_the_menu_and_has_roles() -> None:
    assert {spec.name for spec in navigation.SPECS} == set(PAGES) == set(access.PAGE_ROLES)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_run_without_the_entry_script_shows_nothing_signed_out(page: Page, name: str) -> None:
    app = page(name)
    assert [element.value for element in app.error] == [EN["auth.sign_in_first"]]
    assert len(app.main.children) == 1
    assert not app.exception


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("role", ROLES)
def test_roles_open_their_pages_and_no_others(page: Page, name: str, role: str) -> None:
    app = page(name, role)
    refused = [element.value for element in app.error] == [EN["auth.no_access"]]
    assert refused == (name == "safety" and role == "product")
    assert not app.exception
    if refused:
        assert len(app.main.children) == 1


def test_signed_out_the_entry_script_shows_the_form_alone(page: Page) -> None:
    app = page()
    assert [element.value for element in app.title] == [EN["app.name"]]
    assert [element.label for element in app.text_input] == [EN["auth.username"], EN["auth.password"]]
    assert not app.sidebar.children
    assert not app.exception


def test_signing_in_shows_the_default_page_and_signing_out_the_form(page: Page) -> None:
    app = _submit(page(), "Engineer ", PASSWORD)
    assert [element.value for element in app.title] == [EN["quality.title"]]
    app.button(key="sign_out").click().run()
    assert [element.value for element in app.title] == [EN["app.name"]]
    assert auth.IDENTITY not in app.session_state


def test_wrong_attempts_lock_a_name_known_or_not(page: Page) -> None:
    for name in ("engineer", "nobody"):
        app = page()
        for _ in range(TRIES):
            app = _submit(app, name, "wrong")
            assert [element.value for element in app.error] == [EN["auth.wrong"]]
        app = _submit(app, name, PASSWORD)
        assert [element.value for element in app.error] == [EN["auth.locked"].format(minutes=5)]
    assert _submit(page(), "safety", PASSWORD).title[0].value == EN["quality.title"]


def test_the_lock_holds_across_sessions_and_changes_of_the_file(page: Page, users_file: Path) -> None:
    for _ in range(TRIES):
        _submit(page(), "engineer", "x" * 200)
    users_file.write_text(users_file.read_text() + "\n", encoding="utf-8")
    assert "5" in _submit(page(), "engineer", PASSWORD).error[0].value


def test_roles_come_from_the_file_at_every_run(page: Page, users_file: Path) -> None:
    app = page("safety", "safety")
    assert app.title
    _change(users_file, "safety", roles=["product"])
    assert [element.value for element in app.run().error] == [EN["auth.no_access"]]


def test_a_role_in_the_session_is_not_believed(page: Page) -> None:
    app = page("safety", "product")
    app.session_state["roles"] = ["admin"]
    assert [element.value for element in app.run().error] == [EN["auth.no_access"]]


def test_a_new_password_or_a_removed_user_ends_the_session(page: Page, users_file: Path, password_hash: str) -> None:
    app = page("usage", "engineer")
    assert app.title
    _change(users_file, "engineer", password=password_hash[:-1] + ("a" if password_hash[-1] != "a" else "b"))
    assert [element.value for element in app.run().error] == [EN["auth.sign_in_first"]]
    app = page("usage", "safety")
    _change(users_file, "safety", password="gone")
    assert [element.value for element in app.run().error] == [EN["auth.sign_in_first"]]


def test_a_session_ends_in_time(page: Page, users_file: Path) -> None:
    app = page("usage", "engineer")
    stamp = auth.stamp(auth.load(users_file)["engineer"])
    app.session_state[auth.IDENTITY] = auth.Identity("engineer", stamp, time.time() - 1)
    assert [element.value for element in app.run().error] == [EN["auth.sign_in_first"]]


def test_a_broken_file_lets_nobody_in(page: Page, users_file: Path) -> None:
    app = page("usage", "engineer")
    users_file.write_text("users: [", encoding="utf-8")
    assert [element.value for element in app.run().error] == [EN["auth.sign_in_first"]]
    assert [element.value for element in _submit(page(), "admin", PASSWORD).error] == [EN["auth.file_unreadable"]]


def test_without_a_place_for_users_there_is_one_line_and_no_form(page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANAMNESIS_CONSOLE_USERS", "ANAMNESIS_STATE_DIR"):
        monkeypatch.setenv(name, "")
    app = page()
    assert [element.value for element in app.error] == [EN["auth.no_place"]]
    assert not app.text_input
    assert not app.exception
    assert [element.value for element in page("usage").error] == [EN["auth.sign_in_first"]]


def test_the_file_is_never_written_to(page: Page, users_file: Path) -> None:
    before = users_file.read_bytes(), users_file.stat().st_mtime_ns
    _submit(page(), "engineer", "wrong")
    _submit(page(), "engineer", PASSWORD)
    assert (users_file.read_bytes(), users_file.stat().st_mtime_ns) == before


def _submit(app: AppTest, name: str, password: str) -> AppTest:
    app.text_input[0].set_value(name)
    app.text_input[1].set_value(password)
    return app.button[0].click().run()


def _change(path: Path, name: str, **changes: object) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    content["users"][name] |= changes
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
