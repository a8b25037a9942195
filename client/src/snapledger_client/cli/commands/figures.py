"""`snapledger figure …` and `viewer …`: published answers, and who may see them."""

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from snapledger_client import Figure, Viewer
from snapledger_client.cli import output
from snapledger_client.cli.commands.budgets import PrincipalName, write_grantees
from snapledger_client.cli.options import IfMatchOf, OnlyNewOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, DatasetName, complete_dataset_names, connect, connect_reader, fail
from snapledger_client.display.figure_tables import find_shared_conditions, write_numbers
from snapledger_client.formatting import format_person

FigureName = Annotated[str, typer.Argument(help="The figure's name, such as body-mass.")]


def _show_list(figures: list[Figure]) -> None:
    rows = [
        (each.dataset, each.figure, each.version, f"{each.published_at:%Y-%m-%d %H:%M}", each.audience, each.title)
        for each in figures
    ]
    output.print_table(("dataset", "figure", "version", "published", "audience", "title"), rows, ("version",))


def list_figures(
    dataset: Annotated[
        str | None, typer.Argument(help="A dataset; all by default.", autocompletion=complete_dataset_names)
    ] = None,
    *,
    search: Annotated[str | None, typer.Option(help="Only those with this text in their name or title.")] = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """List the figures that you may see, of a dataset or of all."""
    with connect_reader() as client:
        found = list(client.figures(search) if dataset is None else client.dataset(dataset).figures(search))
    output.write_list(output_format, "figures", found, partial(_show_list, found), Figure)


def show_figure(
    dataset: DatasetName,
    figure: FigureName,
    *,
    version: Annotated[int | None, typer.Option(help="An earlier version; the latest by default.", min=1)] = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Show a figure's numbers; as CSV, a row for each of them."""
    with connect_reader() as client:
        found = client.dataset(dataset).figure(figure, version)
    rows = list(found.to_dict()["rows"])
    output.write(output_format, output.make_tagged(found), partial(_print_figure, found, rows), rows)


def _print_figure(figure: Figure, rows: list[dict[str, Any]]) -> None:
    output.print_line(f"{figure.title} (version {figure.version}, {figure.published_at:%Y-%m-%d})")
    if figure.note:
        output.print_answer(figure.note)
    shared = find_shared_conditions(rows)
    if shared:
        output.print_answer(f"conditions: {shared}")
    texts = [(each["group"], each["label"], *write_numbers(each), each.get("conditions", "")) for each in rows]
    headers = ("group", "of", "value", "interval", "conditions")
    varied = not shared and any(conditions for *_, conditions in texts)
    shown = len(headers) if varied else len(headers) - 1
    output.print_table(headers[:shown], [each[:shown] for each in texts], ("value",))


def list_versions(dataset: DatasetName, figure: FigureName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the versions of a figure, oldest first."""
    with connect_reader() as client:
        found = list(client.dataset(dataset).figure_versions(figure))
    output.write_list(output_format, "versions", found, partial(_show_list, found), Figure)


def publish(  # noqa: PLR0913 - the members of the request
    dataset: DatasetName,
    figure: FigureName,
    *,
    title: Annotated[str, typer.Option(help="What it shows.")],
    release: Annotated[
        list[str] | None,
        typer.Option(help="The id of a release, which `snapledger releases` lists; may be repeated, as for a batch."),
    ] = None,
    derived: Annotated[
        Path | None,
        typer.Option(
            help="Instead of releases: a file with the request of a derived statistic whose releases exist, as "
            """'{"derived": {"kind": "standard_deviation", "column": "income"}, "epsilon": "0.5"}'.""",
            exists=True,
            dir_okay=False,
            readable=True,
        ),
    ] = None,
    statistic: Annotated[
        str | None,
        typer.Option(
            help="Beside one --release: what you asked for as JSON, if a release of another statistic answered it, as "
            """'{"kind": "mean", "column": "income"}'."""
        ),
    ] = None,
    note: Annotated[str | None, typer.Option(help="What readers should know.")] = None,
    public: Annotated[bool, typer.Option("--public", help="Everybody may read it, without a key; for owners.")] = False,
    if_match: IfMatchOf = None,
    only_new: OnlyNewOf = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Publish an answer as a figure, or as a new version of one. It costs nothing."""
    if bool(release) == (derived is not None):
        fail("give either --release or --derived", USAGE)
    if statistic is not None and len(release or ()) != 1:
        fail("--statistic goes with one --release", USAGE)
    asked = {} if derived is None else _read_derived(derived)
    if statistic is not None:
        asked["statistic"] = _parse_statistic(statistic)
    with connect() as client:
        found = client.dataset(dataset).publish(
            figure,
            title,
            releases=release or (),
            note=note,
            public=public,
            if_match=if_match,
            only_new=only_new,
            **asked,
        )
    output.write(
        output_format,
        found.to_dict(),
        lambda: output.print_line(f"{found.dataset}/{found.figure} is published, version {found.version}."),
    )


def _parse_statistic(text: str) -> dict[str, Any]:
    try:
        document = json.loads(text, parse_float=str)  # keep each number as the decimal that was written
    except ValueError:
        document = None
    if not isinstance(document, dict):
        fail('--statistic must be an object in JSON, such as {"kind": "mean", "column": "income"}', USAGE)
    return document


def _read_derived(path: Path) -> dict[str, Any]:
    """Return a derived statistic, its ε and its α, of the body of a request for it."""
    try:
        document = json.loads(path.read_bytes(), parse_float=str)
    except ValueError:
        fail(f"{path} is not valid JSON", USAGE)
    if not isinstance(document, dict) or not document.keys() <= {"derived", "epsilon", "alpha"}:
        fail(f"{path} must be an object with `derived`, and perhaps `epsilon` and `alpha`", USAGE)
    return document


def withdraw(dataset: DatasetName, figure: FigureName, *, if_match: IfMatchOf = None) -> None:
    """Withdraw a figure in all its versions; it can be published again."""
    with connect() as client:
        client.dataset(dataset).withdraw(figure, if_match=if_match)
    output.print_line(f"{dataset}/{figure} is withdrawn.")


def print_feed() -> None:
    """Print an Atom feed of the figures that you may see, the latest first."""
    with connect_reader() as client:
        typer.echo(client.figure_feed())


def show_reader(*, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show who you are to the service. Unlike `me`, viewers may ask this too."""
    with connect() as client:
        found = client.figure_reader()
    line = f"{format_person(found.name, found.display_name)}: {found.role}"
    output.write(output_format, found.to_dict(), partial(output.print_line, line), [found.to_dict()])


def list_viewers(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List who may see a dataset's figures besides those who see the dataset; for its owner and auditors."""
    with connect() as client:
        found = list(client.dataset(dataset).viewers())

    def show() -> None:
        rows = [(each.name, each.display_name or "", f"{each.granted_at:%Y-%m-%d}") for each in found]
        output.print_table(("viewer", "display name", "since"), rows)

    output.write_list(output_format, "viewers", found, show, Viewer)


def show_viewer(
    dataset: DatasetName, principal: PrincipalName, *, output_format: FormatOf = OutputFormat.TABLE
) -> None:
    """Show a viewer of a dataset's figures, and since when it is one; for its owner and auditors."""
    with connect() as client:
        found = client.dataset(dataset).viewer(principal)

    def show() -> None:
        named = format_person(found.name, found.display_name)
        output.print_line(f"{named} sees the figures of {dataset} since {found.granted_at:%Y-%m-%d}.")

    output.write(output_format, found.to_dict(), show)


def list_grantees(dataset: DatasetName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List the principals that may be made viewers of a dataset's figures; for its owner."""
    with connect() as client:
        found = list(client.dataset(dataset).grantees(to="view"))
    write_grantees(output_format, found)


def add_viewer(dataset: DatasetName, principal: PrincipalName) -> None:
    """Let a principal see a dataset's figures, and nothing else of it; for its owner."""
    with connect() as client:
        client.dataset(dataset).grant_viewer(principal)
    output.print_line(f"{principal} may see the figures of {dataset}.")


def revoke_viewer(dataset: DatasetName, principal: PrincipalName) -> None:
    """Revoke a principal's access to a dataset's figures; for its owner."""
    with connect() as client:
        client.dataset(dataset).revoke_viewer(principal)
    output.print_line(f"{principal} no longer sees the figures of {dataset} as its viewer.")
