"""The console in a real browser, over the whole product."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from console import navigation, texts
from tests.e2e.conftest import Product, Visit, console_alone, settled, sign_in

pytestmark = pytest.mark.e2e

EN = texts.catalogue("en")
PAGES = [spec.name for spec in navigation.SPECS]
QUESTIONS = ("Что означает повышенный ферритин?", "What does a high ferritin level mean?")


@pytest.mark.parametrize("path", ["", *PAGES])
def test_a_signed_out_first_visit_sees_the_form_alone(product: Product, visit: Callable[..., Visit], path: str) -> None:
    opened = visit()
    with console_alone(product) as address:
        opened.page.goto(f"{address}/{path}")
        settled(opened.page)
        expect(opened.page.get_by_test_id("stForm")).to_be_visible()
        expect(opened.page.locator("h1")).to_have_text([EN["app.name"]])
        for part in (
            "stSidebar",
            "stMetric",
            "stDataFrame",
            "stVegaLiteChart",
            "stChatInput",
            "stAlert",
            "stException",
        ):
            expect(opened.page.get_by_test_id(part)).to_have_count(0)
        assert opened.page.context.cookies() == [] or {c["name"] for c in opened.page.context.cookies()} == {
            "_streamlit_xsrf"
        }


def test_questions_are_answered_and_counted(product: Product, visit: Callable[..., Visit]) -> None:
    opened = visit()
    page = opened.page
    page.goto(f"{product.console}/test_chat")
    sign_in(page, product)
    for number, question in enumerate(QUESTIONS, start=1):
        box = page.get_by_test_id("stChatInput").locator("textarea")
        box.fill(question)
        box.press("Enter")
        messages = page.get_by_test_id("stChatMessage")
        expect(messages).to_have_count(2 * number)
        answer = messages.last
        expect(answer.get_by_text(EN["outcome.answered"]).first).to_be_visible()
        expect(answer.get_by_text(re.compile(r"^\[1\] ")).first).to_be_visible()
        expect(answer.get_by_test_id("stLinkButton").first).to_be_visible()
    answers = page.get_by_test_id("stChatMessage")
    expect(answers.nth(1)).to_contain_text(re.compile("[Фф]ерритин"))
    expect(answers.nth(3)).to_contain_text(re.compile("[Ff]erritin"))
    answers.last.locator("summary").click()
    expect(answers.last.get_by_test_id("stDataFrame")).to_be_visible()

    _go(page, "usage")
    expect(page.get_by_text(EN["data.no_messages"])).to_be_visible()
    page.get_by_test_id("stButtonGroup").get_by_role("button", name=EN["origin.test_chat"]).click()
    expect(_metric(page, EN["card.messages"])).to_contain_text("2")
    expect(page).to_have_url(re.compile(r"origin=app(,|%2C)test_chat"))
    _go(page, "performance")
    expect(_metric(page, EN["card.messages"])).to_contain_text("2")
    expect(page.get_by_test_id("stVegaLiteChart")).to_have_count(2)
    _go(page, "safety")
    expect(_metric(page, EN["safety.urgent"])).to_contain_text("0.0%")
    expect(page.get_by_text("0 of 2").first).to_be_visible()
    assert opened.strangers == []


def test_a_change_of_language_changes_the_words_of_every_choice(product: Product, visit: Callable[..., Visit]) -> None:
    russian = texts.catalogue("ru")
    page = visit().page
    page.goto(product.console)
    sign_in(page, product)
    settled(page)
    choice = page.get_by_test_id("stSelectbox").filter(has_text=EN["filter.lang"]).locator("input")
    expect(choice).to_have_value(EN["lang.all"])
    page.get_by_test_id("stSidebar").get_by_text("Русский").click()
    choice = page.get_by_test_id("stSelectbox").filter(has_text=russian["filter.lang"]).locator("input")
    expect(choice).to_have_value(russian["lang.all"])
    run = page.get_by_test_id("stSelectbox").filter(has_text=russian["quality.run"]).locator("input")
    expect(run).to_have_value(re.compile(russian["quality.measured_elsewhere"]))


@pytest.mark.parametrize("locale", ["en-US", "ru-RU"])
def test_no_page_scrolls_sideways_on_a_phone(product: Product, visit: Callable[..., Visit], locale: str) -> None:
    opened = visit(locale, width=390)
    page = opened.page
    texts_ = texts.catalogue("ru" if locale == "ru-RU" else "en")
    page.goto(f"{product.console}/?origin=app,test_chat")
    _fits(page, texts_["app.name"])
    sign_in(page, product)
    page.get_by_test_id("stExpandSidebarButton").click()
    for name in PAGES:
        page.get_by_test_id("stSidebarNavLink").filter(has_text=texts_[f"menu.{name}"]).click()
        _fits(page, texts_["chat.title" if name == "test_chat" else f"{name}.title"])
    assert opened.strangers == []


def _go(page: Page, name: str) -> None:
    page.get_by_test_id("stSidebarNavLink").filter(has_text=EN[f"menu.{name}"]).click()
    expect(page.get_by_role("heading", name=EN[f"{name}.title"], exact=True)).to_be_visible()
    settled(page)


def _metric(page: Page, label: str) -> Locator:
    return page.get_by_test_id("stMetric").filter(has_text=label)


def _fits(page: Page, heading: str) -> None:
    """No scrolling part of a page is wider than the screen, once its charts have taken their width."""
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    settled(page)
    page.wait_for_function(
        """() => ['html', '[data-testid=stAppViewContainer]', '[data-testid=stMain]', '.stMain']
            .flatMap(found => [...document.querySelectorAll(found)])
            .every(part => part.scrollWidth <= window.innerWidth)""",
        timeout=10_000,
    )
