"""A median, and one probability."""

import pytest

from snapledger_client import median, quantile


@pytest.mark.parametrize("probability", [0.5, "0.5"])
def test_one_probability_needs_no_list(probability: float | str) -> None:
    assert quantile("income", probability, bins=10) == quantile("income", [0.5], bins=10)


def test_a_median_is_the_quantile_of_one_half() -> None:
    where = {"region": {"in": ["north"]}}
    asked = quantile("income", [0.5], None, 10, (0, 9), where, "search")
    assert median("income", None, 10, (0, 9), where, "search") == asked
