"""Renders figures: as a line of text, a table of their numbers, and a frame."""

from collections.abc import Mapping
from typing import Any

from snapledger_client.display.account_texts import format_time
from snapledger_client.display.tables import WHOLE_KINDS, Table, cut_table, make_table
from snapledger_client.formatting import append_unit, format_interval, format_person, format_value
from snapledger_client.models.base import list_records, make_list_row, render_text
from snapledger_client.models.figures import Figure, Viewer


@render_text.register
def describe_figure(figure: Figure) -> str:
    """Return what a figure shows, which version it is, and the note for its readers."""
    told = f"{figure.title}: figure {figure.figure} of {figure.dataset}, version {figure.version:,}"
    publisher = "" if figure.published_by is None else f" by {figure.published_by}"
    published = f"published{publisher}, {format_time(figure.published_at)}"
    return "\n".join(filter(None, (f"{told}; {published}", figure.note)))


@make_table.register
def make_figure_table(figure: Figure) -> Table | None:
    """Return a row for each number; columns in which all rows are alike are left out."""
    if figure.rows is None:
        return None
    varying = [name for name in ("measure", "columns", "group") if len({row[name] for row in figure.rows}) > 1]
    rows = (
        [*(str(row[name] or "") for name in varying), str(row["label"]), *write_numbers(row)] for row in figure.rows
    )
    headers = [*varying, "label", "value", "interval"]
    return cut_table(headers, rows, len(figure.rows), [len(varying) + 1])


def write_numbers(row: Mapping[str, Any]) -> tuple[str, str]:
    """Return a value with its unit and its interval as texts."""
    ends = row["interval_lower"], row["interval_upper"]
    whole = row["measure"] in WHOLE_KINDS
    if row["value_as_date"] is not None:
        return str(row["value_as_date"]), ""
    if row["value"] is None:
        return "no value", format_interval(*ends, whole=whole)
    shown = f"{row['value']:,.0f}" if whole else format_value(row["value"], *ends)
    return append_unit(shown, row["unit"]), format_interval(*ends, whole=whole)


@list_records.register
def list_figure_rows(figure: Figure) -> list[dict[str, Any]]:
    """Return the rows of a figure, or a row of what it is if it was not read."""
    return [make_list_row(figure)] if figure.rows is None else list(figure.rows)


@render_text.register
def describe_viewer(viewer: Viewer) -> str:
    """Return who may see figures."""
    return f"{format_person(viewer.name, viewer.display_name)}, since {format_time(viewer.granted_at)}"
