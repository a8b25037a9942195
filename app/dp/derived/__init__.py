"""The registry of derived statistics, which are computed from releases."""

from collections.abc import Mapping
from typing import Any

from app.dp.derived.base import DerivedStatistic, KnownComponent
from app.dp.derived.by_group import MeanByGroup, ProportionByGroup, WeightedMeanByGroup
from app.dp.derived.from_bins import Cumulative, Margin
from app.dp.derived.known_values import derive_of_known
from app.dp.derived.quantile import Quantile
from app.dp.derived.ratios import Correlation, FilteredMean, FilteredWeightedMean, Regression, WeightedMean
from app.dp.derived.single_release import DerivedSum, Proportion, StandardDeviation
from app.dp.derived.some_sums import SomeSum
from app.dp.errors import InvalidStatistic
from app.dp.table.columns import Column

__all__ = ["DERIVED", "DerivedStatistic", "KnownComponent", "derive"]

_KINDS: tuple[type[DerivedStatistic], ...] = (
    *(StandardDeviation, DerivedSum, Proportion, FilteredMean, Correlation, Regression),
    *(Cumulative, Quantile, Margin),
)

DERIVED = {derived.kind: derived for derived in _KINDS}

_BY_GROUP: dict[str, type[DerivedStatistic]] = {
    derived.kind: derived for derived in (MeanByGroup, ProportionByGroup, SomeSum)
}
"""The classes of the same kinds for a request with `group_by`."""

_MEMBERS = WeightedMean.members.union(*(each.members for each in (*DERIVED.values(), *_BY_GROUP.values())))


def derive(spec: Mapping[str, Any], columns: Mapping[str, Column], n: int, rows_per_unit: int) -> DerivedStatistic:
    """Return the derived statistic that a request asks for; the arguments are those of `app.dp.statistics.build`.

    Raises:
        InvalidStatistic: if the request is not valid for this dataset.
    """
    if spec.get("missing") is not None:
        return derive_of_known(spec, columns, n, rows_per_unit, derive)
    derived = DERIVED.get(str(spec.get("kind")))
    if derived is None:
        raise InvalidStatistic("kind", f"must be one of {', '.join(DERIVED)}")
    weighted = derived is FilteredMean and spec.get("weight") is not None
    if spec.get("group_by") is not None:
        derived = WeightedMeanByGroup if weighted else _BY_GROUP.get(derived.kind, derived)
    elif derived is DerivedSum and spec.get("where") is not None:
        derived = SomeSum
    elif weighted:
        derived = WeightedMean if spec.get("where") is None else FilteredWeightedMean
    for member in _MEMBERS - derived.members:
        if spec.get(member) is not None:
            raise InvalidStatistic(member, f"does not belong to a {derived.kind}: leave it out")
    return derived.build(spec, columns, n, rows_per_unit)
