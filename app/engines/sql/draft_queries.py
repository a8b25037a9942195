"""The queries behind the draft of a table in a database: the ends of its numbers, and its texts, of its first rows."""

from collections.abc import Iterator

from sqlglot import exp

from app.dp.table.columns import Kind
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql.expressions import Node, case, column, double, is_null, whole
from app.engines.sql.live_queries import Normal, select_stored_values
from app.engines.sql.queries import Dialect, render

MAX_ROWS = 100_000
"""A draft looks at so many rows, in whatever order the database has them."""

MAX_TEXT_CHARACTERS = 256
"""Longer texts are cut to this length, which is one more than a category may have."""

DIVISORS = (86_400, 3_600, 60)
"""The lengths in seconds of a day, an hour and a minute."""

_MOST = 1e100


def ends_query(table: LiveTable, column_: LiveColumn, normal: Normal, dialect: Dialect) -> str:
    """Return a query for one row: the least and greatest value, then of times the largest rest by each divisor."""
    value = column(column_.name)
    selected = [exp.Min(this=_finite(column_, value)), exp.Max(this=_finite(column_, value))]
    selected += [exp.Max(this=rest) for rest in _rests(column_, value)]
    return render(exp.select(*selected, copy=False).from_(_first_rows(table, column_, normal), copy=False), dialect)


def texts_query(table: LiveTable, column_: LiveColumn, normal: Normal, dialect: Dialect, most: int) -> str:
    """Return a query for up to `most` different texts, one a row."""
    value = column(column_.name)
    end = {"start": exp.Literal.number(1), "length": exp.Literal.number(MAX_TEXT_CHARACTERS)}
    found = (
        exp.select(exp.Substring(this=value, **end), copy=False)
        .from_(_first_rows(table, column_, normal), copy=False)
        .where(exp.Not(this=is_null(value)), copy=False)
        .distinct(copy=False)
        .limit(most, copy=False)
    )
    return render(found, dialect)


def _first_rows(table: LiveTable, column_: LiveColumn, normal: Normal) -> exp.Subquery:
    rows = select_stored_values(table, [column_.name], normal)
    rows.this.limit(MAX_ROWS, copy=False)
    return rows


def _finite(column_: LiveColumn, value: Node) -> Node:
    """Return a node that is NULL for a double that cannot be a bound, such as NaN."""
    if column_.kind is not Kind.REAL:
        return value.copy()
    above = exp.GTE(this=value.copy(), expression=double(-_MOST))
    below = exp.LTE(this=value.copy(), expression=double(_MOST))
    return case([(exp.And(this=above, expression=below), value.copy())], exp.null())


def _rests(column_: LiveColumn, value: Node) -> Iterator[Node]:
    if column_.kind is Kind.SECONDS:
        for divisor in DIVISORS:
            yield exp.Abs(this=exp.Mod(this=value.copy(), expression=whole(divisor)))
