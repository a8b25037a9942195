"""`snapledger collection …`: figures of one or several datasets on one board, and who may see it."""

from functools import partial
from typing import Annotated

import typer

from snapledger_client import Collection, Viewer
from snapledger_client.cli import output
from snapledger_client.cli.commands.budgets import PrincipalName
from snapledger_client.cli.options import IfMatchOf, OnlyNewOf
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.session import USAGE, connect, connect_reader, fail

CollectionName = Annotated[str, typer.Argument(help="The collection's name, such as penguins-2009.")]


def put_collection(  # noqa: PLR0913 - the members of the request
    collection: CollectionName,
    figures: Annotated[list[str], typer.Argument(help="Datasets and figures in order, such as penguins/body-mass.")],
    *,
    title: Annotated[str, typer.Option(help="What it shows.")],
    note: Annotated[str | None, typer.Option(help="What readers should know.")] = None,
    public: Annotated[
        bool, typer.Option("--public", help="Everybody may see it without a key, with its public figures.")
    ] = False,
    if_match: IfMatchOf = None,
    only_new: OnlyNewOf = False,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """Make a collection of figures, or change it; for owners, with figures of their own datasets.

    A change replaces all of it: repeat --note and --public, or they are gone.
    """
    with connect() as client:
        try:
            found = client.put_collection(
                collection, title, figures, note=note, public=public, if_match=if_match, only_new=only_new
            )
        except ValueError as error:
            fail(str(error), USAGE)
    output.write(output_format, found.to_dict(), lambda: output.print_line(f"{found.name} shows {' '.join(figures)}."))


def show_collection(collection: CollectionName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """Show a collection with those of its figures that you may see."""
    with connect_reader() as client:
        found = client.collection(collection)
    rows = list(found.to_dict()["figures"])
    output.write(output_format, output.make_tagged(found), partial(_print_collection, found), rows)


def _print_collection(collection: Collection) -> None:
    maker = "" if collection.owner is None else f", by {collection.owner}"
    output.print_line(f"{collection.title} ({collection.audience}{maker})")
    if collection.note:
        output.print_answer(collection.note)
    rows = [
        (each["dataset"], each["figure"], each["version"], "withdrawn" if each["withdrawn"] else each["title"])
        for each in collection.figures or ()
    ]
    output.print_table(("dataset", "figure", "version", "title"), rows, ("version",))


def list_collections(
    *,
    search: Annotated[str | None, typer.Option(help="Only those with this text in their name or title.")] = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """List the collections that you may see."""
    with connect_reader() as client:
        found = list(client.collections(search))

    def show() -> None:
        rows = [(each.name, f"{each.changed_at:%Y-%m-%d %H:%M}", each.audience, each.title) for each in found]
        output.print_table(("collection", "changed", "audience", "title"), rows)

    output.write_list(output_format, "collections", found, show, Collection)


def delete_collection(collection: CollectionName, *, if_match: IfMatchOf = None) -> None:
    """Delete a collection; its figures stay published."""
    with connect() as client:
        client.delete_collection(collection, if_match=if_match)
    output.print_line(f"{collection} is deleted.")


def list_viewers(collection: CollectionName, *, output_format: FormatOf = OutputFormat.TABLE) -> None:
    """List who may see a collection; for its owner and auditors."""
    with connect() as client:
        found = list(client.collection_viewers(collection))

    def show() -> None:
        rows = [(each.name, each.display_name, f"{each.granted_at:%Y-%m-%d}") for each in found]
        output.print_table(("viewer", "display name", "since"), rows)

    output.write_list(output_format, "viewers", found, show, Viewer)


def show_viewer(
    collection: CollectionName, principal: PrincipalName, *, output_format: FormatOf = OutputFormat.TABLE
) -> None:
    """Show a viewer of a collection, and since when it is one; for its owner and auditors."""
    with connect() as client:
        found = client.collection_viewer(collection, principal)
    output.write(
        output_format,
        found.to_dict(),
        lambda: output.print_line(f"{found.name} sees {collection} since {found.granted_at:%Y-%m-%d}."),
    )


def grant(collection: CollectionName, principal: PrincipalName) -> None:
    """Let a principal see the figures that are in a collection, and nothing else of their datasets."""
    with connect() as client:
        client.grant_collection(collection, principal)
    output.print_line(f"{principal} may see {collection}.")


def revoke(collection: CollectionName, principal: PrincipalName) -> None:
    """Revoke a principal's access to a collection."""
    with connect() as client:
        client.revoke_collection(collection, principal)
    output.print_line(f"{principal} no longer sees {collection} as its viewer.")
