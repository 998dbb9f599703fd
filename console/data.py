"""Reads for the pages: one pool, a short memory, and one clear line where a read fails."""

from collections.abc import Callable
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar, cast

import sqlalchemy as sa
import streamlit as st

from console import config
from console.texts import t

P = ParamSpec("P")
T = TypeVar("T")

TTL = 5
"""Seconds: long enough for the reruns of one page, short enough that a new message is seen at once."""

STATEMENT_TIMEOUT_MS = 5_000
_QUERY_CANCELED = "57014"


def read(query: Callable[Concatenate[sa.Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a query of `console.queries`, or end the page with one line that says why it cannot be run."""
    url = config.database_url()
    if url is None:
        _stop(t("data.no_url"))
    try:
        found = _cached(
            f"{query.__module__}.{query.__name__}", url, lambda conn: query(conn, *args, **kwargs), args, kwargs
        )
    except sa.exc.SQLAlchemyError as error:
        _stop(_reason(error))
    return cast("T", found)


def refresh() -> None:
    """Forget what was read."""
    _cached.clear()


@st.cache_data(ttl=TTL, max_entries=500, show_spinner=False)
def _cached(name: str, url: str, _query: Callable[[sa.Connection], Any], args: Any, kwargs: Any) -> Any:
    del name, args, kwargs
    with engine(url).connect() as conn:
        return _query(conn)


@st.cache_resource(show_spinner=False)
def engine(url: str) -> sa.Engine:
    """The pool of the console's role."""
    return sa.create_engine(
        url,
        pool_size=4,
        max_overflow=2,
        pool_timeout=5,
        pool_pre_ping=True,
        pool_recycle=1800,
        hide_parameters=True,
        connect_args={
            "connect_timeout": 3,
            "application_name": "anamnesis-console",
            "options": f"-c statement_timeout={STATEMENT_TIMEOUT_MS} -c default_transaction_read_only=on",
        },
    )


def _reason(error: sa.exc.SQLAlchemyError) -> str:
    """Why a read failed, in the reader's words."""
    state = getattr(getattr(error, "orig", None), "sqlstate", None)
    if state == _QUERY_CANCELED:
        return t("data.too_slow", seconds=STATEMENT_TIMEOUT_MS // 1000)
    if isinstance(error, sa.exc.ProgrammingError):
        return t("data.not_ready")
    return t("data.unreachable")


def _stop(line: str) -> NoReturn:
    st.error(line, icon=":material/database_off:")
    st.stop()
