"""The two queries of a list that is read page by page, oldest first and newest first, and the pattern of a search."""

from typing import Any, Final, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam

MAX_NUMBER: Final = 2**63 - 1
MAX_ID: Final = "ffffffff-ffff-ffff-ffff-ffffffffffff"
"""No row is last: where a list begins that is read newest first."""


class PageQueries(NamedTuple):
    """At most `most` rows that follow the row `after`, in either order."""

    oldest: Select[*tuple[Any, ...]]
    newest: Select[*tuple[Any, ...]]

    def where(self, *conditions: ColumnElement[bool]) -> "PageQueries":
        """Return the queries with further conditions."""
        return PageQueries(self.oldest.where(*conditions), self.newest.where(*conditions))

    def choose(self, *, newest: bool) -> Select[*tuple[Any, ...]]:
        """Return one of the queries."""
        return self.newest if newest else self.oldest


def page_queries(query: Select[*tuple[Any, ...]], column: ColumnElement[Any]) -> PageQueries:
    """Return a query's pages in the order of a column whose values rise with time."""
    after: BindParameter[Any] = bindparam("after")
    most: BindParameter[int] = bindparam("most")
    return PageQueries(
        query.where(column > after).order_by(column).limit(most),
        query.where(column < after).order_by(column.desc()).limit(most),
    )


def containing(text: str) -> str:
    """Return the pattern of LIKE, escaped by backslashes, for texts that contain a text."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
