"""`snapledger releases`: what was released already."""

from itertools import chain
from typing import Annotated

import typer

from snapledger_client import Estimate, Release
from snapledger_client.cli import output
from snapledger_client.cli.output import FormatOf, OutputFormat
from snapledger_client.cli.records import list_release_records
from snapledger_client.cli.results import write_release
from snapledger_client.cli.session import USAGE, Newest, complete_dataset_names, connect, fail
from snapledger_client.formatting import append_unit, describe_statistic, format_number, format_radius


def list_releases(
    dataset: Annotated[
        str | None,
        typer.Argument(help="A dataset; your own releases by default.", autocompletion=complete_dataset_names),
    ] = None,
    *,
    newest: Newest = False,
    release_id: Annotated[str | None, typer.Option("--id", help="Show only the release with this id.")] = None,
    output_format: FormatOf = OutputFormat.TABLE,
) -> None:
    """List the releases of a dataset or your own, oldest first; or show one."""
    if dataset is not None and release_id is not None:
        fail("give a dataset or --id, not both", USAGE)
    with connect() as client:
        if release_id is not None:
            found = [client.release(release_id)]
        else:
            of = client if dataset is None else client.dataset(dataset)
            found = list(of.releases(newest=newest))
    if release_id is not None:
        write_release(output_format, found[0])
        return
    documents = [each.to_dict() for each in found]
    records = chain.from_iterable(map(list_release_records, found))
    output.write(output_format, {"releases": documents, "next": None}, lambda: _show_releases(found), records)


def _show_releases(releases: list[Release]) -> None:
    rows = [
        (
            each.id,
            f"{each.created_at:%Y-%m-%d %H:%M}",
            each.dataset,
            describe_statistic(each.statistic),
            _describe_value(each),
            format_radius(each.accuracy.radius, each.accuracy.alpha, each.unit),
            f"{each.privacy.epsilon:f}",
        )
        for each in releases
    ]
    output.print_table(("release", "at", "dataset", "statistic", "value", "accuracy", "ε"), rows, ("value", "ε"))


def _describe_value(release: Release) -> str:
    if not isinstance(release, Estimate):
        return f"{len(release.to_dict()['value']):,} values"
    if release.value_as_date is not None:
        return str(release.value_as_date)
    return append_unit(format_number(release.value_in_range), release.unit)
