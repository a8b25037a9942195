"""The units of statistics, and what is declared for people to read."""

from typing import Any

import pytest
from gmpy2 import mpq

from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import build
from app.dp.statistics.treatment import list_treatments
from app.dp.table.columns import Column, Kind
from app.services.planning import questions
from app.services.planning.presentation import present, present_stored
from app.services.rendering import summaries

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


@pytest.mark.parametrize(
    ("declared", "bounds", "years"),
    [
        ({"name": "year"}, (1990, 2020), True),
        ({"name": "birth_year"}, (1000, 2999), True),
        ({"name": "yearOfBirth"}, (1990, 2020), True),
        ({"name": "birthYear"}, (1990, 2020), True),
        ({"name": "YEAR"}, (1990, 2020), True),
        ({"name": "years2"}, (1990, 2020), True),
        ({"name": "jahr", "unit": "year"}, (1990, 2020), True),
        ({"name": "jahr"}, (1990, 2020), False),
        ({"name": "income_year", "unit": "€"}, (1990, 2020), False),
        ({"name": "yearly"}, (1990, 2020), False),
        ({"name": "leapyear"}, (1990, 2020), False),
        ({"name": "year"}, (999, 2020), False),
        ({"name": "year"}, (1990, 3000), False),
    ],
)
def test_years_are_told_by_public_facts(declared: dict[str, str], bounds: tuple[int, int], years: bool) -> None:  # noqa: FBT001
    column = Column(kind=Kind.INTEGER, bounds=(mpq(bounds[0]), mpq(bounds[1])), **declared)
    assert column.holds_years is years


def test_years_have_no_separators_in_sentences() -> None:
    """Neither the mean, nor what a missing one counts as, nor the bounds; other numbers have them."""
    columns = {each: Column(each, Kind.INTEGER, (mpq(2000), mpq(2020))) for each in ("year", "width")}
    for name, shown in (("year", "2010"), ("width", "2,010")):
        statistic = build({"kind": "mean", "column": name}, columns, 1_000, 1)
        mechanism = Mechanism.for_epsilon(statistic, mpq(1), mpq(1, 20), 0)
        how = present(statistic.describe(), columns, {})
        rules = list_treatments(statistic, columns)
        plan = questions.plan_mechanism(mechanism, mpq(1, 20), treatments=rules, presentation=how)
        told = summaries.summarise_release(plan, mpq(2010))
        assert f" is {shown}.000 ± 0." in told
        assert f"counting missing values of {name} as {shown}" in told
        assert ("outside 2000 to 2020" if name == "year" else "outside 2,000 to 2,020") in told
