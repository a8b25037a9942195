"""A list of the service, fetched page by page."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from snapledger_client.calls import Call, Page, Pages
from snapledger_client.frames import import_pandas
from snapledger_client.models.base import Answer, make_list_row
from snapledger_client.models.listing import BaseListing

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T", bound=Answer)


class AsyncListing(BaseListing[T], AsyncIterator[T]):
    """A list that is fetched page by page while it is read, once: an iterator. `to_list` and `to_frame` read the rest.

    Examples:
        >>> len(await penguins.releases().to_list()) >= 0
        True
    """

    def __init__(self, send: Callable[[Call[Page[T]]], Awaitable[Page[T]]], pages: Pages[T], name: str) -> None:
        super().__init__(name)
        self._send, self._pages = send, pages
        self._next: Call[Page[T]] | None = pages(None)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while not self._ahead and self._next is not None:
            await self._fetch()
        if not self._ahead:
            raise StopAsyncIteration
        return self._ahead.popleft()

    async def _fetch(self) -> None:
        if self._next is not None:
            page = await self._send(self._next)
            self._ahead.extend(page.items)
            self._next = None if page.next is None else self._pages(page.next)

    async def to_list(self) -> list[T]:
        """Return all items that are left.

        Examples:
            >>> [facts.name for facts in await client.datasets().to_list()]
            ['penguins']
        """
        return [each async for each in self]

    async def to_frame(self) -> pd.DataFrame:
        """Return a pandas frame with a row for each item that is left.

        Raises:
            ImportError: pandas is not installed.

        Examples:
            >>> (await client.datasets().to_frame())["dataset"].to_list()
            ['penguins']
        """
        pandas = import_pandas()
        rows: list[dict[str, Any]] = [make_list_row(each) async for each in self]
        return pandas.DataFrame(rows)
