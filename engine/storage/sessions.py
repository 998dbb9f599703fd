"""Connections as the engine's role, and the one place where a tenant is set."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from uuid import NAMESPACE_URL, UUID, uuid5

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from engine.storage import waits
from engine.storage.errors import DRIVER_ERRORS, StorageError, explain
from engine.storage.schema import GLOBAL_USER_ID

USER_NAMESPACE = uuid5(NAMESPACE_URL, "https://anamnesis.invalid/user")


class TenantError(ValueError):
    """A user id that cannot be a tenant."""


def tenant_id(user: str) -> UUID:
    """The UUID of a user: the string itself where it is one, else derived from it.

    Raises:
        TenantError: the sentinel that owns the corpus was given.
    """
    try:
        derived = UUID(user)
    except ValueError:
        derived = uuid5(USER_NAMESPACE, user)
    if derived == GLOBAL_USER_ID:
        raise TenantError("This user id is reserved for the curated corpus. Use another one.")
    return derived


class Database:
    """A pool of connections as one role; transactions with or without a tenant."""

    def __init__(self, url: str, *, pool_size: int = 8) -> None:
        self._url = url
        self._engine: AsyncEngine = create_async_engine(
            url,
            pool_size=pool_size,
            max_overflow=pool_size,
            pool_timeout=waits.POOL_SECONDS,
            pool_pre_ping=True,
            hide_parameters=True,  # a driver error must not carry a user's text
            connect_args=waits.connect_args(url),
        )

    @asynccontextmanager
    async def transaction(self, tenant: UUID | None = None) -> AsyncIterator[AsyncConnection]:
        """One transaction; the tenant holds for it alone.

        Raises:
            StorageError: the database refused or could not be reached.
        """
        try:
            async with self._engine.begin() as connection:
                if tenant is not None:
                    if tenant == GLOBAL_USER_ID:
                        raise TenantError("The corpus is not a tenant.")
                    await connection.execute(
                        sa.text("SELECT set_config('anamnesis.user_id', :user, true)"), {"user": str(tenant)}
                    )
                yield connection
        except DRIVER_ERRORS as error:
            # `from None`: the driver's own text may quote a row.
            raise explain(error, self._url) from None
        except sa.exc.TimeoutError:
            raise StorageError("All connections of this process are in use. Try again in a moment.") from None
        except (OSError, TimeoutError) as error:
            raise StorageError(f"The database cannot be reached ({type(error).__name__}).") from None

    async def close(self) -> None:
        await self._engine.dispose()
