"""Who sends a request: a caller with a key or a token, or a reader of figures, who may have none."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer

from app.api.middleware.authentication import CREDENTIAL
from app.services import access
from app.services.access import Access, Credential
from app.services.context import Services


@dataclass(frozen=True, slots=True)
class Reader:
    """Who reads figures: the caller's credential, or None without a key; and the services."""

    credential: Credential | None
    services: Services


async def _read_reader(request: Request) -> Reader:
    return Reader(request.scope[CREDENTIAL], request.app.state.services)


ReaderOf = Annotated[Reader, Depends(_read_reader)]


@dataclass(frozen=True, slots=True)
class Caller:
    """The caller's credential, and the services that it calls."""

    credential: Credential
    services: Services

    def enter(self, name: str, keys: Sequence[str] | None = None) -> Access:
        """Return the caller's access to a dataset, and whether it has used the request's idempotency key before.

        Raises:
            UnauthenticatedError: the credential is not valid.
            NotFoundError: the dataset does not exist, or the caller may not see it.
        """
        with self.services.database.read_without_transaction() as session:
            return access.enter(session, self.credential, name, keys[0] if keys else None)


async def _read_caller(request: Request) -> Caller:
    return Caller(request.scope[CREDENTIAL], request.app.state.services)


CallerOf = Annotated[Caller, Depends(_read_caller)]

BEARER = Depends(
    HTTPBearer(scheme_name="key", description="A principal's key, or a token of its provider.", auto_error=False)
)
"""Describes authentication in the OpenAPI document; `AuthenticationGate` checks the credential before any route."""
