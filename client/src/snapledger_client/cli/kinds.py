"""The kinds of statistics that a command line can name, and the arguments that name them."""

from enum import StrEnum
from typing import Annotated, TypeVar

import typer

from snapledger_client.cli.session import USAGE, fail
from snapledger_client.spelling import suggest_name


class StatisticKind(StrEnum):
    """The kinds of statistics."""

    MEAN = "mean"
    VARIANCE = "variance"
    COVARIANCE = "covariance"
    HISTOGRAM = "histogram"
    COUNT = "count"
    MISSING = "missing"
    SUM = "sum"


class DerivedKind(StrEnum):
    """The kinds of derived statistics."""

    STANDARD_DEVIATION = "standard_deviation"
    SUM = "sum"
    PROPORTION = "proportion"
    MEAN = "mean"
    CORRELATION = "correlation"
    REGRESSION = "regression"
    CUMULATIVE = "cumulative"
    MEDIAN = "median"
    QUANTILE = "quantile"
    MARGIN = "margin"


class Method(StrEnum):
    """How quantiles are found."""

    HISTOGRAM = "histogram"
    SEARCH = "search"
    ADAPTIVE = "adaptive"


Choice = TypeVar("Choice", bound=StrEnum)


def list_choices(choices: type[StrEnum]) -> list[str]:
    """Return the texts of the choices."""
    return [choice.value for choice in choices]


_STATISTICS, _DERIVED = list_choices(StatisticKind), list_choices(DerivedKind)


def _parse(choices: type[Choice], what: str, text: str) -> Choice:
    """Return a choice; exit with an error that lists the choices if there is no such choice."""
    texts = list_choices(choices)
    if text not in texts:
        fail(f"{what} must be one of {', '.join(texts)}{suggest_name(text, texts)}", USAGE)
    return choices(text)


def parse_statistic_kind(text: str) -> StatisticKind:
    """Return the kind of a statistic that can be released by itself."""
    if text in _DERIVED and text not in _STATISTICS:
        fail(f"a {text.replace('_', ' ')} is derived from releases: use `snapledger derived`", USAGE)
    return _parse(StatisticKind, "the kind of statistic", text)


def parse_derived_kind(text: str) -> DerivedKind:
    """Return the kind of a statistic that is derived from releases."""
    if text in _STATISTICS and text not in _DERIVED:
        fail(f"a {text} is not derived from other releases: use `snapledger release`", USAGE)
    return _parse(DerivedKind, "the kind of derived statistic", text)


def parse_method(text: str) -> Method:
    """Return how to find quantiles."""
    return _parse(Method, "--method", text)


StatisticKindOf = Annotated[
    StatisticKind,
    typer.Argument(
        help="The statistic.",
        parser=parse_statistic_kind,
        autocompletion=lambda: _STATISTICS,
    ),
]
DerivedKindOf = Annotated[
    DerivedKind,
    typer.Argument(
        help="The derived statistic.",
        parser=parse_derived_kind,
        autocompletion=lambda: _DERIVED,
    ),
]
MethodOf = Annotated[
    Method | None,
    typer.Option(
        help="How to find quantiles; by default, the one with narrower intervals for the same ε.",
        parser=parse_method,
        autocompletion=lambda: list_choices(Method),
    ),
]
