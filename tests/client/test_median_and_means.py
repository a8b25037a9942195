"""A median, one probability, and the methods for means of some rows, of groups and with weights."""

import pytest

from snapledger_client import AsyncClient, Client, mean, median, quantile


@pytest.mark.parametrize("probability", [0.5, "0.5"])
def test_one_probability_needs_no_list(probability: float | str) -> None:
    assert quantile("income", probability, bins=10) == quantile("income", [0.5], bins=10)


def test_a_median_is_the_quantile_of_one_half() -> None:
    where = {"region": {"in": ["north"]}}
    asked = quantile("income", [0.5], None, 10, (0, 9), where, "search")
    assert median("income", None, 10, (0, 9), where, "search") == asked


@pytest.mark.parametrize(
    ("option", "method"),
    [
        ({"where": {"region": {"in": ["north"]}}}, "filtered_mean"),
        ({"group_by": "region"}, "mean_by_group"),
        ({"weight": "hours"}, "weighted_mean"),
    ],
)
@pytest.mark.parametrize("kind", [Client, AsyncClient])
def test_a_mean_names_the_method_for_an_option_that_it_does_not_take(kind: type, option, method: str) -> None:
    incomes = kind("http://host", "key").dataset("incomes")
    for ask in (lambda: incomes.mean("income", **option), lambda: incomes.plan(mean("income"), **option)):
        with pytest.raises(TypeError, match=f"a mean takes no `{next(iter(option))}`: use `{method}`"):
            ask()
