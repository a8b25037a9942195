"""The pages of lists: `limit`, `after` and `order` in the query, `next` in the answer, and the header Link."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final
from urllib.parse import parse_qsl, quote, urlencode

from fastapi import Depends, Query, Request
from pydantic import WithJsonSchema

from app.errors import InvalidRequestError
from app.services.names import NAME_PATTERN, RELEASE_ID_PATTERN
from app.spelling import suggest_name

DEFAULT_PAGE, MAX_PAGE = 100, 1_000
_ORDERS: Final = ("oldest", "newest")


@dataclass(frozen=True, slots=True)
class Page:
    """The query parameters of a list, each validated when it is read; the path of the list and its whole query."""

    path: str
    query: str
    raw_limit: str | int
    after: str | None
    raw_order: str = "oldest"

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
    def after_figure(self) -> str | None:
        """`after` in a list of figures.

        Raises:
            InvalidRequestError: it is not the names of a dataset and a figure.
        """
        if self.after is None or all(re.fullmatch(NAME_PATTERN, part) for part in self.after.split("/", 1)):
            return self.after
        raise InvalidRequestError(("after", "must be the `next` of an earlier page"))

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
        asked = {name: value for name, value in parse_qsl(self.query, keep_blank_values=True) if name != "after"}
        links = [f'<{self._address(asked)}>; rel="first"']
        if following is not None:
            links.append(f'<{self._address(asked | {"after": str(following)})}>; rel="next"')
        return {"Link": ", ".join(links)}

    def _address(self, query: Mapping[str, str]) -> str:
        return quote(self.path) + ("?" if query else "") + urlencode(query)


Limit = Annotated[
    str | int,
    Query(description="The maximum number of items to list."),
    WithJsonSchema({"type": "integer", "minimum": 1, "maximum": MAX_PAGE}),
]
After = Annotated[
    str | None,
    Query(description="The `next` of the previous page; the list begins after it."),
    WithJsonSchema({"type": "string"}),
]
Order = Annotated[
    str,
    Query(description="Which item comes first; keep it from page to page."),
    WithJsonSchema({"type": "string", "enum": list(_ORDERS)}),
]


def _query_of(request: Request) -> tuple[str, str]:
    return request.scope["path"], request.scope["query_string"].decode("latin-1")


async def _read_page(
    request: Request, limit: Limit = DEFAULT_PAGE, after: After = None, order: Order = _ORDERS[0]
) -> Page:
    return Page(*_query_of(request), limit, after, order)


async def _read_page_by_name(request: Request, limit: Limit = DEFAULT_PAGE, after: After = None) -> Page:
    return Page(*_query_of(request), limit, after)


PageOf = Annotated[Page, Depends(_read_page)]
PageByNameOf = Annotated[Page, Depends(_read_page_by_name)]
"""A page of a list that is in the order of names, and not of time."""
