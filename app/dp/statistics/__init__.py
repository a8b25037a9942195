"""The registry of statistics that can be released; each has a module of its own.

A new one also needs a model in `app.api.schemas.statistics`; its words and its unit in `statistic_in_words` of
`app.services.rendering.summaries`, `app.services.planning.presentation` and, for the dashboard, `statistic` of
`app/web/ui/format.js`; cases in `app.mechanism_audit.neighbours` or exact
tests in tests/dp; and its section of docs/mathematics.md.
"""

from collections.abc import Mapping
from typing import Any

from app.dp.errors import InvalidStatistic
from app.dp.statistics.adaptive_histogram import AdaptiveHistogram
from app.dp.statistics.base import Statistic
from app.dp.statistics.centred_sum import CentredSum
from app.dp.statistics.count import Count, GroupedCount, MissingCount
from app.dp.statistics.covariance import Covariance
from app.dp.statistics.histogram import Histogram
from app.dp.statistics.mean import Mean
from app.dp.statistics.pair_differences import PairDifferences
from app.dp.statistics.quantile_search import QuantileSearch
from app.dp.statistics.sum import Sum
from app.dp.statistics.two_way import TwoWay
from app.dp.statistics.variance import Variance
from app.dp.statistics.weighted_sum import WeightedSum
from app.dp.table.columns import Column

__all__ = ["STATISTICS", "Statistic", "build"]

STATISTICS: dict[str, type[Statistic]] = {
    statistic.kind: statistic
    for statistic in (
        *(Mean, Variance, Covariance, Histogram, Count, MissingCount, Sum, QuantileSearch),
        *(PairDifferences, AdaptiveHistogram),
    )
}

_MEMBERS = frozenset().union(
    *(statistic.members for statistic in STATISTICS.values()), TwoWay.members, WeightedSum.members
)


def build(spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> Statistic:
    """Return the statistic that a request asks for.

    Args:
        spec: the members of the request's statistic (`kind`, `column` or `columns`, `bounds`, `edges`, `bins`,
            `where`, `group_by`, `centred`, `probabilities`), absent ones missing or None, numbers as exact rationals.
        columns: the dataset's declared columns by name.
        n: the public number of rows.
        rows_per_unit: the largest number of rows that one person has.

    Raises:
        InvalidStatistic: if the request is not valid for this dataset.
        ValueError: if `n` is below 2 or `rows_per_unit` below 1.
    """
    if n < 2 or rows_per_unit < 1:
        raise ValueError("a dataset has at least two rows, and a person at least one")
    statistic = STATISTICS.get(str(spec.get("kind")))
    if statistic is None:
        raise InvalidStatistic("kind", f"must be one of {', '.join(STATISTICS)}")
    # These kinds have two classes each; one member of the request selects the class.
    if statistic is Histogram and spec.get("columns") is not None:
        statistic = TwoWay
    if statistic is Count and spec.get("group_by") is not None:
        statistic = GroupedCount
    if statistic is Sum and spec.get("weight") is not None:
        statistic = WeightedSum
    elif statistic is Sum and spec.get("centred"):
        statistic = CentredSum
    for member in _MEMBERS - statistic.members:
        if spec.get(member) is not None:
            raise InvalidStatistic(member, f"does not belong to a {statistic.kind}: leave it out")
    return statistic.build(spec, columns, n, rows_per_unit)
