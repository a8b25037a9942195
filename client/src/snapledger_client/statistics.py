"""Functions that return the JSON documents of statistics."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from snapledger_client.numbers import Number, Value, decimal_text, value_text

Statistic = Mapping[str, Any]
"""The JSON document of a statistic: from these functions, from a release, or written by hand.

Examples:
    >>> from snapledger_client import Statistic, mean
    >>> statistic: Statistic = mean("body_mass_g")
    >>> penguins.plan(statistic, epsilon="0.5").statistic == {**statistic, "bounds": [2000, 7000]}
    True
"""

Bounds = tuple[Value, Value]
"""The lower and the upper bound that values are clamped to: numbers or, for a column of dates, dates.

Examples:
    >>> from snapledger_client import Bounds, mean
    >>> narrow: Bounds = (2500, "6500.5")
    >>> mean("body_mass_g", narrow)["bounds"]
    ['2500', '6500.5']
"""

Period = Literal["day", "iso_week", "month", "quarter", "year"]
"""A calendar period, of which each is a bin or a group.

Examples:
    >>> from snapledger_client import Period, histogram
    >>> period: Period = "month"
    >>> histogram("admitted", bins=period)
    {'kind': 'histogram', 'column': 'admitted', 'bins': 'month'}
"""

Periods = Mapping[str, Any]
"""Groups of calendar periods of a column of dates, made by `periods`.

Examples:
    >>> from snapledger_client import Periods, periods
    >>> months: Periods = periods("admitted", "month")
    >>> months["bins"]
    'month'
"""

T = TypeVar("T")
Pair = tuple[T | None, T | None]  # of two columns

PairOfBounds = Pair[Bounds]
"""The bounds of two columns, None for the declared ones.

Examples:
    >>> from snapledger_client import PairOfBounds, covariance
    >>> pair: PairOfBounds = (None, (2500, 6500))
    >>> covariance("bill_length_mm", "body_mass_g", pair)["bounds"]
    [None, ['2500', '6500']]
"""

Missing = Literal["exclude"]
"""What to do with missing values, if they do not count as the value that the owner declared: leave out their rows.

Examples:
    >>> from snapledger_client import Missing, mean
    >>> missing: Missing = "exclude"
    >>> mean("body_mass_g", missing=missing)["missing"]
    'exclude'
"""

Where = Mapping[str, Any]
"""A filter of rows: a condition for each column. A row must meet all of them.

A condition is a value, a list of values, `{"between": (least, most)}`, one or two of `at_least`, `above`, `at_most` and
`below`, `{"is_missing": True}`, or `{"not": …}` with another condition. A missing value meets only `is_missing`.

Examples:
    >>> from snapledger_client import Where
    >>> heavy: Where = {"species": "Gentoo", "body_mass_g": {"at_least": 5000}}
    >>> penguins.plan(count(where=heavy), epsilon="0.5").mechanism.sensitivity
    1.0
"""


def _add_members(document: dict[str, Any], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON is any value
    """Add the members that are not None to the document, numbers as exact texts, and return it."""
    for name, value in members.items():
        if value is not None:
            document[name] = _list_texts(name, value) if name in _SHAPES else value
    return document


_SHAPES = {
    "bounds": "a lower and an upper bound, such as (0, 120); ε is given by name, such as epsilon=1",
    "edges": "a list of edges, such as [0, 50, 100]",
}
_PAIRS = {"bounds": "(None, (0, 120))", "edges": "(None, [0, 50, 100])", "bins": "(None, 5)"}


def _list_texts(name: str, values: Any) -> list[str]:  # noqa: ANN401 - what a caller may have given
    """Return bounds or edges as exact texts.

    Raises:
        TypeError: it is no list of values.
    """
    if not _is_list(values):
        raise TypeError(f"`{name}` must be {_SHAPES[name]}")
    return [value_text(each) for each in values]


def _add_pairs(document: dict[str, Any], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON is any value
    """Add the members that are not None, each with a value or None for each of two columns, and return the document."""
    for name, values in members.items():
        if values is not None:
            if not _is_list(values) or (name in _SHAPES and not all(each is None or _is_list(each) for each in values)):
                raise TypeError(f"`{name}` must have one for each of both columns, or None, such as {_PAIRS[name]}")
            document[name] = [_add_members({}, **{name: value}).get(name) for value in values]
    return document


def _is_list(values: Any) -> bool:  # noqa: ANN401 - what a caller may have given
    """Return whether there are several values, not a single one."""
    return isinstance(values, Iterable) and not isinstance(values, str | Mapping)


def periods(column: str, period: Period, bounds: Bounds | None = None) -> dict[str, Any]:
    """The groups of a column of dates: a group for each calendar period, by default within the declared bounds.

    Examples:
        >>> from snapledger_client import count, periods
        >>> count(group_by=periods("admitted", "month"))
        {'kind': 'count', 'group_by': {'column': 'admitted', 'bins': 'month'}}
    """
    return _add_members({"column": column, "bins": period}, bounds=bounds)


def mean(  # noqa: PLR0913, PLR0917 - as many as it can have
    column: str,
    bounds: Bounds | None = None,
    missing: Missing | None = None,
    where: Where | None = None,
    group_by: str | Periods | None = None,
    weight: str | None = None,
) -> dict[str, Any]:
    """The mean of a numeric or boolean column, by default within the bounds that the owner declared.

    With `missing="exclude"`, here and below, it is a derived statistic: that of the rows that have a value. So is the
    mean of the rows that meet `where`, that of each category of `group_by`, and that with the weights of a column.

    Examples:
        >>> from snapledger_client import mean
        >>> mean("body_mass_g")
        {'kind': 'mean', 'column': 'body_mass_g'}
        >>> mean("body_mass_g", where={"species": "Gentoo"})
        {'kind': 'mean', 'column': 'body_mass_g', 'where': {'species': 'Gentoo'}}
    """
    document = {"kind": "mean", "column": column}
    return _add_members(document, bounds=bounds, missing=missing, weight=weight, where=where, group_by=group_by)


def variance(
    column: str, bounds: Bounds | None = None, missing: Missing | None = None, where: Where | None = None
) -> dict[str, Any]:
    """The sample variance (n - 1) of a numeric or boolean column; with `missing`, also of the rows that meet `where`.

    Examples:
        >>> from snapledger_client import variance
        >>> variance("bill_length_mm", bounds=(30, 60))
        {'kind': 'variance', 'column': 'bill_length_mm', 'bounds': ['30', '60']}
    """
    return _add_members({"kind": "variance", "column": column}, bounds=bounds, where=where, missing=missing)


def covariance(
    first: str,
    second: str,
    bounds: PairOfBounds | None = None,
    missing: Missing | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """The sample covariance (n - 1) of two columns; `bounds` has a pair, or None, for each.

    With `missing`, also of the rows that meet `where`.

    Examples:
        >>> from snapledger_client import covariance
        >>> covariance("bill_length_mm", "body_mass_g")
        {'kind': 'covariance', 'columns': ['bill_length_mm', 'body_mass_g']}
    """
    document = _add_pairs({"kind": "covariance", "columns": [first, second]}, bounds=bounds)
    return _add_members(document, where=where, missing=missing)


def count(where: Where | None = None, group_by: str | Periods | None = None) -> dict[str, Any]:
    """How many rows meet `where`, or how many of each category of the column `group_by` do.

    Examples:
        >>> from snapledger_client import count
        >>> count(where={"species": {"in": ["Adelie"]}})
        {'kind': 'count', 'where': {'species': {'in': ['Adelie']}}}
    """
    return _add_members({"kind": "count"}, where=where, group_by=group_by)


def missing_values(column: str) -> dict[str, Any]:
    """How many rows have no value of a column.

    Examples:
        >>> from snapledger_client import missing_values
        >>> missing_values("body_mass_g")
        {'kind': 'missing', 'column': 'body_mass_g'}
    """
    return {"kind": "missing", "column": column}


def total(
    column: str,
    bounds: Bounds | None = None,
    where: Where | None = None,
    group_by: str | Periods | None = None,
    missing: Missing | None = None,
) -> dict[str, Any]:
    """The sum of a column over the rows that meet `where`, in all or for each category of the column `group_by`.

    Examples:
        >>> from snapledger_client import total
        >>> total("body_mass_g", group_by="species")
        {'kind': 'sum', 'column': 'body_mass_g', 'group_by': 'species'}
    """
    document = {"kind": "sum", "column": column}
    return _add_members(document, bounds=bounds, where=where, group_by=group_by, missing=missing)


def histogram(
    column: str,
    edges: Sequence[Value] | None = None,
    bins: int | Period | None = None,
    bounds: Bounds | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """How many rows are in each bin: numeric columns by `edges`, or by `bins` of equal width; others by category.

    With `where`, the bins count only rows that meet it; the last count is of all other rows.

    Examples:
        >>> from snapledger_client import histogram
        >>> histogram("species")
        {'kind': 'histogram', 'column': 'species'}
        >>> histogram("body_mass_g", bins=10)
        {'kind': 'histogram', 'column': 'body_mass_g', 'bins': 10}
    """
    return _add_members({"kind": "histogram", "column": column}, edges=edges, bins=bins, bounds=bounds, where=where)


def table(  # noqa: PLR0913, PLR0917 - as many as a two-way table has
    first: str,
    second: str,
    edges: Pair[Sequence[Value]] | None = None,
    bins: Pair[int | Period] | None = None,
    bounds: PairOfBounds | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """A two-way table: how many rows are in each pair of bins of two columns, which are given as for a histogram.

    Examples:
        >>> from snapledger_client import table
        >>> table("species", "body_mass_g", bins=(None, 5))
        {'kind': 'histogram', 'columns': ['species', 'body_mass_g'], 'bins': [None, 5]}
    """
    document = {"kind": "histogram", "columns": [first, second]}
    return _add_members(_add_pairs(document, edges=edges, bins=bins, bounds=bounds), where=where)


def item(  # noqa: PLR0913, PLR0917 - as many as an item has
    statistic: Statistic,
    epsilon: Number | None = None,
    accuracy: Number | None = None,
    weight: Number | None = None,
    relative_accuracy: Number | None = None,
    guess: Number | None = None,
) -> dict[str, Any]:
    """An item of a batch: a statistic with its own ε or accuracy, or with a weight for its share of the batch's ε.

    `relative_accuracy` is an accuracy as a part of `guess`, what the statistic may be.

    Examples:
        >>> from snapledger_client import item, mean
        >>> item(mean("body_mass_g"), weight=2)
        {'statistic': {'kind': 'mean', 'column': 'body_mass_g'}, 'weight': '2'}
    """
    numbers = {"epsilon": epsilon, "accuracy": accuracy, "weight": weight}
    numbers |= {"relative_accuracy": relative_accuracy, "guess": guess}
    return {"statistic": statistic} | {name: decimal_text(each) for name, each in numbers.items() if each is not None}
