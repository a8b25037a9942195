"""The pages of lists: `limit`, `after` and `order` in the query, `next` in the answer, and the header Link."""

import re
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import urlencode

from fastapi import Depends, Query, Request
from pydantic import WithJsonSchema

from app.errors import InvalidRequestError
from app.services.names import NAME_PATTERN, RELEASE_ID_PATTERN
from app.spelling import suggest_name

DEFAULT_PAGE, MAX_PAGE = 100, 1_000
_ORDERS: Final = ("oldest", "newest")


@dataclass(frozen=True, slots=True)
class Page:
    """The query parameters of a list, each validated when it is read, and the path of the list."""

    path: str
    raw_limit: str | int
    after: str | None
    raw_order: str

    @property
    def limit(self) -> int:
        """The maximum number of items to list.

        Raises:
            InvalidRequestError: it is not a whole number from 1 to 1,000.
        """
        if re.fullmatch("[0-9]{1,4}", str(self.raw_limit)) and 1 <= int(self.raw_limit) <= MAX_PAGE:
            return int(self.raw_limit)
        raise InvalidRequestError(("limit", f"must be a whole number from 1 to {MAX_PAGE}"))

    @property
    def newest(self) -> bool:
        """Whether the list begins with the newest item.

        Raises:
            InvalidRequestError: the order is neither `oldest` nor `newest`.
        """
        if self.raw_order in _ORDERS:
            return self.raw_order == "newest"
        meant = suggest_name(self.raw_order, _ORDERS)
        raise InvalidRequestError(("order", f"must be 'oldest' or 'newest'{meant}"))

    @property
    def after_number(self) -> int | None:
        """`after` in a numbered list.

        Raises:
            InvalidRequestError: it is not a number.
        """
        if self.after is None:
            return None
        if re.fullmatch("[0-9]{1,18}", self.after):
            return int(self.after)
        raise InvalidRequestError(("after", "must be the `next` of an earlier page, a number"))

    @property
    def after_name(self) -> str | None:
        """`after` in a list of names.

        Raises:
            InvalidRequestError: it is not a valid name.
        """
        if self.after is None or re.fullmatch(NAME_PATTERN, self.after):
            return self.after
        raise InvalidRequestError(("after", "must be the `next` of an earlier page, a name"))

    @property
    def after_id(self) -> str | None:
        """`after` in a list of releases or of requests for budget.

        Raises:
            InvalidRequestError: it is not an id.
        """
        if self.after is None or re.fullmatch(RELEASE_ID_PATTERN, self.after):
            return self.after
        raise InvalidRequestError(("after", "must be the `next` of an earlier page, an id"))

    def links(self, following: str | int | None) -> dict[str, str]:
        """Return the header Link (RFC 8288) of a page whose `next` is `following`."""
        asked = {"limit": self.limit, "order": "newest" if self.newest else "oldest"}
        links = [f'<{self.path}?{urlencode(asked)}>; rel="first"']
        if following is not None:
            links.append(f'<{self.path}?{urlencode({**asked, "after": following})}>; rel="next"')
        return {"Link": ", ".join(links)}


async def _read_page(
    request: Request,
    limit: Annotated[
        str | int,
        Query(description="The maximum number of items to list."),
        WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_PAGE}),
    ] = DEFAULT_PAGE,
    after: Annotated[
        str | None,
        Query(description="The `next` of the previous page; the list begins after it."),
        WithJsonSchema({"type": "string"}),
    ] = None,
    order: Annotated[
        str,
        Query(description="Which item comes first; keep it from page to page."),
        WithJsonSchema({"type": "string", "enum": list(_ORDERS)}),
    ] = _ORDERS[0],
) -> Page:
    return Page(request.scope["path"], limit, after, order)


PageOf = Annotated[Page, Depends(_read_page)]
