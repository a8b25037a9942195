"""What single routes take in their query; each value is validated when it is read."""

import re
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from pydantic import WithJsonSchema

from app.errors import InvalidRequestError

MAX_SEARCH_LENGTH = 255


@dataclass(frozen=True, slots=True)
class Search:
    """What a list's items have to contain."""

    raw: str

    @property
    def text(self) -> str:
        """The text.

        Raises:
            InvalidRequestError: it is longer than 255 characters, or has control characters.
        """
        if len(self.raw) <= MAX_SEARCH_LENGTH and (self.raw.isprintable()):
            return self.raw
        raise InvalidRequestError(("search", f"must be at most {MAX_SEARCH_LENGTH} printable characters"))


async def _read_search(
    search: Annotated[
        str,
        Query(description="List only what has this text in its name or title, in any case."),
        WithJsonSchema({"type": "string", "maxLength": MAX_SEARCH_LENGTH}),
    ] = "",
) -> Search:
    return Search(search)


SearchOf = Annotated[Search, Depends(_read_search)]


MIN_REFRESH_SECONDS, MAX_REFRESH_SECONDS = 10, 86_400


@dataclass(frozen=True, slots=True)
class Refresh:
    """How often a page is to be loaded again."""

    raw: str

    @property
    def seconds(self) -> int | None:
        """The time between two loads; None if it is not to be loaded again.

        Raises:
            InvalidRequestError: it is not a whole number from 10 to 86,400.
        """
        if not self.raw:
            return None
        if re.fullmatch("[0-9]{1,5}", self.raw) and MIN_REFRESH_SECONDS <= int(self.raw) <= MAX_REFRESH_SECONDS:
            return int(self.raw)
        raise InvalidRequestError(
            ("refresh", f"must be a whole number of seconds from {MIN_REFRESH_SECONDS} to {MAX_REFRESH_SECONDS:,}")
        )


async def _read_refresh(
    refresh: Annotated[
        str,
        Query(description="After how many seconds a browser loads the page again."),
        WithJsonSchema({"type": "integer", "minimum": MIN_REFRESH_SECONDS, "maximum": MAX_REFRESH_SECONDS}),
    ] = "",
) -> Refresh:
    return Refresh(refresh)


RefreshOf = Annotated[Refresh, Depends(_read_refresh)]


REQUEST_STATES = ("open", "granted", "declined")


@dataclass(frozen=True, slots=True)
class RequestState:
    """Which requests for budget the caller wants to see."""

    raw: str

    @property
    def name(self) -> str | None:
        """The state, or None for all.

        Raises:
            InvalidRequestError: there is no such state.
        """
        if self.raw and self.raw not in REQUEST_STATES:
            raise InvalidRequestError(("state", f"must be one of {', '.join(REQUEST_STATES)}"))
        return self.raw or None


async def _read_request_state(
    state: Annotated[
        str,
        Query(description="List only the requests in this state; without it, all of them."),
        WithJsonSchema({"type": "string", "enum": list(REQUEST_STATES)}),
    ] = "",
) -> RequestState:
    return RequestState(state)


StateOf = Annotated[RequestState, Depends(_read_request_state)]


GRANTS = ("spend", "view")


@dataclass(frozen=True, slots=True)
class Grant:
    """What the caller wants to grant."""

    raw: str

    @property
    def is_view(self) -> bool:
        """Whether it is the sight of figures, and not an allowance.

        Raises:
            InvalidRequestError: nothing of that name is granted.
        """
        if self.raw not in GRANTS:
            raise InvalidRequestError(("to", f"must be one of {', '.join(GRANTS)}"))
        return self.raw == "view"


async def _read_grant(
    to: Annotated[
        str,
        Query(description="What is to be granted: `spend`, an allowance; or `view`, the sight of the figures."),
        WithJsonSchema({"type": "string", "enum": list(GRANTS)}),
    ] = "spend",
) -> Grant:
    return Grant(to)


GrantOf = Annotated[Grant, Depends(_read_grant)]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much of a ledger the caller wants to have verified."""

    entered: str | bool

    @property
    def incremental(self) -> bool:
        """Whether to check only what follows the latest verified entry.

        Raises:
            InvalidRequestError: it is neither true nor false.
        """
        if str(self.entered).lower() not in {"true", "false"}:
            raise InvalidRequestError(("incremental", "must be true or false"))
        return str(self.entered).lower() == "true"


async def _read_extent(
    *,
    incremental: Annotated[
        str | bool,
        Query(description="Check only what follows the latest verified entry."),
        WithJsonSchema({"type": "boolean"}),
    ] = False,
) -> Extent:
    return Extent(incremental)


ExtentOf = Annotated[Extent, Depends(_read_extent)]
