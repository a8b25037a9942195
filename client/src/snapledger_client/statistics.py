"""The statistics that can be asked for, as the documents that the service's interface describes."""

from collections.abc import Mapping, Sequence
from typing import Any

from snapledger_client.numbers import Number, decimal_text

Statistic = Mapping[str, Any]
"""A statistic: what these functions make, what a release tells of itself, or a document of one's own.

Examples:
    >>> from snapledger_client import Statistic, mean
    >>> statistic: Statistic = mean("body_mass_g")
    >>> penguins.plan(statistic, epsilon="0.5").statistic == {**statistic, "bounds": [2000, 7000]}
    True
"""

Bounds = tuple[Number, Number]
"""The lower and the upper bound that values are clamped to.

Examples:
    >>> from snapledger_client import Bounds, mean
    >>> narrow: Bounds = (2500, "6500.5")
    >>> mean("body_mass_g", narrow)["bounds"]
    ['2500', '6500.5']
"""


def _bounds(bounds: Bounds) -> list[str]:
    return [decimal_text(bound) for bound in bounds]


def mean(column: str, bounds: Bounds | None = None) -> dict[str, Any]:
    """The mean of a numeric or boolean column, by default within the bounds that the owner declared.

    Examples:
        >>> from snapledger_client import mean
        >>> mean("body_mass_g")
        {'kind': 'mean', 'column': 'body_mass_g'}
    """
    return _of_column("mean", column, bounds)


def variance(column: str, bounds: Bounds | None = None) -> dict[str, Any]:
    """The sample variance (n - 1) of a numeric or boolean column.

    Examples:
        >>> from snapledger_client import variance
        >>> variance("bill_length_mm", bounds=(30, 60))
        {'kind': 'variance', 'column': 'bill_length_mm', 'bounds': ['30', '60']}
    """
    return _of_column("variance", column, bounds)


def _of_column(kind: str, column: str, bounds: Bounds | None) -> dict[str, Any]:
    return {"kind": kind, "column": column} | ({} if bounds is None else {"bounds": _bounds(bounds)})


def covariance(first: str, second: str, bounds: tuple[Bounds | None, Bounds | None] | None = None) -> dict[str, Any]:
    """The sample covariance (n - 1) of two columns; `bounds` has a pair, or None, for each.

    Examples:
        >>> from snapledger_client import covariance
        >>> covariance("bill_length_mm", "body_mass_g")
        {'kind': 'covariance', 'columns': ['bill_length_mm', 'body_mass_g']}
    """
    statistic: dict[str, Any] = {"kind": "covariance", "columns": [first, second]}
    if bounds is not None:
        statistic["bounds"] = [None if pair is None else _bounds(pair) for pair in bounds]
    return statistic


def histogram(
    column: str, edges: Sequence[Number] | None = None, bins: int | None = None, bounds: Bounds | None = None
) -> dict[str, Any]:
    """How many rows are in each bin: numeric columns by `edges`, or by `bins` of equal width; others by category.

    Examples:
        >>> from snapledger_client import histogram
        >>> histogram("species")
        {'kind': 'histogram', 'column': 'species'}
        >>> histogram("body_mass_g", bins=10)
        {'kind': 'histogram', 'column': 'body_mass_g', 'bins': 10}
    """
    statistic: dict[str, Any] = {"kind": "histogram", "column": column}
    if edges is not None:
        statistic["edges"] = [decimal_text(edge) for edge in edges]
    if bins is not None:
        statistic["bins"] = bins
    if bounds is not None:
        statistic["bounds"] = _bounds(bounds)
    return statistic
