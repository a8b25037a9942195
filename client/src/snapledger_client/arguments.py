"""Refuses arguments that a method does not take, and names the nearest one that it does."""

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, TypeVar

from snapledger_client.statistics import Missing, Statistic, Where

T = TypeVar("T")

DERIVED_KINDS = frozenset(
    {"standard_deviation", "proportion", "correlation", "regression", "cumulative", "quantile", "margin"}
)
"""The kinds of statistics that are never released themselves."""

OTHER_NAMES = {
    "avg": "mean",
    "average": "mean",
    "var": "variance",
    "sd": "std",
    "stddev": "std",
    "cov": "covariance",
    "corr": "correlation",
    "hist": "histogram",
    "cdf": "cumulative",
    "value_counts": "counts",
    "crosstab": "table",
    "percentile": "quantile",
    "quantiles": "quantile",
    "groupby": "mean_by_group",
    "columns": "describe",
}
"""The methods of a dataset by what other libraries call them."""


def is_derived(statistic: Statistic) -> bool:
    """Return whether a statistic is derived from releases, since it is no release itself."""
    if statistic.get("kind") in DERIVED_KINDS or statistic.get("missing") is not None:
        return True
    return statistic.get("kind") == "mean" and not {"where", "group_by", "weight"}.isdisjoint(statistic)


def require_released(statistic: Statistic, method: str, instead: str) -> None:
    """Refuse a derived statistic where only a released one can be.

    Raises:
        ValueError: it is derived; the message names the method for it.
    """
    if is_derived(statistic):
        raise ValueError(f"`{method}` takes no {_describe(statistic)}, which is derived from releases: use {instead}")


def require_released_items(items: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a batch with a derived statistic.

    Raises:
        ValueError: there is one; the message names the method for it.
    """
    for each in items:
        if isinstance(each.get("statistic"), Mapping):
            require_released(each["statistic"], "batch", "`derive(…)` for it")


def require_missing(where: Where | None, missing: Missing | None) -> None:
    """Refuse a filter of a statistic that has one only for known values.

    Raises:
        ValueError: `where` is given without `missing`.
    """
    if where is not None and missing is None:
        raise ValueError(
            'here `where` goes with missing="exclude", which leaves out rows without a value; '
            "`where` alone goes with `mean`, `count`, `sum`, `histogram`, `table` and `quantile`"
        )


def _describe(statistic: Statistic) -> str:
    kind = str(statistic.get("kind"))
    how = next((f" with `{name}`" for name in ("where", "group_by", "weight", "missing") if statistic.get(name)), "")
    return kind if kind in DERIVED_KINDS else f"{kind}{how}"


def explain_arguments(kind: type[T]) -> type[T]:
    """Return the class with public methods that explain the refusal of an unknown keyword."""
    methods = {
        name: inspect.signature(method).parameters
        for name, method in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }
    for name in methods:
        setattr(kind, name, _explain(getattr(kind, name), methods))
    return kind


def _explain(method: Callable[..., Any], methods: Mapping[str, Mapping[str, Any]]) -> Callable[..., Any]:
    takes = methods[method.__name__]

    @functools.wraps(method)
    def call(*args: Any, **keywords: Any) -> Any:  # noqa: ANN401 - as the method has them
        for keyword in keywords:
            if keyword not in takes:
                raise TypeError(describe_unknown(method.__name__, keyword, methods))
        return method(*args, **keywords)

    return call


def describe_unknown(name: str, keyword: str, methods: Mapping[str, Mapping[str, Any]]) -> str:
    """Return what is wrong with a keyword that a method does not take, and the nearest that is right."""
    takes = [each for each in methods[name] if each != "self"]
    others = [f"`{other}`" for other, parameters in methods.items() if keyword in parameters]
    if others:
        return f"`{name}` takes no `{keyword}`: it goes with {', '.join(others)}"
    (near,) = get_close_matches(keyword, takes, n=1) or (None,)
    if near is not None:
        return f"`{name}` takes no `{keyword}`: did you mean `{near}`?"
    return f"`{name}` takes no `{keyword}`: it takes {', '.join(f'`{each}`' for each in takes) or 'no arguments'}"


def describe_missing_method(kind: type, name: str) -> str:
    """Return that a class has no such method or member, and the nearest that it has."""
    known = [each for each in dir(kind) if not each.startswith("_")]
    (near,) = get_close_matches(OTHER_NAMES.get(name, name), known, n=1) or (None,)
    return f"a {kind.__name__} has no `{name}`" + ("" if near is None else f": did you mean `{near}`?")
