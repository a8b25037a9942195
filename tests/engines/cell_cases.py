"""Tables of cells, filters and groups over the worst values, and what each is by its definition in exact numbers."""

import math
from collections import Counter
from functools import cache
from typing import Any

from engine_world import (
    BOOLEAN,
    CATEGORY,
    COLUMNS,
    DECIMAL,
    DECIMAL_BOUNDS,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    INTEGER_BOUNDS,
    REAL,
    REAL_BOUNDS,
    documented_code,
    exact_bin,
    worst_rows,
)
from gmpy2 import mpq

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.conditions import Between, Condition, Missing, NoneOf, NotBetween, OneOf
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import CellSums

BY_NAME = {column.name: column for column in COLUMNS}
GROUPS = ("category", CategoryBins(CATEGORY.categories, missing=True))
BOOLEANS = ("boolean", BooleanBins(missing=True))


def where(**conditions: Any) -> tuple[Condition, ...]:
    return parse_conditions(conditions, BY_NAME)


REALS = [mpq(0), mpq(1), mpq(2) ** 53, mpq(2) ** 53 + 2, mpq("0.1"), mpq(30), mpq(65), mpq("5e-324")]
WHERES: list[tuple[Condition, ...]] = [
    where(category={"one_of": ["Adelie"]}),
    where(category={"one_of": list(CATEGORY.categories)}),
    where(category={"one_of": ["o'k", '"', "", "х", "a\nb", "NULL"]}),
    where(boolean={"one_of": [True]}),
    where(boolean={"one_of": [False]}),
    where(boolean={"one_of": [False, True]}),
    where(real={"one_of": REALS}),
    where(real={"between": (mpq(0), mpq(0))}),
    where(real={"between": (-(mpq(10) ** 100), mpq(10) ** 100)}),
    where(integer={"one_of": [mpq(2) ** 53 + 1, mpq(INT64_MIN), mpq(INT64_MAX), mpq(0)]}),
    where(integer={"one_of": [mpq(i) for i in range(-500, 500)]}),
    where(decimal={"one_of": [mpq("0.5"), mpq("12.7499"), mpq(-922337203685477), mpq("922337203685477.5807")]}),
    *(where(real={"between": bounds}) for bounds in REAL_BOUNDS),
    *(where(integer={"between": bounds}) for bounds in INTEGER_BOUNDS[:3] + INTEGER_BOUNDS[4:-3]),
    *(where(decimal={"between": bounds}) for bounds in DECIMAL_BOUNDS[:4]),
    where(
        category={"one_of": ["Adelie", "o'k"]},
        boolean={"one_of": [True]},
        integer={"between": (mpq(INT64_MIN), mpq(7000))},
        real={"between": (mpq(-1), mpq(10) ** 30)},
    ),
]
OPPOSITES: list[tuple[Condition, ...]] = [
    *(where(**{column.name: {"is_missing": missing}}) for column in COLUMNS for missing in (True, False)),
    where(category={"negated": {"one_of": ["Adelie", "o'k"]}}),
    where(boolean={"negated": {"one_of": [True]}}),
    where(real={"negated": {"one_of": REALS}}),
    where(real={"negated": {"between": (mpq(0), mpq(65))}}),
    where(real={"at_least": mpq(0)}),
    where(real={"above": mpq(0)}),
    where(real={"below": mpq(0)}),
    where(real={"above": mpq("-5e-324"), "below": mpq("5e-324")}),
    where(integer={"negated": {"one_of": [mpq(2) ** 53 + 1, mpq(INT64_MIN), mpq(INT64_MAX)]}}),
    where(integer={"negated": {"between": (mpq(0), mpq(2) ** 53)}}),
    where(integer={"above": mpq(2) ** 53}),
    where(integer={"at_most": mpq(INT64_MIN)}),
    where(decimal={"negated": {"one_of": [mpq("0.5"), mpq("12.7499")]}}),
    where(decimal={"at_least": mpq("0.5"), "below": mpq("12.7499")}),
]
"""One-sided and negated conditions, and missing values."""

KNOWN = where(real={"is_missing": False}, integer={"is_missing": False})
CASES: list[CellSums] = [
    *(CellSums((), conditions) for conditions in [*WHERES, *OPPOSITES]),
    *(CellSums((GROUPS,), conditions, ("real", codes_for(REAL, None))) for conditions in [*WHERES, *OPPOSITES[::4]]),
    *(CellSums((), WHERES[i % 3], ("real", codes_for(REAL, bounds))) for i, bounds in enumerate(REAL_BOUNDS)),
    *(CellSums((GROUPS,), (), ("integer", codes_for(INTEGER, bounds))) for bounds in INTEGER_BOUNDS),
    CellSums((), (), ("boolean", codes_for(BOOLEAN, None))),
    CellSums((), WHERES[0], ("real", codes_for(REAL, None)), ("integer", codes_for(INTEGER, INTEGER_BOUNDS[-1]))),
    CellSums((GROUPS,), (), ("integer", codes_for(INTEGER, None)), ("real", codes_for(REAL, REAL_BOUNDS[0]))),
    CellSums((), KNOWN, ("real", codes_for(REAL, REAL_BOUNDS[0])), ("real", codes_for(REAL, REAL_BOUNDS[0]))),
    CellSums((GROUPS, BOOLEANS)),
    CellSums((BOOLEANS, ("real", bins_by_number(REAL, 5, None))), WHERES[0]),
    CellSums((("integer", bins_by_number(INTEGER, 7, INTEGER_BOUNDS[-6])), ("real", bins_by_number(REAL, 9, None)))),
]
DECIMALS: list[CellSums] = [
    CellSums((("decimal", bins_by_number(DECIMAL, 300, None)), GROUPS), WHERES[3]),
    *(CellSums((BOOLEANS,), WHERES[0], ("decimal", codes_for(DECIMAL, bounds))) for bounds in DECIMAL_BOUNDS),
]


def holds(condition: Condition, value: Any) -> bool:
    """Whether a stored value meets a condition, by the definition."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return isinstance(condition, Missing)
    match condition:
        case OneOf():
            return value in condition.values
        case NoneOf():
            return value not in condition.values
        case Between():
            return condition.least <= value <= condition.most
        case NotBetween():
            return value < condition.least or condition.most < value
    return False


@cache
def expected(needs: CellSums) -> tuple[int, ...]:
    return sum_rows(worst_rows(), needs)


def sum_rows(rows: dict[str, list[Any]], needs: CellSums) -> tuple[int, ...]:
    """The sums of rows of stored values, by the definition."""
    counts, sums = Counter[int](), [Counter[int]() for _ in range(needs.sums)]
    for i in range(len(rows["real"])):
        cell = needs.count
        if all(holds(each, rows[each.column][i]) for each in needs.conditions):
            cell = 0
            for name, bins in needs.axes:
                cell = cell * bins.count + exact_bin(rows[name][i], bins)
        counts[cell] += 1
        coded = filter(None, (needs.summed, needs.weighted))
        codes = [documented_code(rows[name][i], of_column) for name, of_column in coded]
        for totals, each in zip(sums, (*codes, math.prod(codes)), strict=False):
            totals[cell] += each
    found = [counts[cell] for cell in range(needs.count + 1)]
    return (*found, *(totals[cell] for totals in sums for cell in range(needs.count)))
