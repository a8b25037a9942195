"""Figures of a summary are short, and its promise holds: what it shows covers the exact interval."""

from dataclasses import replace

import pytest
from gmpy2 import mpq
from hypothesis import given
from hypothesis import strategies as st

from app.dp.mechanism.mechanism import Mechanism
from app.dp.statistics import build
from app.dp.statistics.treatment import Treatment
from app.dp.table.columns import Column, Kind
from app.ledger.units import format_rounded_epsilon
from app.services.planning import questions
from app.services.planning.questions import Plan
from app.services.rendering import summaries, treatments

COLUMN = {"x": Column("x", Kind.REAL, (mpq(-(10**6)), mpq(10**6)))}
MEAN = build({"kind": "mean", "column": "x"}, COLUMN, 1_000, 1)
PLAN = questions.plan_mechanism(Mechanism.for_epsilon(MEAN, mpq(1), mpq(1, 20), 0), mpq(1, 20))


def with_reach(reach: mpq) -> Plan:
    return replace(PLAN, radius=reach - PLAN.mechanism.resolution)


def figures(plan: Plan, value: mpq) -> str:
    return summaries.summarise_release(plan, value).split(" is ")[1].split(" (")[0]


@pytest.mark.parametrize(
    ("value", "reach", "shown"),
    [
        ("4209.2", "115.7", "4,209 ± 116"),
        ("4209.2", "11.3", "4,209 ± 12"),
        ("4209.26", "1.13", "4,209.3 ± 1.2"),
        ("-0.2964", "0.0121", "-0.296 ± 0.013"),
        ("0.25", "0.5", "0.25 ± 0.50"),
        ("-0.04", "20", "0 ± 21"),
        ("1234567.8", "98765.4", "1,234,568 ± 98,766"),
    ],
)
def test_a_value_has_the_place_of_its_error_s_second_digit(value: str, reach: str, shown: str) -> None:
    assert figures(with_reach(mpq(reach)), mpq(value)) == shown


@given(st.floats(-1e6, 1e6), st.fractions("1/10000", 10**6))
def test_what_is_shown_covers_the_interval(value: float, reach: mpq) -> None:
    shown, error = (mpq(text.replace(",", "")) for text in figures(with_reach(mpq(reach)), mpq(value)).split(" ± "))
    assert shown - error <= mpq(value) - reach
    assert mpq(value) + reach <= shown + error


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "the sum of x over"),
        ({"centred": True}, "the sum of x minus the middle of its bounds over"),
        ({"centred": True, "weight": "w"}, "the sum of w times (x minus the middle of its bounds) over"),
    ],
)
def test_a_sum_says_what_is_added(members: dict[str, object], words: str) -> None:
    columns = {"x": replace(COLUMN["x"], bounds=(mpq(0), mpq(9))), "w": Column("w", Kind.REAL, (mpq(0), mpq(1)))}
    document = {"kind": "sum", "column": "x", "where": {"w": {"between": (mpq(0), mpq(1))}}} | members
    assert summaries.statistic_in_words(build(document, columns, 1_000, 1)).startswith(words)


TREATMENTS = [
    Treatment("income", Kind.INTEGER, mpq(50_000), usual_missing_as=mpq(75_000), clamped_to=(mpq(0), mpq(100_000))),
    Treatment("alive", Kind.BOOLEAN, mpq(0)),
    Treatment("bill", Kind.REAL, "missing", clamped_to=(mpq(65, 2), mpq(60)), binned=True),
    Treatment("a", Kind.CATEGORY, "outside"),
    Treatment("b", Kind.CATEGORY, "outside"),
]


def test_the_rules_of_columns_in_words() -> None:
    income, alive, bill, *_ = TREATMENTS
    assert treatments.rules_in_words([]) == treatments.rules_as_sentence([]) == ""
    rule = "counting missing values of income as 50,000; values outside 0 to 100,000 count as the nearer bound"
    assert treatments.rules_in_words([income]) == f", {rule}"
    assert treatments.rules_as_sentence([income]) == f" It is computed {rule}."
    assert treatments.treatment_document([income]) == {
        "income": {"missing_as": 50_000, "clamped_to": [0, 100_000], "rule": rule}
    }
    assert treatments.treatment_document([alive]) == {
        "alive": {"missing_as": False, "rule": "counting missing values of alive as false"}
    }
    own = "issing values of bill have their own bin; values outside 32.5 to 60 are in the nearest bin"
    assert (treatments.rules_in_words([bill]), treatments.rules_as_sentence([bill])) == (f"; m{own}", f" M{own}.")
    told = treatments.rules_in_words(TREATMENTS)
    assert "; values of bill outside 32.5 to 60 are in the nearest bin; 2 more columns have such rules" in told
    moved = " With these bounds, missing values of income count as 50,000, not as 75,000."
    assert treatments.describe_moved_missing(TREATMENTS) == moved


def test_a_cost_is_rounded_up_and_what_is_left_down() -> None:
    assert format_rounded_epsilon(1_018_956_556) == "1.02"
    assert format_rounded_epsilon(1_018_956_556, up=False) == "1.01"
    assert format_rounded_epsilon(500_000_000) == "0.5"
    assert format_rounded_epsilon(0) == "0"
    assert format_rounded_epsilon(499_900_000_000, up=False) == "499.9"
    assert format_rounded_epsilon(1_234_567_000_000) == "1235"
