"""The test chat against a stand-in of the API that answers over real HTTP."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from console import conversation, texts
from console.views.answer import link_target, literal
from engine.settings import Settings
from engine.wire.fields import MAX_QUESTION
from tests.console.conftest import Page

EN = texts.catalogue("en")
HOSTILE = "**bold** <script>alert(1)</script> $x^2$ :material/home: [a](javascript:b)"


@dataclass
class Api:
    """What the stand-in was asked, and how it answers."""

    address: str = ""
    asked: list[dict[str, Any]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    sessions: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    answer: Callable[[dict[str, Any]], tuple[int, dict[str, Any]]] = lambda body: (200, _answer())


@pytest.fixture
def api(page: Page, monkeypatch: pytest.MonkeyPatch) -> Iterator[Api]:
    del page
    stand_in = Api()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *args: object) -> None:
            del args

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.path == "/v1/staff/sessions":
                stand_in.sessions.append((self.headers["Authorization"], body))
                status, answer = 200, {"token": f"token-{len(stand_in.sessions)}", "expires_in": 600}
            else:
                stand_in.lengths.append(int(self.headers["Content-Length"]))
                stand_in.asked.append(body | {"bearer": self.headers["Authorization"]})
                status, answer = stand_in.answer(body)
            content = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    stand_in.address = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setenv("ANAMNESIS_API_URL", stand_in.address)
    monkeypatch.setenv("ANAMNESIS_CONSOLE_KEY", "console-key")
    yield stand_in
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_question_is_answered_with_sources_and_trace(page: Page, api: Api) -> None:
    app = _ask(page("test_chat", "product"), "What is ferritin?")
    assert not app.exception
    texts_ = [element.value for element in app.text]
    assert texts_[:2] == ["What is ferritin?", "Stored iron [1]."]
    assert "[1] Ferritin" in texts_
    assert list(app.dataframe[-1].value["stage"]) == [EN["stage.urgent"], EN["stage.retrieval"]]
    assert EN["outcome.answered"] in _markdown(app)
    assert api.sessions == [("Bearer console-key", {"username": "product", "roles": ["product"]})]
    assert api.asked[0]["bearer"] == "Bearer token-1"
    assert api.asked[0]["chat"] == "auto"


def test_the_trace_shows_whole_names_and_tenths_of_a_millisecond(page: Page, api: Api) -> None:
    stages = [{"name": "retrieval", "ms": 30.0625, "detail": {}}]
    api.answer = lambda body: (200, _answer() | {"trace": {"stages": stages}})
    table = _ask(page("test_chat", "product"), "?").dataframe[-1]
    assert list(table.value["ms"]) == [30.1]
    columns = json.loads(table.proto.columns)
    assert [columns[name].get("width") for name in ("stage", "ms")] == [None, None]


def test_earlier_turns_go_along_and_the_token_is_kept(page: Page, api: Api) -> None:
    app = _ask(_ask(page("test_chat", "engineer"), "one"), "two")
    assert len(app.chat_message) == 4
    assert api.asked[1]["history"] == [
        {"role": "user", "text": "one"},
        {"role": "assistant", "text": "Stored iron [1]."},
    ]
    assert len(api.sessions) == 1


def test_a_long_conversation_can_go_on(page: Page, api: Api) -> None:
    api.answer = lambda body: (200, _answer(text="😀" * 30_000))
    app = page("test_chat", "engineer")
    for _ in range(8):
        app = _ask(app, "😀" * MAX_QUESTION)
    assert not app.exception
    assert not app.error
    assert [len(asked["history"]) for asked in api.asked] == [min(2 * number, 12) for number in range(8)]
    assert max(api.lengths) < Settings().max_body
    assert [element.value for element in app.text].count("😀" * 30_000) == 8


def test_an_example_can_be_asked_and_a_conversation_begun_anew(page: Page, api: Api) -> None:
    app = page("test_chat", "safety")
    app.button(key="example_urgent").click().run()
    assert api.asked[0]["question"] == EN["chat.example_urgent"]
    new = next(button for button in app.button if button.label == EN["chat.new"])
    app = new.click().run()
    assert not app.chat_message


def test_chat_language_and_context_go_along(page: Page, api: Api) -> None:
    app = page("test_chat", "admin")
    app.segmented_control(key="chat_name").set_value("medical")
    app.segmented_control(key="chat_lang").set_value("ru")
    app.number_input(key="chat_age").set_value(44)
    app.segmented_control(key="chat_sex").set_value("female")
    _ask(app.run(), "ferritin?")
    asked = api.asked[0]
    assert (asked["chat"], asked["lang"]) == ("medical", "ru")
    assert asked["context"]["profile"] == {"age": 44, "sex": "female"}


def test_hostile_text_is_shown_literally(page: Page, api: Api) -> None:
    api.answer = lambda body: (200, _answer(text=HOSTILE, title=HOSTILE, url="javascript:alert(1)"))
    app = _ask(page("test_chat", "admin"), HOSTILE)
    texts_ = [element.value for element in app.text]
    assert texts_[:2] == [HOSTILE, HOSTILE]
    assert f"[1] {HOSTILE}" in texts_
    assert "alert" not in _markdown(app)
    assert not app.get("link_button")


def test_an_error_of_the_api_is_one_line(page: Page, api: Api) -> None:
    api.answer = lambda body: (503, {"title": "Not ready", "detail": "no corpus"})
    app = _ask(page("test_chat", "admin"), "?")
    assert not app.exception
    assert [element.value for element in app.error] == [literal("Not ready: no corpus (HTTP 503)")]


def test_a_refused_token_is_renewed_once(page: Page, api: Api) -> None:
    api.answer = lambda body: (200, _answer()) if len(api.sessions) > 1 else (401, {"title": "Expired"})
    app = _ask(page("test_chat", "admin"), "?")
    assert not app.error
    assert [asked["bearer"] for asked in api.asked] == ["Bearer token-1", "Bearer token-2"]


def test_no_api_and_no_key_are_one_line_each(page: Page, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANAMNESIS_API_URL", "http://127.0.0.1:1")
    app = _ask(page("test_chat", "admin"), "?")
    assert [element.value for element in app.error] == [literal("Cannot reach the API at http://127.0.0.1:1")]
    monkeypatch.delenv("ANAMNESIS_CONSOLE_KEY")
    app = _ask(page("test_chat", "admin"), "?")
    assert [element.value for element in app.error] == [literal(EN["chat.no_key"])]


def test_the_key_of_the_state_directory_is_used(
    page: Page, api: Api, users_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANAMNESIS_CONSOLE_KEY")
    (users_file.parent / "keys.json").write_text(json.dumps({"console_key": "from-file"}))
    _ask(page("test_chat", "admin"), "?")
    assert api.sessions[0][0] == "Bearer from-file"


def test_an_interrupted_question_is_kept(page: Page) -> None:
    app = page("test_chat", "admin")
    app.session_state["conversation"] = [conversation.Entry("one?")]
    app.run()
    assert [element.value for element in app.text] == ["one?"]
    assert EN["chat.interrupted"] in [element.value for element in app.caption]


def test_only_addresses_of_the_web_are_linked() -> None:
    assert link_target("https://medlineplus.gov/iron.html")
    assert not any(map(link_target, ["javascript:alert(1)", "data:text/html,x", "", "//x", "https:///x"]))


def test_markdown_is_made_harmless() -> None:
    shown = literal(HOSTILE)
    assert not set("*<>$[]()_`#") & set(shown.replace("&#", ""))
    assert ":material" not in shown.replace("&#58;", ":")


def _answer(
    text: str = "Stored iron [1].", title: str = "Ferritin", url: str = "https://medlineplus.gov/iron.html"
) -> dict[str, Any]:
    return {
        "outcome": "answered",
        "text": text,
        "final_text": text,
        "lang": "en",
        "chat": "medical",
        "citations": [{"n": 1, "document": "ferritin.en", "title": title, "url": url}],
        "guardrail": {"status": "ok", "rule_ids": [], "judge": "off"},
        "trace": {
            "stages": [
                {"name": "urgent", "ms": 0.5, "detail": {}},
                {"name": "retrieval", "ms": 30.0, "detail": {"k": 8}},
            ],
            "tokens": {"prompt": 10},
            "models": {"answer": "extractive"},
        },
    }


def _ask(app: AppTest, question: str) -> AppTest:
    return app.chat_input[0].set_value(question).run()


def _markdown(app: AppTest) -> str:
    return " ".join(element.value for element in app.markdown)
