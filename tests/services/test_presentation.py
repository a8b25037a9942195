"""The units of statistics, and what is declared for people to read."""

from typing import Any

import pytest

from app.services.planning.presentation import present_stored

DECLARATION = """{
 "income": {"kind": "integer", "bounds": ["0", "9"], "nullable": true, "unit": "€", "label": "Income"},
 "speed": {"kind": "real", "bounds": ["0", "9"], "nullable": true, "unit": "m/s"},
 "plain": {"kind": "integer", "bounds": ["0", "9"], "nullable": true},
 "day": {"kind": "date", "bounds": ["2020-01-01", "2021-01-01"], "nullable": true},
 "at": {"kind": "timestamp", "resolution": "second", "time_zone": "UTC", "bounds": ["2020-01-01", "2021-01-01"],
  "nullable": true},
 "region": {"kind": "category", "categories": ["n", "s"], "nullable": true, "category_labels": {"n": "North"}}
}"""


@pytest.mark.parametrize(
    ("described", "units"),
    [
        ({"kind": "mean", "column": "income"}, {"mean": "€"}),
        ({"kind": "mean", "column": "income", "weight": "plain", "group_by": "region"}, {"mean": "€"}),
        ({"kind": "sum", "column": "income", "group_by": "region"}, {"sum": "€"}),
        ({"kind": "sum", "column": "income", "weight": "plain"}, {}),  # the unit of the product is not declared
        ({"kind": "variance", "column": "income"}, {"variance": "€²"}),
        ({"kind": "variance", "column": "speed"}, {"variance": "(m/s)²"}),
        ({"kind": "variance", "column": "day"}, {"variance": "days²"}),
        ({"kind": "variance", "column": "at"}, {"variance": "seconds²"}),
        ({"kind": "mean", "column": "day"}, {"mean": "days"}),
        ({"kind": "standard_deviation", "column": "at"}, {"standard_deviation": "seconds"}),
        ({"kind": "quantile", "column": "income"}, {"quantile": "€"}),
        ({"kind": "covariance", "columns": ["income", "speed"]}, {"covariance": "€·(m/s)"}),
        ({"kind": "covariance", "columns": ["income", "income"]}, {"covariance": "€²"}),
        ({"kind": "covariance", "columns": ["income", "plain"]}, {}),
        ({"kind": "regression", "columns": ["speed", "income"]}, {"slope": "€/(m/s)", "intercept": "€"}),
        ({"kind": "regression", "columns": ["day", "income"]}, {"slope": "€/day", "intercept": "€"}),
        ({"kind": "correlation", "columns": ["speed", "income"]}, {}),
        ({"kind": "proportion", "column": "region", "category": "n"}, {}),
        ({"kind": "count", "where": {"region": {"in": ["n"]}}}, {}),
    ],
)
def test_a_statistic_has_the_unit_of_its_columns(described: dict[str, Any], units: dict[str, str]) -> None:
    assert present_stored(described, DECLARATION).units == units


def test_the_columns_of_a_statistic_are_shown_as_declared() -> None:
    table = present_stored({"kind": "histogram", "columns": ["region", "day"]}, DECLARATION)
    assert table.columns == {"region": {"category_labels": {"n": "North"}}}
    by_region = {"kind": "mean", "column": "income", "group_by": "region", "where": {"speed": {"above": 1}}}
    shown = present_stored(by_region, DECLARATION).columns
    assert shown == {"income": {"label": "Income", "unit": "€"}, "region": {"category_labels": {"n": "North"}}}
    by_month = {"kind": "sum", "column": "plain", "group_by": {"column": "day", "bins": "month"}}
    assert present_stored(by_month, DECLARATION).columns == {}
