"""Answers as CSV, for spreadsheets: a row for each item, with the names of its members as columns."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

_FORMULA_START = re.compile(r"^(?=[�\s]*[=+@＝＋＠－-])|(?<=[;\n])(?=[�\s\"]*[=+@＝＋＠－-])")
"""Where a text begins as formulas do, or goes on so behind what separates cells where lists have semicolons."""

_NUMBER = re.compile(r"[+-]?\d[\d.]*([eE][+-]?\d+)?")


def render_csv(records: Iterable[Mapping[str, Any]], columns: Sequence[str] = ()) -> str:
    """Return records as CSV (RFC 4180, in UTF-8, each line ended by a line feed).

    The members of an object within a record have columns of their own, such as `window.ends_at`; a list is JSON.

    Args:
        records: JSON objects.
        columns: the first columns, which are there even if no record has them.
    """
    rows = [dict(_flatten(record)) for record in records]
    names = dict.fromkeys([*columns, *(name for row in rows for name in row)])
    for name in [name for name in names if any(each.startswith(f"{name}.") for each in names)]:
        del names[name]  # an object that is null in some records
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(protect_cell(name) for name in names)
    writer.writerows([protect_cell(row.get(name, "")) for name in names] for row in rows)
    return text.getvalue()


def _flatten(record: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    for name, value in record.items():
        if isinstance(value, Mapping) and value:
            yield from _flatten(value, f"{prefix}{name}.")
        elif value is None:
            yield f"{prefix}{name}", ""
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f"{prefix}{name}", text


def protect_cell(text: str) -> str:
    """Return a cell that no spreadsheet takes for a formula, and that cannot control a terminal.

    A text that begins as formulas do is preceded by an apostrophe, as OWASP recommends; a number is not.
    """
    shown = "".join("�" if unicodedata.category(each) in {"Cc", "Cf"} and each != "\n" else each for each in text)
    return shown if _NUMBER.fullmatch(shown) else _FORMULA_START.sub("'", shown)
