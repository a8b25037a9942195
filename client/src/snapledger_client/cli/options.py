"""Options that several commands share, and their parsers."""

import json
import re
from collections.abc import Callable
from inspect import Parameter, signature
from typing import Annotated, Any, cast, get_args

import typer

from snapledger_client import Missing, Period, statistics
from snapledger_client.cli.session import USAGE, fail

NONE = "-"
"""The value of an option for a column without bounds, edges or bins of its own."""

PERIODS: tuple[str, ...] = get_args(Period)

COLUMN_NUMBERS = ("no column", "one column", "two columns", "three columns")


def parse_missing(text: str) -> Missing:
    """Return what to do with missing values."""
    if text != "exclude":
        fail("--missing must be exclude: without it, missing values count as the owner declared", USAGE)
    return "exclude"


BoundsOf = Annotated[
    list[str] | None,
    typer.Option(help="LOWER,UPPER instead of the declared bounds, numbers or dates; once for each column."),
]
Edges = Annotated[
    list[str] | None,
    typer.Option(help="A histogram's edges, such as 2000,3000,5000; for a table once for each column, - for none."),
]
Bins = Annotated[
    list[str] | None,
    typer.Option(
        help="How many bins of equal width, or day, iso_week, month, quarter or year for a column of dates; for a table"
        " once for each column, - for none."
    ),
]
MissingOf = Annotated[
    Missing | None,
    typer.Option(
        help="exclude: use only the rows that have a value; it is then derived from releases.",
        parser=parse_missing,
        autocompletion=lambda: ["exclude"],
    ),
]
WhereOf = Annotated[
    list[str] | None,
    typer.Option(
        help="Only rows that meet it: COLUMN=VALUE,VALUE, COLUMN!=VALUE,VALUE, COLUMN=LEAST..MOST, 'COLUMN>=NUMBER' "
        "(also >, <= and <), 'COLUMN is missing' or 'COLUMN is not missing', or JSON; may be repeated.",
        metavar="CONDITION",
    ),
]


_ETAG = re.compile(r"[\x21\x23-\x7e]+")


def parse_etag(text: str) -> str:
    """Return an entity tag with its quotes, which a shell may have taken away; or *."""
    tag = text.removeprefix('"').removesuffix('"')
    if not _ETAG.fullmatch(tag):
        fail("--if-match must be the `etag` that --format json showed", USAGE)
    return text if text == "*" else f'"{tag}"'


IfMatchOf = Annotated[
    str | None,
    typer.Option(
        "--if-match",
        help="Only if nobody has changed it since you read it: the `etag` that --format json showed then.",
        metavar="ETAG",
        parser=parse_etag,
    ),
]


OnlyNewOf = Annotated[bool, typer.Option("--only-new", help="Only if it does not exist yet.")]


def build_statistic(
    what: str,
    make: Callable[..., dict[str, Any]],
    columns: list[str],
    *,
    wanted: tuple[int, ...],
    binned: int,
    **options: Any,  # noqa: ANN401 - as each option is
) -> dict[str, Any]:
    """Return the JSON document of a statistic; exit with an error for an option that the statistic does not have.

    Args:
        what: the statistic's name in messages.
        make: the client's function, with a parameter for each column and each option of the statistic.
        columns: the names of the columns.
        wanted: the allowed numbers of columns.
        binned: the number of columns that can have bounds, edges and bins.
        options: the options by name, as they were typed.
    """
    if len(columns) not in wanted:
        fail(f"a {what} takes {' or '.join(COLUMN_NUMBERS[each] for each in wanted)}, not {len(columns)}", USAGE)
    given = {name: each for name, each in options.items() if each is not None and each != []}
    takes = {name: each for name, each in signature(make).parameters.items() if name in options}
    for name in given:
        if name not in takes:
            *others, last = map(_format_option, takes)
            known = f"{', '.join(others)} and {last}" if others else last
            fail(f"{_format_option(name)} does not go with a {what}, which takes {known}", USAGE)
    for name, parameter in takes.items():
        if parameter.default is Parameter.empty and name not in given:
            fail(f"a {what} needs {_format_option(name)}", USAGE)
    return make(*columns, **{name: _parse_option(name, each, binned) for name, each in given.items()})


def _format_option(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _parse_option(option: str, given: Any, columns: int) -> Any:  # noqa: ANN401 - as each option is
    """Return an option's parsed value, or a list with a value for each of several columns."""
    if option == "where":
        return parse_where(given)
    if option == "group_by":
        return parse_group_by(given)
    if option == "probabilities":
        return parse_numbers(given)
    if option not in PARSERS:
        return given
    if len(given) != columns:
        often = "once" if columns == 1 else "once for each of both columns"
        fail(f"give {_format_option(option)} {often}, or not at all", USAGE)
    values = [None if columns > 1 and text.strip() == NONE else PARSERS[option](text) for text in given]
    return values[0] if columns == 1 else tuple(values)


def parse_bounds(text: str) -> tuple[str, str]:
    """Return the lower and the upper bound of `LOWER,UPPER`."""
    lower, comma, upper = text.partition(",")
    if not comma:
        fail("--bounds must be LOWER,UPPER, such as 0,120", USAGE)
    return lower.strip(), upper.strip()


def parse_numbers(text: str) -> list[str]:
    """Return comma-separated edges or probabilities as a list."""
    return [number.strip() for number in text.split(",")]


def parse_bins(text: str) -> int | str:
    """Return a number of bins, or the calendar period of each bin."""
    if text in PERIODS:
        return text
    if not (text.isascii() and text.isdigit()):
        fail(f"--bins must be a whole number or, for dates, one of {', '.join(PERIODS)}", USAGE)
    return int(text)


def parse_group_by(text: str) -> str | dict[str, Any]:
    """Return the groups of `COLUMN`, or the calendar periods of `COLUMN:PERIOD`."""
    column, _, period = text.rpartition(":")
    return statistics.periods(column, cast("Period", period)) if column and period in PERIODS else text


PARSERS: dict[str, Callable[[str], Any]] = {"bounds": parse_bounds, "edges": parse_numbers, "bins": parse_bins}
"""The parsers of the options that each column has separately."""


def parse_where(texts: list[str]) -> dict[str, Any]:
    """Return the filter with all these conditions."""
    conditions: dict[str, Any] = {}
    for text in texts:
        for column, condition in _parse_conditions(text).items():
            if column not in conditions:
                conditions[column] = condition
            elif _are_two_ends(conditions[column], condition):
                conditions[column] |= condition
            else:
                fail(f"{column} has more than one condition", USAGE)
    return conditions


_ENDS = {">=": "at_least", ">": "above", "<=": "at_most", "<": "below"}
_CONDITION = re.compile(r"(.+?)(!=|>=|<=|=|>|<)(.*)", re.DOTALL)
_MISSING = re.compile(r"(.+) is (not )?missing", re.DOTALL)


def _are_two_ends(first: Any, second: Any) -> bool:  # noqa: ANN401 - conditions, which JSON may spell in any way
    """Whether two conditions on a column are ends that make one range."""
    both = [set(each) if isinstance(each, dict) else {"other"} for each in (first, second)]
    return both[0] | both[1] <= set(_ENDS.values()) and not both[0] & both[1]


def _parse_conditions(text: str) -> dict[str, Any]:
    if text.lstrip().startswith("{"):
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError:
            fail("the condition is not valid JSON", USAGE)
        return found
    if missing := _MISSING.fullmatch(text):
        return {missing[1].strip(): {"is_missing": missing[2] is None}}
    found_operator = _CONDITION.fullmatch(text)
    if found_operator is None:
        fail("a condition must be COLUMN=VALUE,VALUE or COLUMN=LEAST..MOST, or as --help says", USAGE)
    column, operator, values = (part.strip() for part in found_operator.groups())
    if operator in _ENDS:
        return {column: {_ENDS[operator]: values}}
    least, dots, most = (part.strip() for part in values.partition(".."))
    if dots and not (least and most):
        one_end = f"{column}>={least}" if least else f"{column}<={most}"
        fail(f"a range LEAST..MOST has two ends: write '{one_end}' for one", USAGE)
    listed = [value.strip() for value in values.split(",")]
    condition = {"between": [least, most]} if dots else {"in": listed}
    return {column: {"not": condition} if operator == "!=" else condition}
