"""A live table in the form that the grammar of sums needs, and the queries that check it at registration."""

from collections.abc import Callable, Sequence

from sqlglot import exp

from app.dp.table.columns import Kind
from app.dp.table.sums import CellSums, Needs, PairSums
from app.engines.live_tables import LiveColumn, LiveTable
from app.engines.sql.expressions import Branch, Node, alias, case, column, is_nan, is_null, whole

Normal = Callable[[LiveColumn], Node]
"""An engine's expression for a column's values in the type in which they are stored (`app.engines.stored_columns`).

No value may make it raise an error.
"""


def table_node(path: Sequence[str]) -> exp.Table:
    """Return a reference to a table by its exact names, outermost first."""
    names = [exp.to_identifier(name, quoted=True) for name in path]
    return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(names), strict=False)))


def needed_columns(needs: Needs) -> tuple[str, ...]:
    """Return the names of the columns that `needs` reads."""
    if isinstance(needs, CellSums):
        return needs.columns
    return (needs.x, needs.y) if isinstance(needs, PairSums) else (needs.column,)


def select_stored_values(table: LiveTable, names: Sequence[str], normal: Normal) -> exp.Subquery:
    """Return a subquery with the named columns, in the types in which they would be stored."""
    columns = [table.column(name) for name in dict.fromkeys(names)]
    selected = [alias(normal(column), column.name) for column in columns]
    return exp.select(*selected, copy=False).from_(table_node(table.path), copy=False).subquery("live", copy=False)


def registration_query(table: LiveTable, complete: Sequence[str], normal: Normal) -> exp.Select:
    """Return a query for one row: the number of rows, then the number of missing values of each column `complete`."""
    lacking = []
    for name in complete:
        value = column(name)
        branches: list[Branch] = [(is_null(value), whole(1))]
        if table.column(name).kind is Kind.REAL:
            branches.append((is_nan(value), whole(1)))
        lacking.append(exp.Sum(this=case(branches, whole(0))))
    source = select_stored_values(table, complete, normal) if complete else table_node(table.path)
    return exp.select(exp.Count(this=exp.Star()), *lacking, copy=False).from_(source, copy=False)


def units_over_query(table: LiveTable, unit: str, most: int, normal: Normal) -> exp.Select:
    """Return a query for one row: how many units have more than `most` rows, and how many rows the largest has."""
    rows = exp.Count(this=exp.Star())
    grouped = (
        exp.select(column(unit), alias(rows, "rows"), copy=False)
        .from_(select_stored_values(table, [unit], normal), copy=False)
        .group_by(column(unit), copy=False)
        .subquery("units", copy=False)
    )
    over = case([(exp.GT(this=column("rows"), expression=whole(most)), whole(1))], whole(0))
    largest = exp.Max(this=column("rows"))
    return exp.select(exp.Sum(this=over), largest, copy=False).from_(grouped, copy=False)
