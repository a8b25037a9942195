"""Renders figures: as a line of text, a table of their numbers, and a frame."""

from collections.abc import Iterable, Mapping
from typing import Any

from snapledger_client.display.account_texts import format_time
from snapledger_client.display.tables import WHOLE_KINDS, Table, cut_table, make_table
from snapledger_client.formatting import append_unit, format_interval, format_person, format_value
from snapledger_client.models.base import list_records, make_list_row, render_text
from snapledger_client.models.figures import Figure, Viewer


@render_text.register
def describe_figure(figure: Figure) -> str:
    """Return what a figure shows, which version it is, the note for its readers, and the conditions of its numbers."""
    told = f"{figure.title}: figure {figure.figure} of {figure.dataset}, version {figure.version:,}"
    publisher = "" if figure.published_by is None else f" by {figure.published_by}"
    published = f"published{publisher}, {format_time(figure.published_at)}"
    conditions = find_shared_conditions(figure.rows or ())
    return "\n".join(filter(None, (f"{told}; {published}", figure.note, conditions and f"conditions: {conditions}")))


def find_shared_conditions(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return the conditions of all numbers; empty if there are none, or they are not the same."""
    found = {row.get("conditions", "") for row in rows}  # an earlier version of the service tells none
    return str(found.pop()) if len(found) == 1 else ""


@make_table.register
def make_figure_table(figure: Figure) -> Table | None:
    """Return a row for each number; columns in which all rows are alike are left out."""
    if figure.rows is None:
        return None
    optional = ("measure", "columns", "group", "conditions")
    varying = [name for name in optional if len({row.get(name) for row in figure.rows}) > 1]
    rows = (
        [*(str(row.get(name) or "") for name in varying), str(row["label"]), *write_numbers(row)] for row in figure.rows
    )
    headers = [*varying, "label", "value", "interval"]
    return cut_table(headers, rows, len(figure.rows), [len(varying) + 1])


def write_numbers(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return a value with its unit and its interval as texts; dates have no unit."""
    ends = row["interval_lower"], row["interval_upper"]
    whole = row["measure"] in WHOLE_KINDS
    dates = [row.get(name) for name in ("interval_lower_as_date", "interval_upper_as_date")]
    if row["value_as_date"] is not None or None not in dates:
        date = row["value_as_date"]
        unknown = "anything" if None in ends else ""  # or an earlier version of the service, without these dates
        around = unknown if None in dates else " to ".join(map(_write_date, dates))
        return "no value" if date is None else _write_date(date), around
    if row["value"] is None:
        return "no value", format_interval(*ends, whole=whole)
    shown = f"{row['value']:,.0f}" if whole else format_value(row["value"], *ends)
    return append_unit(shown, row["unit"]), format_interval(*ends, whole=whole)


def _write_date(date: Any) -> str:  # noqa: ANN401 - of a row, which is JSON
    return str(date).replace("T", " ")


@list_records.register
def list_figure_rows(figure: Figure) -> list[dict[str, Any]]:
    """Return the rows of a figure, or a row of what it is if it was not read."""
    return [make_list_row(figure)] if figure.rows is None else list(figure.rows)


@render_text.register
def describe_viewer(viewer: Viewer) -> str:
    """Return who may see figures."""
    return f"{format_person(viewer.name, viewer.display_name)}, since {format_time(viewer.granted_at)}"
