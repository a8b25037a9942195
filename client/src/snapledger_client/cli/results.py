"""The output of released and derived statistics."""

from functools import partial

from snapledger_client import Derived, DerivedEstimate, Estimate, Histogram, Release
from snapledger_client.cli import output
from snapledger_client.cli.output import OutputFormat
from snapledger_client.cli.records import list_derived_records, list_release_records
from snapledger_client.display.tables import WHOLE_KINDS
from snapledger_client.display.years import has_separators
from snapledger_client.formatting import (
    append_unit,
    format_column_value,
    format_date,
    format_ends,
    format_interval,
    format_number,
    format_value,
    name_kind,
)


def write_release(output_format: OutputFormat, released: Release) -> None:
    """Print a release in a format; as CSV, a row for each of its values."""
    document, records = released.to_dict(), list_release_records(released)
    output.write(output_format, document, partial(print_release, released), records)


def print_release(released: Release) -> None:
    """Print a release for people: a table of its bins, or its interval."""
    if isinstance(released, Histogram):
        counts = zip(released.titles, released.value_in_range, released.interval, strict=True)
        whole = released.statistic["kind"] in WHOLE_KINDS
        rows = [
            (label, format_number(value), *format_ends(low, high, whole=whole)) for label, value, (low, high) in counts
        ]
        output.print_table(("bin", "count", "from", "to"), rows, ("count", "from", "to"))
    output.print_answer(released)
    if isinstance(released, Estimate) and released.value_as_date is None:
        separators = has_separators(released.statistic, released.columns)
        interval = format_interval(*released.interval, separators=separators)
        output.print_line(f"interval: {append_unit(interval, released.unit)}")


def write_derived(output_format: OutputFormat, found: Derived) -> None:
    """Print a derived statistic in a format; as CSV, a row for each of its values."""
    output.write(output_format, found.to_dict(), partial(_print_derived, found), list_derived_records(found))


def _print_derived(found: Derived) -> None:
    kind = name_kind(found.derived["kind"])
    separators = has_separators(found.derived, found.columns)
    if found.labels:
        labels = found.titles if found.bins else [_format_label(each) for each in found.labels]
        rows = [
            (label, *texts)
            for each in found.estimates.values()
            for label, texts in zip(labels, _format_rows(each, separators=separators), strict=True)
        ]
        output.print_table(("of", kind, "interval"), rows, (kind,))
    output.print_answer(found)


def _format_rows(estimate: DerivedEstimate, *, separators: bool) -> list[tuple[str, str]]:
    """Return each value and its interval as texts."""
    if estimate.date_rows is not None:
        return [
            ("" if value is None else format_date(value), f"{format_date(least)} to {format_date(most)}")
            for value, least, most in estimate.date_rows
        ]
    return [
        (
            "" if value is None else format_value(value, least, most, separators=separators),
            format_interval(least, most, separators=separators),
        )
        for value, least, most in estimate.rows
    ]


def _format_label(of: str | float) -> str:
    """Return the label of an edge or of a probability."""
    return of if isinstance(of, str) else format_column_value(of)
