"""What the owner declared for people to read: the unit of a statistic, and labels and units of its columns."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from app.dp.table.columns import Column
from app.services.planning import columns

_COMPOUND = re.compile(r"[\s/·*^]")

Texts = Mapping[str, Mapping[str, Any]]
"""What is declared for people to read, by column: `label`, `unit`, `category_labels`, each if there is one."""

Described = Mapping[str, Any]
"""A statistic with all defaults filled in, ready for JSON."""


@dataclass(frozen=True, slots=True)
class Presentation:
    """How an answer is shown.

    Attributes:
        units: the unit of each number that has one, by its name: the kind, or `slope` and `intercept`.
        columns: what is declared of the statistic's columns for people to read.
        years: whether the numbers are calendar years.
    """

    units: Mapping[str, str] = field(default_factory=dict)
    columns: Texts = field(default_factory=dict)
    years: bool = False

    @property
    def unit(self) -> str:
        """The unit of the only number, or of the first one; empty if it has none."""
        return next(iter(self.units.values()), "")


NOTHING_DECLARED = Presentation()


def present(described: Described, declared: Mapping[str, Column], texts: Texts) -> Presentation:
    """Return how a statistic, or a derived one, is shown, by the declared columns and what they say for people."""
    names = dict.fromkeys(_list_columns(described))
    of_column = described["kind"] in {"mean", "quantile"}
    return Presentation(
        dict(_find_units(described, declared)),
        {name: texts[name] for name in names if name in texts},
        years=of_column and declared[described["column"]].holds_years,
    )


def present_stored(described: Described, declaration: str) -> Presentation:
    """Return the same by the stored declaration of a table."""
    return present(described, columns.decode_columns(declaration), columns.decode_texts(declaration))


def _list_columns(described: Described) -> Iterable[str]:
    """Yield the columns that a statistic measures and those that it is grouped by, but not those of its filter."""
    yield from described.get("columns") or ()
    yield from (described[member] for member in ("column", "weight") if member in described)
    if (by := described.get("group_by")) is not None:
        yield by if isinstance(by, str) else by["column"]


def _find_units(described: Described, declared: Mapping[str, Column]) -> Iterable[tuple[str, str]]:
    kind = described["kind"]
    units = [_unit_of(declared[name]) for name in described.get("columns") or [described.get("column")] if name]
    if not units or not all(units):
        return
    if kind in {"mean", "quantile", "standard_deviation"} or (kind == "sum" and "weight" not in described):
        yield kind, units[0]
    elif kind == "variance":
        yield kind, _multiply(units[0], units[0])
    elif kind in {"covariance", "pair_differences"}:
        yield kind, _multiply(units[0], units[-1])
    elif kind == "regression":
        yield "slope", _divide(units[1], declared[described["columns"][0]])
        yield "intercept", units[1]


def _unit_of(column: Column) -> str:
    return column.kind.unit if column.kind.temporal else column.unit


def _factor(unit: str) -> str:
    return f"({unit})" if _COMPOUND.search(unit) else unit


def _multiply(one: str, other: str) -> str:
    return f"{_factor(one)}²" if one == other else f"{_factor(one)}·{_factor(other)}"


def _divide(unit: str, by: Column) -> str:
    divisor = _unit_of(by)
    return f"{_factor(unit)}/{divisor.removesuffix('s') if by.kind.temporal else _factor(divisor)}"
