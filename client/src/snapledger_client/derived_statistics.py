"""Functions that return the JSON documents of derived statistics, which follow from releases.

A derived statistic costs only what its missing components cost. Pass a document to `Dataset.derive` or
`Dataset.plan_derived`, or use the methods of `Dataset` with the same names as these functions.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from snapledger_client import statistics
from snapledger_client.numbers import Number, Value, decimal_text, list_numbers
from snapledger_client.statistics import Bounds, Missing, Pair, PairOfBounds, Period, Periods, Where

DerivedStatistic = Mapping[str, Any]
"""The JSON document of a derived statistic: from these functions, from an answer, or written by hand.

Examples:
    >>> from snapledger_client import DerivedStatistic, total
    >>> sum_of_all: DerivedStatistic = {"kind": "sum", "column": "body_mass_g"}  # n times the mean
    >>> penguins.plan_derived(sum_of_all, epsilon="0.5").components[0].statistic["kind"]
    'mean'
    >>> sum_of_some = total("body_mass_g", where={"species": ["Chinstrap", "Gentoo"]})  # free after their mean
    >>> penguins.plan_derived(sum_of_some, epsilon="0.5").components[0].role
    'sum'
"""


def _replace_kind(kind: str, statistic: dict[str, Any]) -> dict[str, Any]:
    return {**statistic, "kind": kind}


def standard_deviation(
    column: str, bounds: Bounds | None = None, missing: Missing | None = None, where: Where | None = None
) -> dict[str, Any]:
    """The root of the sample variance; with `missing`, also of the rows that meet `where`, as for those that follow.

    Examples:
        >>> from snapledger_client import standard_deviation
        >>> standard_deviation("body_mass_g")
        {'kind': 'standard_deviation', 'column': 'body_mass_g'}
    """
    return _replace_kind("standard_deviation", statistics.variance(column, bounds, missing, where))


def proportion(column: str | None = None, category: str | None = None, where: Where | None = None) -> dict[str, Any]:
    """The share of rows that are true in a boolean column, of a `category` of a column, or that meet `where`.

    Examples:
        >>> from snapledger_client import proportion
        >>> proportion("species", "Gentoo")
        {'kind': 'proportion', 'column': 'species', 'category': 'Gentoo'}
    """
    members = {"column": column, "category": category, "where": where}
    return {"kind": "proportion"} | {name: each for name, each in members.items() if each is not None}


def filtered_mean(
    column: str, where: Where, bounds: Bounds | None = None, missing: Missing | None = None
) -> dict[str, Any]:
    """The mean over the rows that meet `where`: a released sum divided by a released count.

    Examples:
        >>> from snapledger_client import filtered_mean
        >>> filtered_mean("body_mass_g", {"species": {"in": ["Gentoo"]}})["kind"]
        'mean'
    """
    return statistics.mean(column, bounds, missing, where)


def weighted_mean(  # noqa: PLR0913, PLR0917 - a mean's, the weight and the rows
    column: str,
    weight: str,
    where: Where | None = None,
    group_by: str | Periods | None = None,
    bounds: Bounds | None = None,
    missing: Missing | None = None,
) -> dict[str, Any]:
    """The mean of a column with the weights of another column, whose declared bounds are at least 0.

    It is over all rows, those that meet `where`, or those of each declared category of `group_by`.

    Examples:
        >>> from snapledger_client import weighted_mean
        >>> weighted_mean("bill_length_mm", "body_mass_g")
        {'kind': 'mean', 'column': 'bill_length_mm', 'weight': 'body_mass_g'}
    """
    return statistics.mean(column, bounds, missing, where, group_by, weight)


def mean_by_group(
    column: str,
    group_by: str | Periods,
    where: Where | None = None,
    bounds: Bounds | None = None,
    missing: Missing | None = None,
) -> dict[str, Any]:
    """The mean of a column in each declared category of `group_by`, over the rows that meet `where`.

    Examples:
        >>> from snapledger_client import mean_by_group
        >>> mean_by_group("body_mass_g", "species")
        {'kind': 'mean', 'column': 'body_mass_g', 'group_by': 'species'}
    """
    return statistics.mean(column, bounds, missing, where, group_by)


def proportion_by_group(
    column: str, group_by: str | Periods, category: str | None = None, where: Where | None = None
) -> dict[str, Any]:
    """The share of each group's rows that are true in a boolean column, or of a `category` of a column.

    Examples:
        >>> from snapledger_client import proportion_by_group
        >>> proportion_by_group("island", "species", "Dream")
        {'kind': 'proportion', 'column': 'island', 'group_by': 'species', 'category': 'Dream'}
    """
    return {"kind": "proportion", "column": column} | _given(group_by=group_by, category=category, where=where)


def _given(**members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON is any value
    return {name: each for name, each in members.items() if each is not None}


def correlation(
    first: str,
    second: str,
    bounds: PairOfBounds | None = None,
    missing: Missing | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """Pearson's correlation of two columns.

    Examples:
        >>> from snapledger_client import correlation
        >>> correlation("bill_length_mm", "body_mass_g")
        {'kind': 'correlation', 'columns': ['bill_length_mm', 'body_mass_g']}
    """
    return _replace_kind("correlation", statistics.covariance(first, second, bounds, missing, where))


def regression(
    x: str,
    y: str,
    bounds: PairOfBounds | None = None,
    missing: Missing | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """The least-squares line of the column `y` on the column `x`: `slope` and `intercept`.

    Examples:
        >>> from snapledger_client import regression
        >>> regression("bill_length_mm", "body_mass_g")["columns"]
        ['bill_length_mm', 'body_mass_g']
    """
    return _replace_kind("regression", statistics.covariance(x, y, bounds, missing, where))


def cumulative(
    column: str,
    edges: Sequence[Value] | None = None,
    bins: int | Period | None = None,
    bounds: Bounds | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """The number of rows below each edge of a histogram except the first.

    Examples:
        >>> from snapledger_client import cumulative
        >>> cumulative("body_mass_g", bins=10)
        {'kind': 'cumulative', 'column': 'body_mass_g', 'bins': 10}
    """
    return _replace_kind("cumulative", statistics.histogram(column, edges, bins, bounds, where))


def quantile(  # noqa: PLR0913, PLR0917 - a histogram's, and the probabilities
    column: str,
    probabilities: Number | Sequence[Number],
    edges: Sequence[Value] | None = None,
    bins: int | Period | None = None,
    bounds: Bounds | None = None,
    where: Where | None = None,
    method: Literal["histogram", "search", "adaptive"] | None = None,
) -> dict[str, Any]:
    """The quantile of a column at each of the `probabilities`, or at a single one, from counts of the values.

    An adaptive histogram counts the values in coarse cells, and then in fine cells around the quantiles. By default,
    the service uses it or a histogram of all bins: whichever tells more for the same ε.

    Examples:
        >>> from snapledger_client import quantile
        >>> quantile("body_mass_g", [0.25, 0.5], bins=20)["probabilities"]
        ['0.25', '0.5']
    """
    statistic = _replace_kind("quantile", statistics.histogram(column, edges, bins, bounds, where))
    statistic["probabilities"] = [decimal_text(probability) for probability in list_numbers(probabilities)]
    return statistic if method is None else statistic | {"method": method}


def median(  # noqa: PLR0913, PLR0917 - a quantile's, without the probabilities
    column: str,
    edges: Sequence[Value] | None = None,
    bins: int | Period | None = None,
    bounds: Bounds | None = None,
    where: Where | None = None,
    method: Literal["histogram", "search", "adaptive"] | None = None,
) -> dict[str, Any]:
    """The median of a column: its `quantile` at the probability 0.5.

    Examples:
        >>> from snapledger_client import median
        >>> median("body_mass_g", bins=1000)
        {'kind': 'quantile', 'column': 'body_mass_g', 'bins': 1000, 'probabilities': ['0.5']}
    """
    return quantile(column, "0.5", edges, bins, bounds, where, method)


def margin(  # noqa: PLR0913, PLR0917 - a two-way table's, and the column
    column: str,
    first: str,
    second: str,
    edges: Pair[Sequence[Value]] | None = None,
    bins: Pair[int | Period] | None = None,
    bounds: PairOfBounds | None = None,
    where: Where | None = None,
) -> dict[str, Any]:
    """The counts of one `column`'s bins, added up from the two-way table of `first` and `second`.

    Examples:
        >>> from snapledger_client import margin
        >>> margin("species", "species", "body_mass_g", bins=(None, 5))["column"]
        'species'
    """
    return _replace_kind("margin", statistics.table(first, second, edges, bins, bounds, where)) | {"column": column}
