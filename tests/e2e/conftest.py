"""The product as a person starts it, and a real browser."""

import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page, Request, expect, sync_playwright

from console import navigation
from console.users import ensure_first_user
from tests.polling import eventually

CHROMIUM = Path("/usr/bin/chromium")
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
ROOT = Path(__file__).resolve().parents[2]
ANAMNESIS = Path(sys.executable).with_name("anamnesis")
ENTRY = navigation.PAGES_DIRECTORY.parent / "entry" / "app.py"

expect.set_options(timeout=30_000)


@dataclass(frozen=True)
class Product:
    """A running deployment of its own."""

    console: str
    username: str
    password: str
    environment: dict[str, str] = field(repr=False)


@dataclass
class Visit:
    """A page of the browser, and every request that it made to somebody else."""

    page: Page
    strangers: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def product() -> Iterator[Product]:
    """`anamnesis up` in a temporary state directory, `anamnesis down` at the end."""
    state_dir = Path(tempfile.mkdtemp(prefix="anamnesis-e2e-", dir="/var/tmp"))
    state_dir.chmod(0o755)
    first = ensure_first_user(state_dir / "console_users.yaml")
    assert first is not None
    api, console = _free_ports(2)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ANAMNESIS_")} | {
        "ANAMNESIS_STATE_DIR": str(state_dir),
        "ANAMNESIS_API_PORT": str(api),
        "ANAMNESIS_CONSOLE_PORT": str(console),
    }
    try:
        _run(environment, "up", "--detach")
        yield Product(f"http://127.0.0.1:{console}", *first, environment)
    finally:
        _run(environment, "down")
        shutil.rmtree(state_dir, ignore_errors=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One browser; it is closed with its module, because its event loop would stand in the way of async tests."""
    if not CHROMIUM.exists():
        pytest.skip(f"no browser at {CHROMIUM}: apt-get install chromium")
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    """Open the browser anew, with no memory, in a language and at a width."""
    opened = []

    def open_(locale: str = "en-US", width: int = 1360) -> Visit:
        context = browser.new_context(locale=locale, viewport={"width": width, "height": 900})
        opened.append(context)
        visit = Visit(context.new_page())

        def note(request: Request) -> None:
            if not re.match(r"(https?|wss?)://127\.0\.0\.1[:/]|data:|blob:", request.url):
                visit.strangers.append(request.url)

        context.on("request", note)
        return visit

    yield open_
    for context in opened:
        context.close()


@contextmanager
def console_alone(product: Product) -> Iterator[str]:
    """A console process that nobody has visited yet, over the product's users and without a database."""
    (port,) = _free_ports(1)
    users = Path(product.environment["ANAMNESIS_STATE_DIR"]) / "console_users.yaml"
    command = [sys.executable, "-m", "streamlit", "run", str(ENTRY)]
    process = subprocess.Popen(
        [*command, "--server.address", "127.0.0.1", "--server.port", str(port)],
        env=os.environ | {"ANAMNESIS_CONSOLE_USERS": str(users)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://127.0.0.1:{port}"
    try:
        eventually(lambda: _answers(f"{address}/_stcore/health"), seconds=60, what="the console's start")
        yield address
    finally:
        process.terminate()
        process.wait(timeout=20)


def sign_in(page: Page, product: Product) -> None:
    """Fill the form of the page that is open, and wait for the menu."""
    form = page.get_by_test_id("stForm")
    form.locator("input[type=text]").fill(product.username)
    form.locator("input[type=password]").fill(product.password)
    form.get_by_role("button").last.click()
    expect(form).to_have_count(0)
    expect(page.get_by_test_id("stSidebarNavLink").first).to_be_attached()


def settled(page: Page) -> None:
    """Wait until the script has run to its end and everything that it drew is there."""
    app = page.get_by_test_id("stApp")
    expect(app).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    expect(page.get_by_test_id("stSkeleton")).to_have_count(0)


def _run(environment: dict[str, str], *arguments: str) -> None:
    done = subprocess.run(
        [str(ANAMNESIS), *arguments], env=environment, cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def _answers(address: str) -> bool:
    try:
        return httpx.get(address, timeout=2, trust_env=False).is_success
    except httpx.HTTPError:
        return False


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [opened.getsockname()[1] for opened in sockets]
    for opened in sockets:
        opened.close()
    return ports
