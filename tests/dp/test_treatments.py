"""What happens to missing values and to values outside the bounds follows from the declaration and the request."""

from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.statistics import build
from app.dp.statistics.treatment import list_treatments
from app.dp.table.columns import Column, Kind

COLUMNS = {
    each.name: each
    for each in (
        Column("income", Kind.INTEGER, (mpq(0), mpq(150_000))),
        Column("bill", Kind.REAL, (mpq(30), mpq(65)), null_value=mpq(44)),
        Column("age", Kind.INTEGER, (mpq(0), mpq(99)), nullable=False),
        Column("alive", Kind.BOOLEAN),
        Column("region", Kind.CATEGORY, categories=("a", "b")),
        Column("sex", Kind.CATEGORY, categories=("f", "m"), nullable=False),
    )
}
MEAN = {"kind": "mean", "column": "income"}
A = {"region": {"one_of": ["a"]}}
RICH = {"income": {"between": (mpq(50_000), mpq(150_000))}}


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        (MEAN, {"income": (75_000, (0, 150_000))}),
        (MEAN | {"bounds": (mpq(0), mpq(100_000))}, {"income": (50_000, (0, 100_000), 75_000)}),
        ({"kind": "variance", "column": "bill", "bounds": (mpq(30), mpq(60))}, {"bill": (44, (30, 60))}),
        ({"kind": "mean", "column": "bill", "bounds": (mpq(50), mpq(60))}, {"bill": (50, (50, 60), 44)}),
        ({"kind": "mean", "column": "age"}, {"age": (None, (0, 99))}),
        ({"kind": "mean", "column": "alive"}, {"alive": (0, None)}),
        ({"kind": "covariance", "columns": ("age", "bill")}, {"age": (None, (0, 99)), "bill": (44, (30, 65))}),
        ({"kind": "histogram", "column": "income", "bins": mpq(3)}, {"income": ("missing", (0, 150_000))}),
        ({"kind": "histogram", "column": "sex"}, {}),
        ({"kind": "histogram", "column": "region", "where": A}, {"region": ("outside", None)}),
        ({"kind": "count", "group_by": "region"}, {"region": ("missing", None)}),
        ({"kind": "count", "where": A}, {"region": ("outside", None)}),
        (
            {"kind": "sum", "column": "income", "where": A | RICH, "group_by": "sex"},
            {"income": ("outside", None), "region": ("outside", None)},
        ),
        (
            {"kind": "sum", "column": "income", "where": {"income": {"at_least": mpq(50_000)}}},
            {"income": ("outside", (50_000, 150_000))},
        ),
        ({"kind": "sum", "column": "income", "where": {"income": {"one_of": [mpq(9)]}}}, {"income": ("outside", None)}),
        (
            {"kind": "quantile_search", "column": "income", "bins": mpq(9), "probabilities": (mpq(1, 2),)},
            {"income": ("excluded", (0, 150_000))},
        ),
        (
            {"kind": "adaptive_histogram", "column": "income", "bins": mpq(9), "probabilities": (mpq(1, 2),)},
            {"income": ("excluded", (0, 150_000))},
        ),
    ],
)
def test_the_treatment_of_each_column(asked: dict[str, Any], expected: dict[str, tuple[Any, ...]]) -> None:
    found = list_treatments(build(asked, COLUMNS, 10, 1), COLUMNS)
    told = {
        each.column: (each.missing_as, each.clamped_to) + ((each.usual_missing_as,) if each.usual_missing_as else ())
        for each in found
    }
    assert told == expected
