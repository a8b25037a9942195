"""Which requests are the same statistic, and which are none."""

from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.statistics import build
from app.dp.table.columns import Column, Kind

COLUMNS = {
    "x": Column("x", Kind.INTEGER, (mpq(0), mpq(10))),
    "r": Column("r", Kind.REAL, (mpq(0), mpq("0.3"))),
    "b": Column("b", Kind.BOOLEAN),
    "k": Column("k", Kind.CATEGORY, categories=("u", "v")),
    '"],[': Column('"],[', Kind.INTEGER, (mpq(0), mpq(10))),
}
X_BOUNDS, R_BOUNDS = (mpq(0), mpq(10)), (mpq(0), mpq("0.3"))


def identity(**spec: Any) -> str:
    return build(spec, COLUMNS, 100, 1).identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"kind": "mean", "column": "x"}, {"kind": "mean", "column": "x", "bounds": X_BOUNDS, "edges": None}),
        (
            {"kind": "mean", "column": "x", "bounds": (mpq("0.5"), mpq(7))},
            {"kind": "mean", "column": "x", "bounds": [mpq(1, 2), mpq("7.0")]},
        ),
        (
            {"kind": "mean", "column": "r", "bounds": (mpq(0), mpq("0.1"))},
            {"kind": "mean", "column": "r", "bounds": (mpq(0), mpq("0.10000000000000000000001"))},
        ),
        ({"kind": "covariance", "columns": ["x", "r"]}, {"kind": "covariance", "columns": ["r", "x"]}),
        (
            {"kind": "covariance", "columns": ["x", "r"], "bounds": [(mpq(1), mpq(2)), (mpq(3), mpq(4))]},
            {"kind": "covariance", "columns": ["r", "x"], "bounds": [(mpq(3), mpq(4)), (mpq(1), mpq(2))]},
        ),
        (
            {"kind": "covariance", "columns": ["b", "r"]},
            {"kind": "covariance", "columns": ["r", "b"], "bounds": [R_BOUNDS, None]},
        ),
        (
            {"kind": "histogram", "column": "r", "bins": 3},
            {"kind": "histogram", "column": "r", "edges": [mpq(0), mpq("0.1"), mpq("0.2"), mpq("0.3")]},
        ),
        (
            {"kind": "histogram", "column": "x", "bins": mpq(2), "bounds": X_BOUNDS},
            {"kind": "histogram", "column": "x", "edges": [mpq(0), mpq(5), mpq(10)]},
        ),
    ],
)
def test_the_same_statistic(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert identity(**one) == identity(**other)
    assert build(one, COLUMNS, 100, 1).needs == build(other, COLUMNS, 100, 1).needs


def test_different_statistics() -> None:
    specs = [
        {"kind": "mean", "column": "x"},
        {"kind": "mean", "column": '"],['},
        {"kind": "mean", "column": "r"},
        {"kind": "mean", "column": "b"},
        {"kind": "variance", "column": "x"},
        {"kind": "mean", "column": "x", "bounds": (mpq(0), mpq(11))},
        {"kind": "mean", "column": "x", "bounds": (mpq(0), mpq("10.00000000000000000001"))},
        {"kind": "covariance", "columns": ["x", "r"]},
        {"kind": "covariance", "columns": ["x", "b"]},
        {"kind": "covariance", "columns": ["x", "r"], "bounds": [R_BOUNDS, X_BOUNDS]},
        {"kind": "histogram", "column": "x", "bins": 2},
        {"kind": "histogram", "column": "x", "bins": 4},
        {"kind": "histogram", "column": "x", "edges": [mpq(0), mpq(4), mpq(10)]},
        {"kind": "histogram", "column": "r", "bins": 2},
        {"kind": "histogram", "column": "b"},
        {"kind": "histogram", "column": "k"},
    ]
    assert len({identity(**spec) for spec in specs}) == len(specs)


def test_identities_are_short_whatever_the_name() -> None:
    name = "€" * 255
    columns = {name: Column(name, Kind.INTEGER, (mpq(0), mpq(10)))}
    for spec in ({"kind": "mean", "column": name}, {"kind": "histogram", "column": name, "bins": 1000}):
        assert len(build(spec, columns, 100, 1).identity) <= 255


@pytest.mark.parametrize(
    ("spec", "where"),
    [
        ({}, "kind"),
        ({"kind": "median", "column": "x"}, "kind"),
        ({"kind": "mean"}, "column"),
        ({"kind": "mean", "column": "z"}, "column"),
        ({"kind": "mean", "column": ["x"]}, "column"),
        ({"kind": "mean", "column": "k"}, "column"),
        ({"kind": "variance", "column": "k"}, "column"),
        ({"kind": "mean", "column": "x", "columns": ["x", "r"]}, "columns"),
        ({"kind": "mean", "column": "x", "bins": 4}, "bins"),
        ({"kind": "mean", "column": "x", "bounds": (mpq(0),)}, "bounds"),
        ({"kind": "mean", "column": "x", "bounds": (mpq(1), mpq(1))}, "bounds"),
        ({"kind": "mean", "column": "x", "bounds": (mpq(2), mpq(1))}, "bounds"),
        ({"kind": "mean", "column": "b", "bounds": (mpq(0), mpq(1))}, "bounds"),
        ({"kind": "covariance", "column": "x"}, "column"),
        ({"kind": "covariance"}, "columns"),
        ({"kind": "covariance", "columns": ["x"]}, "columns"),
        ({"kind": "covariance", "columns": ["x", "r", "b"]}, "columns"),
        ({"kind": "covariance", "columns": ["x", "x"]}, "columns"),
        ({"kind": "covariance", "columns": ["x", "z"]}, "columns.1"),
        ({"kind": "covariance", "columns": ["k", "x"]}, "columns.0"),
        ({"kind": "covariance", "columns": ["x", "r"], "bounds": X_BOUNDS}, "bounds.0"),
        ({"kind": "covariance", "columns": ["x", "r"], "bounds": [X_BOUNDS, (mpq(2), mpq(1))]}, "bounds.1"),
        ({"kind": "covariance", "columns": ["x", "b"], "bounds": [X_BOUNDS, (mpq(0), mpq(1))]}, "bounds.1"),
        ({"kind": "histogram", "column": "z"}, "column"),
        ({"kind": "histogram", "column": "x"}, "edges"),
        ({"kind": "histogram", "column": "x", "edges": [mpq(1)]}, "edges"),
        ({"kind": "histogram", "column": "x", "edges": [mpq(1), mpq(3), mpq(2)]}, "edges.2"),
        ({"kind": "histogram", "column": "x", "edges": [mpq(1), mpq(2), mpq(3)], "bins": 2}, "bins"),
        ({"kind": "histogram", "column": "x", "edges": [mpq(1), mpq(2), mpq(3)], "bounds": X_BOUNDS}, "bounds"),
        ({"kind": "histogram", "column": "x", "bins": 1}, "bins"),
        ({"kind": "histogram", "column": "x", "bins": mpq(5, 2)}, "bins"),
        ({"kind": "histogram", "column": "k", "bins": 2}, "bins"),
        ({"kind": "histogram", "column": "b", "edges": [mpq(0), mpq(1), mpq(2)]}, "edges"),
        ({"kind": "histogram", "column": "b", "bounds": (mpq(0), mpq(1))}, "bounds"),
    ],
)
def test_what_is_no_statistic_is_refused_where_it_is_wrong(spec: dict[str, Any], where: str) -> None:
    with pytest.raises(InvalidStatistic) as refusal:
        build(spec, COLUMNS, 100, 1)
    assert refusal.value.where == where
    assert refusal.value.what


@pytest.mark.parametrize(("n", "rows_per_unit"), [(1, 1), (2, 0)])
def test_a_dataset_has_rows(n: int, rows_per_unit: int) -> None:
    with pytest.raises(ValueError, match="rows"):
        build({"kind": "mean", "column": "x"}, COLUMNS, n, rows_per_unit)
