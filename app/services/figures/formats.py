"""The forms in which a figure's rows are served: JSON, CSV, Arrow and Parquet."""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from app.json_text import encode_json
from app.services.figures.figure_rows import Row

_FORMULA_START = re.compile(r"^(?=[\t\r\n]|\s*[=+@＝＋＠－-])|(?<=[;\t\r\n])(?=[\s\"]*[=+@＝＋＠－-])")
"""Spreadsheets take a cell that starts with one of these for a formula, some in full width too.

Where lists are separated by semicolons, a cell starts behind one, also inside a text. A quotation mark there is written
twice, which is then an empty text in front of what follows.
"""

_MAX_RANGES = 50  # of an Accept header

_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")


class Form(StrEnum):
    """A form, by the suffix of its address."""

    JSON = "json"
    CSV = "csv"
    ARROW = "arrow"
    PARQUET = "parquet"


MEDIA_TYPES: Mapping[Form, str] = {
    Form.JSON: "application/json",
    Form.CSV: "text/csv; charset=utf-8; header=present",
    Form.ARROW: "application/vnd.apache.arrow.stream",
    Form.PARQUET: "application/vnd.apache.parquet",
}

_TEXTS, _MOMENT, _EPSILON = {"measure", "columns", "group", "label", "unit", "conditions"}, "released_at", "epsilon"
_TYPES = {
    **dict.fromkeys(_TEXTS, pa.string()),
    **dict.fromkeys(("lower_edge", "upper_edge", "value", "interval_lower", "interval_upper", "alpha"), pa.float64()),
    **dict.fromkeys(("value_as_date", "interval_lower_as_date", "interval_upper_as_date"), pa.string()),
    _EPSILON: pa.decimal128(16, 9),
    _MOMENT: pa.timestamp("us", "UTC"),
}


def choose_form(accepted: str) -> Form | None:
    """Return the form that an Accept header prefers, or None if it accepts no form (RFC 9110, section 12.5.1).

    Of the media ranges that a form matches, the most specific one counts. Without a header, and for `*/*`, the form is
    JSON. Of forms with an equal weight, that wins whose range stands before the other's.
    """
    asked = [_read_range(each) for each in (accepted or "*/*").split(",")[:_MAX_RANGES]]
    best, most = None, (0.0, 0)
    for form, media_type in MEDIA_TYPES.items():
        named, _, _ = media_type.partition(";")
        for media_range in (named, f"{named.partition('/')[0]}/*", "*/*"):
            place = next((place for place, (media, _) in enumerate(asked) if media == media_range), None)
            if place is not None:
                rank = asked[place][1], -place
                if rank[0] > 0 and (best is None or rank > most):
                    best, most = form, rank
                break
    return best


def _read_range(text: str) -> tuple[str, float]:
    """Return a media range without its parameters, and its weight."""
    media, *parameters = (part.strip().lower() for part in text.split(";"))
    return media, next((_read_weight(part[2:]) for part in parameters if part.startswith("q=")), 1.0)


def _read_weight(text: str) -> float:
    try:
        return min(1.0, max(0.0, float(text)))
    except ValueError:
        return 0.0


def render_rows(rows: Sequence[Mapping[str, Any]], form: Form) -> bytes:
    """Return the rows as CSV, Arrow or Parquet; for JSON, the array alone."""
    renderers: Mapping[Form, Callable[[Sequence[Mapping[str, Any]]], bytes]] = {
        Form.JSON: encode_json,
        Form.CSV: _render_csv,
        Form.ARROW: _render_arrow,
        Form.PARQUET: _render_parquet,
    }
    return renderers[form](rows)


def guard_formula(text: str) -> str:
    """Return a text that no spreadsheet takes for a formula: one that looks like it begins with an apostrophe.

    A number stays a number.
    """
    return text if _NUMBER.fullmatch(text) else _FORMULA_START.sub("'", text)


def _render_csv(rows: Sequence[Mapping[str, Any]]) -> bytes:
    written = io.StringIO()
    table = csv.writer(written, lineterminator="\r\n")  # RFC 4180
    table.writerow(Row._fields)
    for row in rows:
        table.writerow(
            guard_formula(each) if name in _TEXTS and each is not None else each
            for name, each in ((name, row[name]) for name in Row._fields)
        )
    return written.getvalue().encode()


def _to_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Return the rows as an Arrow table; edges that are dates are texts."""
    columns = {name: [row[name] for row in rows] for name in Row._fields}
    columns[_EPSILON] = list(map(Decimal, columns[_EPSILON]))
    columns[_MOMENT] = list(map(datetime.fromisoformat, columns[_MOMENT]))
    dated = any(isinstance(each, str) for name in ("lower_edge", "upper_edge") for each in columns[name])
    types = _TYPES | (dict.fromkeys(("lower_edge", "upper_edge"), pa.string()) if dated else {})
    return pa.table({name: pa.array(column, types[name]) for name, column in columns.items()})


def _render_arrow(rows: Sequence[Mapping[str, Any]]) -> bytes:
    table, written = _to_table(rows), pa.BufferOutputStream()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    content: bytes = written.getvalue().to_pybytes()
    return content


def _render_parquet(rows: Sequence[Mapping[str, Any]]) -> bytes:
    written = pa.BufferOutputStream()
    pq.write_table(_to_table(rows), written)
    content: bytes = written.getvalue().to_pybytes()
    return content
