"""Describes what happens to missing values and to values outside the bounds, as JSON and in words."""

from collections.abc import Iterable, Sequence
from typing import Any

from app.dp.numbers.exact import Rational, json_number
from app.dp.statistics.treatment import Treatment
from app.dp.table.columns import Kind
from app.dp.table.dates import format_down

MAX_NAMED = 3
"""The maximum number of columns whose rules a summary tells; the JSON has all of them."""

_PARTICIPLES = ("counting", "leaving")
_LARGEST_WITH_COMMAS = 10**15


def treatment_document(treatments: Sequence[Treatment]) -> dict[str, Any]:
    """Return the treatment of each column by its name, with its rule in words."""
    several = len(treatments) > 1
    return {each.column: _describe(each) | {"rule": rule_in_words(each, named=several)} for each in treatments}


def _describe(treatment: Treatment) -> dict[str, Any]:
    document: dict[str, Any] = {}
    if treatment.missing_as is not None:
        document["missing_as"] = _json_value(treatment.missing_as, treatment.kind)
    if treatment.clamped_to is not None:
        document["clamped_to"] = [_json_value(bound, treatment.kind) for bound in treatment.clamped_to]
    return document


def _json_value(value: Rational | str, kind: Kind) -> str | bool | int | float:
    if isinstance(value, str):
        return value
    if kind.temporal:
        return format_down(value, kind)
    return bool(value) if kind is Kind.BOOLEAN else json_number(value)


def rule_in_words(treatment: Treatment, *, named: bool = False) -> str:
    """Return a column's rule as clauses; with `named`, each of them names the column."""
    name, clauses = treatment.column, []
    if treatment.missing_as == "excluded":
        clauses.append(f"leaving out rows without a value of {name}")
    elif treatment.missing_as == "outside":
        clauses.append(f"rows without a value of {name} do not meet the filter")
    elif treatment.missing_as == "missing":
        clauses.append(f"missing values of {name} have their own bin")
    elif treatment.missing_as is not None:
        value = value_in_words(treatment.missing_as, treatment)
        clauses.append(f"counting missing values of {name} as {value}")
    if treatment.clamped_to is not None:
        lower, upper = (value_in_words(bound, treatment) for bound in treatment.clamped_to)
        of_column = f" of {name}" if named else ""
        where = "are in the nearest bin" if treatment.binned else "count as the nearer bound"
        clauses.append(f"values{of_column} outside {lower} to {upper} {where}")
    return "; ".join(clauses)


def rules_in_words(treatments: Sequence[Treatment]) -> str:
    """Return the end of a sentence with the rules of the first columns, and how many more there are; or nothing."""
    rules = _list_rules(treatments)
    return f"{',' if rules.startswith(_PARTICIPLES) else ';'} {rules}" if rules else ""


def rules_as_sentence(treatments: Sequence[Treatment]) -> str:
    """Return a sentence with the rules of the first columns, after a space; or nothing."""
    rules = _list_rules(treatments)
    if not rules:
        return ""
    told = f"It is computed {rules}" if rules.startswith(_PARTICIPLES) else f"{rules[0].upper()}{rules[1:]}"
    return f" {told}."


def _list_rules(treatments: Sequence[Treatment]) -> str:
    several = len(treatments) > 1
    return "; ".join(shorten_rules([rule_in_words(each, named=several) for each in treatments]))


def shorten_rules(rules: Sequence[str]) -> list[str]:
    """Return the rules of the first columns, and how many more there are."""
    more = len(rules) - MAX_NAMED
    return [*rules[:MAX_NAMED], *([f"{more} more columns have such rules"] if more > 0 else [])]


def describe_moved_missing(treatments: Iterable[Treatment]) -> str:
    """Return a sentence for each column whose missing values count as another number because of the bounds."""
    return "".join(
        f" With these bounds, missing values of {each.column} count as {value_in_words(each.missing_as, each)},"
        f" not as {value_in_words(each.usual_missing_as, each)}."
        for each in treatments
        if each.usual_missing_as is not None and not isinstance(each.missing_as, str | None)
    )


def value_in_words(value: Rational, treatment: Treatment) -> str:
    """Return a value of a treatment's column for reading: `75,000`, `47.5`, `true`, or the year `2020`."""
    if treatment.kind is Kind.BOOLEAN:
        return "true" if value else "false"
    if treatment.kind.temporal:
        return format_down(value, treatment.kind).replace("T", " ")
    number = json_number(value)
    return str(number) if treatment.years or abs(number) >= _LARGEST_WITH_COMMAS else f"{number:,}"
