"""What both kinds of lists have in common: the items that are fetched already, and how a list shows itself."""

from collections import deque
from inspect import iscoroutinefunction
from typing import Any, Generic, Protocol, TypeVar

from snapledger_client.models.base import Answer, render_html, render_text

T = TypeVar("T", bound=Answer)


class _Printer(Protocol):
    def text(self, text: str, /) -> None: ...


class BaseListing(Generic[T]):
    """A list that is fetched page by page; a notebook shows its first items without reading them away."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._ahead: deque[T] = deque()

    def _fetch(self) -> Any:  # noqa: ANN401 - awaited by an asynchronous list
        """Fetch the next page, if there is one."""
        raise NotImplementedError

    def peek(self) -> list[T] | None:
        """Return the items of the next page without reading them away; None if an asynchronous list has none yet.

        Examples:
            >>> client.datasets().peek()[0].name
            'penguins'
        """
        if not self._ahead:
            if iscoroutinefunction(self._fetch):
                return None
            self._fetch()
        return list(self._ahead)

    def __repr__(self) -> str:
        return f"<{self._name}: read it with `for`, `to_list()` or `to_frame()`>"

    def __str__(self) -> str:
        return render_text(self) if self.peek() is not None else repr(self)

    def _repr_html_(self) -> str | None:
        return render_html(self) if self.peek() is not None else None

    def _repr_pretty_(self, printer: _Printer, cycle: bool) -> None:  # noqa: FBT001 - IPython's
        del cycle
        printer.text(str(self))
