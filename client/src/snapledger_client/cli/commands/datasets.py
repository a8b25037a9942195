"""`snapledger dataset list`, `show`, `limit`, `revalidate` and `close`, and `connections`."""

import json
import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import typer

from snapledger_client import Connection, DatasetFacts
from snapledger_client.cli import output
from snapledger_client.cli.commands.budgets import write_budget
from snapledger_client.cli.options import IfMatchOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, DatasetName, connect, fail
from snapledger_client.formatting import describe_missing, format_column_value


def list_datasets(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the datasets that you may see."""
    with connect() as client:
        found = list(client.datasets())

    def show() -> None:
        rows = [(facts.name, f"{facts.n:,}", len(facts.columns), facts.state, facts.description) for facts in found]
        output.print_table(("dataset", "rows", "columns", "state", "description"), rows, ("rows", "columns"))

    output.write_list(output_format, "datasets", found, show, DatasetFacts)


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


def show_dataset(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show a dataset's public facts and columns."""
    with connect() as client:
        facts = client.dataset(dataset).describe()
    columns = [{"column": name} | column for name, column in facts.to_dict()["columns"].items()]
    output.write(output_format, facts.to_dict(), partial(_show_facts, facts), columns)


def _show_facts(facts: DatasetFacts) -> None:
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


def set_limit(
    dataset: DatasetName,
    epsilon_limit: Annotated[
        str | None, typer.Argument(help="The ε that may be spent on the dataset in its whole life.")
    ] = None,
    reason: Annotated[str | None, typer.Option(help="Why, in a sentence: it is recorded in the ledger.")] = None,
    *,
    if_match: IfMatchOf = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Show the limit of a dataset's budget or, as its owner, set it with a reason."""
    if if_match is not None and epsilon_limit is None:
        fail("--if-match goes with a new limit", USAGE)
    if (epsilon_limit is None) != (reason is None):
        fail("a new limit needs --reason, and --reason a new limit", USAGE)
    with connect() as client:
        of = client.dataset(dataset)
        if epsilon_limit is None or reason is None:
            limit = of.limit()
            output.write(
                output_format,
                output.make_tagged(limit),
                lambda: output.print_line(f"{dataset}: ε {limit.epsilon_limit:f}"),
            )
            return
        found = of.adjust(epsilon_limit, reason, if_match=if_match)
    write_budget(output_format, found)


def revalidate(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Check a live table again: a stale dataset opens if rows, types and units are as they were; for its owner."""
    with connect() as client:
        facts = client.dataset(dataset).revalidate()
    output.write(output_format, facts.to_dict(), lambda: output.print_line(f"{facts.name} is {facts.state}."))


def close(
    dataset: DatasetName,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask whether to do it.")] = False,
) -> None:
    """Delete a dataset's data for good; its ledger and releases stay readable, and its name stays taken."""
    if not yes:
        if not sys.stdin.isatty():
            fail(f"this deletes the data of {dataset} for good: confirm it with --yes", USAGE)
        typer.confirm(f"Delete the data of {dataset} for good?", abort=True)
    with connect() as client:
        client.dataset(dataset).delete()
    output.print_line(f"{dataset} is closed, and its data is deleted.")


def list_connections(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the connections that the operator configured; owners can register the tables behind them."""
    with connect() as client:
        found = client.connections()
    documents = [each.to_dict() for each in found]

    def show() -> None:
        output.print_table(("connection", "leads to"), [(each.name, each.leads_to) for each in found])

    output.write(output_format, {"connections": documents}, show, documents, Connection)
