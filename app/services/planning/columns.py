"""Encodes, decodes and checks a table's declared columns, which are stored as JSON with exact numbers."""

import json
from collections.abc import Mapping
from dataclasses import replace
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.numbers.exact import json_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.dates import format_down, parse_moment, require_units
from app.errors import InvalidRequestError

MAX_CACHE_BYTES = 2**25
"""The maximum total size of all cached declarations."""

MAX_PROBLEMS = 10  # the maximum number of problems in an error
_MEMBERS = (
    *("kind", "bounds", "scale", "categories", "nullable", "null_value", "time_zone", "resolution"),
    *("unit", "label", "description", "category_labels", "true_values", "false_values", "symbols"),
)

_FOR_PEOPLE = ("label", "unit", "category_labels")

DeclaredColumns = Mapping[str, Mapping[str, Any]]


def encode_columns(columns: DeclaredColumns) -> str:
    """Return a declaration as JSON text, with numbers as exact fractions."""
    return json.dumps(
        {
            name: {member: _to_json_value(column[member]) for member in _MEMBERS if member in column}
            for name, column in columns.items()
        }
    )


def _to_json_value(value: Any) -> Any:  # noqa: ANN401 - JSON is any value
    if isinstance(value, list):
        return [_to_json_value(item) for item in value]
    if isinstance(value, dict):
        return {name: _to_json_value(item) for name, item in value.items()}
    return value if isinstance(value, bool | int | str) else str(value)


def _declaration_bytes(columns: Mapping[str, Column]) -> int:
    """Return an estimate of the memory of a declaration, including its text and its sets of categories."""
    texts = [
        text
        for name, column in columns.items()
        for text in (name, *column.categories, *column.true_values, *column.false_values, *column.symbols)
    ]
    return 1_500 * (1 + len(columns)) + 200 * len(texts) + 8 * sum(map(len, texts))


@cached(LRUCache(MAX_CACHE_BYTES, getsizeof=_declaration_bytes), lock=Lock())
def decode_columns(text: str) -> Mapping[str, Column]:
    """Return the columns of a stored declaration by their names."""
    return {name: _decode_column(name, column) for name, column in json.loads(text).items()}


def _text_bytes(texts: Mapping[str, Mapping[str, Any]]) -> int:
    """Return an estimate of the memory of declared texts."""
    return 500 + sum(
        500
        + 4 * len(column.get("label", ""))
        + sum(200 + 4 * len(label) for label in column.get("category_labels", ()))
        for column in texts.values()
    )


@cached(LRUCache(MAX_CACHE_BYTES, getsizeof=_text_bytes), lock=Lock())
def decode_texts(text: str) -> Mapping[str, Mapping[str, Any]]:
    """Return what a stored declaration says for people, by column: a `label`, a `unit` and `category_labels`."""
    declared = {
        name: {member: column[member] for member in _FOR_PEOPLE if column.get(member)}
        for name, column in json.loads(text).items()
    }
    return {name: texts for name, texts in declared.items() if texts}


def _decode_column(name: str, column: Mapping[str, Any]) -> Column:
    if column["kind"] in {"date", "timestamp"}:
        return _decode_dates(name, column)
    bounds, null_value = column.get("bounds"), column.get("null_value")
    return Column(
        name=name,
        kind=Kind(column["kind"]),
        bounds=None if bounds is None else (mpq(bounds[0]), mpq(bounds[1])),
        scale=column.get("scale", 0),
        unit=column.get("unit", ""),
        categories=tuple(column.get("categories", ())),
        nullable=column["nullable"],
        null_value=None if null_value is None else mpq(null_value),
        true_values=tuple(column.get("true_values", ())),
        false_values=tuple(column.get("false_values", ())),
        symbols=tuple(column.get("symbols", ())),
    )


def _decode_dates(name: str, column: Mapping[str, Any]) -> Column:
    """Return a column of dates; its bounds are stored as ISO texts."""
    kind = Kind.DATE if column["kind"] == "date" else Kind(f"timestamp_{column['resolution']}")
    plain = Column(name, kind, nullable=column["nullable"], time_zone=column.get("time_zone", ""))
    bounds = tuple(
        _decode_date(text, plain, end=is_upper) for text, is_upper in zip(column["bounds"], (False, True), strict=True)
    )
    null_value = column.get("null_value")
    return replace(
        plain, bounds=(bounds[0], bounds[1]), null_value=None if null_value is None else _decode_date(null_value, plain)
    )


def _decode_date(text: str, column: Column, *, end: bool = False) -> mpq:
    return mpq(require_units(parse_moment(text), column, "bounds", end=end))


def columns_document(text: str) -> dict[str, Any]:
    """Return a stored declaration as JSON for a response."""
    columns: dict[str, Any] = json.loads(text)
    for name, column in columns.items():
        if column["kind"] in {"date", "timestamp"}:
            _describe_dates(column, decode_columns(text)[name])
            continue
        if "bounds" in column:
            column["bounds"] = [json_number(mpq(bound)) for bound in column["bounds"]]
        if isinstance(column.get("null_value"), str):
            column["null_value"] = json_number(mpq(column["null_value"]))
    return columns


def _describe_dates(document: dict[str, Any], column: Column) -> None:
    """Write the bounds and the null value of a column of dates as complete dates or times."""
    document["bounds"] = [format_down(bound, column.kind) for bound in column.bounds or ()]
    if column.null_value is not None:
        document["null_value"] = format_down(column.null_value, column.kind)


def check_columns(text: str) -> None:
    """Reject numeric columns whose bounds allow no statistic: equal, reversed, or the same double.

    Raises:
        InvalidRequestError: the problems, each with the position of its column.
    """
    problems: list[tuple[str, str]] = []
    for position, column in enumerate(decode_columns(text).values()):
        if not column.kind.numeric:
            continue
        try:
            codes_for(column, None)
        except InvalidStatistic as error:
            problems.append((f"columns.{position}.{error.where}", error.what))
            if len(problems) == MAX_PROBLEMS:
                break
    if problems:
        raise InvalidRequestError(*problems)
