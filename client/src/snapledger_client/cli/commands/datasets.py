"""`snapledger dataset list` and `show`."""

import json
from collections.abc import Mapping
from typing import Any

from snapledger_client.cli import output
from snapledger_client.cli.session import AsJson, DatasetName, connect
from snapledger_client.formatting import describe_missing, format_column_value


def list_datasets(*, as_json: AsJson = False) -> None:
    """List the datasets that you may see."""
    with connect() as client:
        found = list(client.datasets())
    if as_json:
        output.print_json([facts.to_dict() for facts in found])
        return
    rows = [(facts.name, f"{facts.n:,}", len(facts.columns), facts.state, facts.description) for facts in found]
    output.print_table(("dataset", "rows", "columns", "state", "description"), rows, ("rows", "columns"))


def _describe_values(column: Mapping[str, Any]) -> str:
    """Return the values that a column can have, as its owner declared them."""
    if "bounds" in column:
        lower, upper = column["bounds"]
        unit = f" {column['unit']}" if column.get("unit") else ""
        return f"{format_column_value(lower)} to {format_column_value(upper)}{unit}"
    return ", ".join(map(_quote_category, column.get("categories", ())))


def _quote_category(category: str) -> str:
    """Return a category's text, quoted as JSON if it could be read as several categories or as none."""
    ambiguous = "," in category or '"' in category or category != category.strip() or not category
    return json.dumps(category, ensure_ascii=False) if ambiguous else category


def show_dataset(dataset: DatasetName, *, as_json: AsJson = False) -> None:
    """Show a dataset's public facts and columns."""
    with connect() as client:
        facts = client.dataset(dataset).describe()
    if as_json:
        output.print_json(facts.to_dict())
        return
    output.print_line(f"{facts.name}: {facts.n:,} rows, {facts.state}, since {facts.created_at:%Y-%m-%d}")
    for told in (facts.description, facts.warning):
        if told:
            output.print_line(told)
    rows = "1 row" if facts.rows_per_unit == 1 else f"{facts.rows_per_unit:,} rows"
    output.print_line(f"Protects each unit, such as a person: a unit has at most {rows}.")
    output.print_line("")
    columns = [
        (name, column["kind"], describe_missing(column), _describe_values(column))
        for name, column in facts.columns.items()
    ]
    output.print_table(("column", "kind", "missing", "values"), columns)
    for name, column in facts.columns.items():
        if told := ": ".join(filter(None, (column.get("label"), column.get("description")))):
            output.print_line(f"{name}: {told}")
