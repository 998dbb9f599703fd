"""Keys, tokens and a server around an engine that can be made to fail."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import pytest

from engine.api import create_app
from engine.api.tokens import issue
from engine.keys import Keys
from engine.settings import Settings
from tests.api.live import FakeEngine, serving

KEYS = Keys(hash_key=b"h" * 32, jwt_key=b"j" * 32, console_key=b"c" * 32)


@pytest.fixture(scope="session")
def keys() -> Keys:
    return KEYS


@pytest.fixture(scope="session")
def bearer() -> Callable[..., dict[str, str]]:
    """Make the header of a token."""

    def make(*scopes: str, subject: str = "anna", hours: float = 1) -> dict[str, str]:
        token = issue(KEYS.jwt_key, subject, scopes or ("chat",), timedelta(hours=hours))
        return {"Authorization": f"Bearer {token}"}

    return make


@pytest.fixture
def fake() -> FakeEngine:
    return FakeEngine()


@pytest.fixture
def client(fake: FakeEngine) -> Iterator[httpx.Client]:
    """A client of a server whose engine is a fake."""
    app = create_app(lambda: fake, settings=Settings(max_body=20_000), keys=KEYS)
    with serving(app) as address, httpx.Client(base_url=address, timeout=20) as http:
        yield http
