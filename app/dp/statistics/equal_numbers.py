"""Which other statistics have the same numbers as a statistic, so that a release of one of them answers for it.

All of it follows from public facts: for every table the numbers are equal, but for a factor and n.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from gmpy2 import mpq

from app.dp.numbers.exact import Rational
from app.dp.statistics.base import Statistic
from app.dp.statistics.centred_sum import CentredSum
from app.dp.statistics.count import Count, GroupedCount, MissingCount
from app.dp.statistics.histogram import Histogram
from app.dp.statistics.interval_counts import Interval, count_last_bin, find_interval, list_intervals
from app.dp.statistics.mean import Mean
from app.dp.statistics.sum import Sum
from app.dp.statistics.two_way import TwoWay
from app.dp.table.bins import BooleanBins, CategoryBins, IntervalBins
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Between, Condition, Missing, NoneOf, OneOf, known

MAX_EQUAL_NUMBERS = 10_000
"""A release of more numbers only answers for its own statistic."""

MAX_EQUAL_CONDITIONS = 10
"""A count with more conditions is only looked for among counts: each condition is written out for all others."""

MAX_LISTED_NUMBERS = 100
"""A range of more whole numbers is not looked for as a list of them."""

Numbers: TypeAlias = Sequence[Rational]


_ONE = mpq(1)


@dataclass(frozen=True, slots=True)
class EqualStatistic:
    """A statistic that has the numbers of another one.

    Attributes:
        statistic: the statistic whose release answers.
        factor: by how much a number of the other statistic is larger than one of this statistic.
        convert: returns the numbers of the other statistic from those of this statistic's release.
    """

    statistic: Statistic
    convert: Callable[[Numbers], Numbers]
    factor: Rational = _ONE


def list_equal_statistics(statistic: Statistic, columns: Mapping[str, Column]) -> list[EqualStatistic]:
    """Return the statistics, other than itself, whose releases have a statistic's numbers.

    Args:
        statistic: the statistic that is asked for.
        columns: the dataset's declared columns by name.
    """
    return [each for each in _list_all(statistic, columns) if each.statistic.components <= MAX_EQUAL_NUMBERS]


def _list_all(statistic: Statistic, columns: Mapping[str, Column]) -> Iterator[EqualStatistic]:
    n, rows = statistic.n, statistic.rows_per_unit
    if type(statistic) is Sum and not statistic.conditions and statistic.groups is None:
        yield _scale(Mean(n, rows, statistic.column, statistic.codes), mpq(n))
    elif isinstance(statistic, Mean):
        yield _scale(Sum(n, rows, statistic.column, statistic.codes, (), None), mpq(1, n))
    elif isinstance(statistic, TwoWay):
        yield _exchange_axes(statistic)
    elif isinstance(statistic, GroupedCount):
        column, bins = statistic.groups
        histogram = Histogram(n, rows, column, bins, by_edges=False, conditions=statistic.conditions)
        yield EqualStatistic(histogram, lambda counts: counts[: bins.count])
    elif isinstance(statistic, Histogram) and isinstance(statistic.partition, CategoryBins):
        if not statistic.conditions:
            yield EqualStatistic(GroupedCount(n, rows, (statistic.column, statistic.partition), ()), tuple)
    elif isinstance(statistic, Count) and len(statistic.conditions) <= MAX_EQUAL_CONDITIONS:
        yield from _list_bins(statistic, columns)
    if isinstance(statistic, GroupedCount | Histogram) and statistic.complementary:
        yield from _list_counts(statistic, columns)
    if isinstance(statistic, Count | GroupedCount | Histogram | TwoWay | Sum):
        yield from _respell(statistic)
    yield from _list_of_known(statistic, columns)


def _list_of_known(statistic: Statistic, columns: Mapping[str, Column]) -> Iterator[EqualStatistic]:
    """Yield the statistics that have the numbers of one of the known or of the missing values, or of all rows."""
    if isinstance(statistic, Count) and len(statistic.conditions) == 1:
        yield from _list_missing(statistic)
    if isinstance(statistic, Mean | Sum):
        yield from _list_centred(statistic, columns)


def _list_missing(count: Count) -> Iterator[EqualStatistic]:
    """Yield both counts of missing values for each other, and the one that is asked by `kind` for that of the rest."""
    (condition,), rows = count.conditions, (count.n, count.rows_per_unit)
    if isinstance(condition, Missing):
        other = Count if isinstance(count, MissingCount) else MissingCount
        yield EqualStatistic(other(*rows, count.conditions), tuple)
    elif condition.all_known:
        missing = MissingCount(*rows, (Missing(condition.column, condition.kind),))
        yield EqualStatistic(missing, lambda numbers: [count.n - numbers[0]])


def _list_centred(statistic: Mean | Sum, columns: Mapping[str, Column]) -> Iterator[EqualStatistic]:
    """Yield the mean and the sum of all rows for the centred sum of the known values, and the reverse.

    A missing value that counts as the midpoint of the bounds adds 0 to a centred sum, as one that is left out does. So
    T = n·(mean - m₀), where m₀ is the midpoint.
    """
    column, codes, n = columns[statistic.column], statistic.codes, statistic.n
    if not column.nullable or 2 * codes.null_code != codes.steps:
        return
    all_known = known(column.name, column.kind, column.scale if column.kind is Kind.DECIMAL else 0)
    rows, middle = (n, statistic.rows_per_unit, column.name, codes), (codes.lower + codes.upper) / 2
    centred = CentredSum(*rows, (all_known,), None)
    if isinstance(statistic, Mean):
        yield EqualStatistic(centred, lambda numbers: [middle + numbers[0] / n], mpq(1, n))
    elif type(statistic) is Sum and not statistic.conditions and statistic.groups is None:
        yield EqualStatistic(centred, lambda numbers: [n * middle + numbers[0]])
    elif type(statistic) is CentredSum and statistic.conditions == (all_known,) and statistic.groups is None:
        yield EqualStatistic(Mean(*rows), lambda numbers: [n * (numbers[0] - middle)], mpq(n))
        yield EqualStatistic(Sum(*rows, (), None), lambda numbers: [numbers[0] - n * middle])


def _scale(statistic: Statistic, factor: Rational) -> EqualStatistic:
    return EqualStatistic(statistic, lambda numbers: [factor * number for number in numbers], factor)


def _exchange_axes(table: TwoWay) -> EqualStatistic:
    x, y = table.x_bins.count, table.y_bins.count
    exchanged = TwoWay(
        *(table.n, table.rows_per_unit, table.y, table.y_bins, table.x, table.x_bins),
        *(table.by_edges[::-1], table.conditions),
    )

    def transpose(cells: Numbers) -> Numbers:
        return [cells[j * x + i] for i in range(x) for j in range(y)] + list(cells[x * y :])

    return EqualStatistic(exchanged, transpose)


def _list_bins(count: Count, columns: Mapping[str, Column]) -> Iterator[EqualStatistic]:
    """Yield the histograms and the counts by group of which a count is one bin."""
    n, rows = count.n, count.rows_per_unit
    for condition in count.conditions:
        column = columns[condition.column]
        place = _find_bin(condition, column)
        if place is None:
            continue
        others = tuple(each for each in count.conditions if each is not condition)
        partition, take = _bins_of(column), partial(_take, place=place)
        yield EqualStatistic(Histogram(n, rows, column.name, partition, by_edges=False, conditions=others), take)
        if isinstance(partition, CategoryBins):
            yield EqualStatistic(GroupedCount(n, rows, (column.name, partition), others), take)
    opposite = _find_opposite(count.conditions[0], columns) if len(count.conditions) == 1 else None
    if opposite is not None:
        yield EqualStatistic(Count(n, rows, (opposite,)), lambda numbers: [n - numbers[0]])


def _find_opposite(condition: Condition, columns: Mapping[str, Column]) -> Condition | None:
    """Return the condition that all other rows meet, those with a missing value included, if there is one."""
    column = columns[condition.column]
    if isinstance(condition, Missing):
        return known(column.name, column.kind, column.scale if column.kind is Kind.DECIMAL else 0)
    if condition.all_known:
        return Missing(column.name, column.kind) if column.nullable else None
    return None if column.nullable else condition.negate()


def _respell(statistic: Count | GroupedCount | Histogram | TwoWay | Sum) -> Iterator[EqualStatistic]:
    """Yield the statistic with lists of successive numbers as ranges, and with short ranges as lists."""
    conditions = statistic.conditions
    if len(conditions) > MAX_EQUAL_CONDITIONS:
        return
    for spell in (_as_range, _as_list):
        spelled = tuple(map(spell, conditions))
        changed = {each.column for each, other in zip(spelled, conditions, strict=True) if each != other}
        narrowed = statistic.narrowed_by_ranges if isinstance(statistic, Sum) else ()
        if changed and changed.isdisjoint(narrowed):
            yield EqualStatistic(replace(statistic, conditions=spelled), tuple)


def _as_range(condition: Condition) -> Condition:
    if not isinstance(condition, OneOf) or not condition.kind.numeric:
        return condition
    values: tuple[Any, ...] = condition.values
    least, most = values[0], values[-1]
    steps = 0 if condition.kind is Kind.REAL else len(condition.values) - 1
    if most - least != steps:
        return condition
    return Between(condition.column, condition.kind, condition.scale, least, most)


def _as_list(condition: Condition) -> Condition:
    if not isinstance(condition, Between) or condition.most - condition.least >= MAX_LISTED_NUMBERS:
        return condition
    if condition.kind is Kind.REAL:
        values: tuple[Any, ...] = (condition.least,) if condition.least == condition.most else ()
    else:
        values = tuple(range(int(condition.least), int(condition.most) + 1))
    return OneOf(condition.column, condition.kind, condition.scale, values) if values else condition


def list_interval_conditions(statistic: Statistic, columns: Mapping[str, Column]) -> list[Interval]:
    """Return the conditions of a statistic, if it is a count, that may be bins of histograms of numbers."""
    if not isinstance(statistic, Count) or len(statistic.conditions) > MAX_EQUAL_CONDITIONS:
        return []
    return list(list_intervals(statistic, columns))


def count_from_histogram(interval: Interval, histogram: Histogram) -> EqualStatistic | None:
    """Return how a histogram with the count's other conditions answers for it; None if the interval is no bin."""
    bins = histogram.partition
    place = find_interval(interval, bins) if isinstance(bins, IntervalBins) else None
    return None if place is None else EqualStatistic(histogram, partial(_take, place=place))


def _take(numbers: Numbers, place: int) -> Numbers:
    return [numbers[place]]


def _list_counts(counts: GroupedCount | Histogram, columns: Mapping[str, Column]) -> Iterator[EqualStatistic]:
    """Yield the single counts from which two counts that have all rows follow."""
    n, name = counts.n, counts.groups[0] if isinstance(counts, GroupedCount) else counts.column
    column = columns[name]
    if isinstance(counts, Histogram) and (last := count_last_bin(counts)) is not None:
        yield EqualStatistic(last, partial(_add_rest, n=n, place=1))
    for place, value in enumerate((False, True) if column.kind is Kind.BOOLEAN else column.categories):
        count = Count(n, counts.rows_per_unit, (_one_value(column, value),))
        yield EqualStatistic(count, partial(_add_rest, n=n, place=place))


def _add_rest(numbers: Numbers, n: int, place: int) -> Numbers:
    return [n - numbers[0], numbers[0]] if place else [numbers[0], n - numbers[0]]


def _one_value(column: Column, value: Any) -> OneOf:  # noqa: ANN401 - a category, or a boolean
    return OneOf(column.name, column.kind, 0, (value,))


def _bins_of(column: Column) -> BooleanBins | CategoryBins:
    """Return the bins of a boolean or category column, which has no others."""
    if column.kind is Kind.BOOLEAN:
        return BooleanBins(column.nullable)
    return CategoryBins(column.categories, column.nullable)


def _find_bin(condition: Condition, column: Column) -> int | None:
    """Return the position of the bin whose rows are those that meet a condition; None if there is no such bin."""
    if column.kind.numeric:
        return None
    if isinstance(condition, Missing):
        return _bins_of(column).count - 1
    if isinstance(condition, NoneOf) and len(condition.values) == len(column.categories):
        return len(column.categories)
    if not isinstance(condition, OneOf) or len(condition.values) != 1:
        return None
    (value,) = condition.values
    return int(value) if column.kind is Kind.BOOLEAN else column.categories.index(str(value))
