"""Shows lists as tables of their first items, and lists the rows of their frames."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from functools import singledispatch
from itertools import islice
from typing import Any

from snapledger_client.display.html import render_card
from snapledger_client.display.tables import MAX_HTML_ROWS, Table, describe_short, write_html, write_text
from snapledger_client.formatting import describe_statistic, format_number
from snapledger_client.models.accounts import AuditRecord, DatasetFacts, Entry
from snapledger_client.models.base import Answer, make_list_row, render_html, render_text
from snapledger_client.models.listing import BaseListing
from snapledger_client.models.releases import Estimate, Release
from snapledger_client.rounding import format_epsilon

UNREAD = ("hash", "secret_id", "seal")  # the ends of the names of what only programs read


@make_list_row.register
def make_facts_row(facts: DatasetFacts) -> dict[str, Any]:
    """Return the row of a dataset."""
    return {
        "dataset": facts.name,
        "rows": facts.n,
        "columns": len(facts.columns),
        "state": facts.state,
        "description": facts.description,
    }


@make_list_row.register
def make_release_row(release: Release) -> dict[str, Any]:
    """Return the row of a release; one with many numbers has no value."""
    single = release if isinstance(release, Estimate) else None
    lower, upper = (None, None) if single is None else single.interval_as_date or single.interval
    value = None if single is None else single.value_as_date or single.value_in_range
    return {
        "id": release.id,
        "dataset": release.dataset,
        "statistic": describe_statistic(release.statistic),
        "value": value,
        "lower": lower,
        "upper": upper,
        "alpha": release.accuracy.alpha,
        "epsilon": release.privacy.epsilon,
        "created_at": release.created_at,
    }


@make_list_row.register(Entry)
@make_list_row.register(AuditRecord)
def make_entry_row(entry: Entry | AuditRecord) -> dict[str, Any]:
    """Return the row of an entry of a ledger or of the audit log, without its hashes."""
    return {name: value for name, value in entry.model_dump(exclude_unset=True).items() if not name.endswith(UNREAD)}


@singledispatch
def _make_shown_row(answer: Answer) -> dict[str, str]:
    """Return the cells of an item in a list that people read."""
    return {name: _format_cell(value) for name, value in make_list_row(answer).items()}


@_make_shown_row.register
def _make_shown_release(release: Release) -> dict[str, str]:
    return {
        "dataset": release.dataset,
        "statistic": describe_statistic(release.statistic),
        "value": describe_short(release),
        "ε": format_epsilon(release.privacy.epsilon),
        "released at": _format_cell(release.created_at),
    }


def _format_cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%d %H:%M}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, float):
        return format_number(value)
    if isinstance(value, Mapping):
        return ", ".join(
            f"{name}: {each}" for name, each in value.items() if not name.endswith(UNREAD) and each is not None
        )
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _make_listing_table(listing: BaseListing[Any]) -> Table:
    items = listing.peek() or []
    rows = [_make_shown_row(each) for each in islice(items, MAX_HTML_ROWS)]
    names = dict.fromkeys(name for row in rows for name in row if name != "request_id")
    headers = [name for name in names if any(row.get(name) for row in rows)]
    numbers = frozenset(
        at
        for at, name in enumerate(headers)
        if isinstance(make_list_row(items[0]).get(name), int | float | Decimal) or name == "ε"
    )
    return Table(headers, [[row.get(name, "") for name in headers] for row in rows], numbers, len(items) - len(rows))


@render_text.register(BaseListing)
def describe_listing(listing: BaseListing[Any]) -> str:
    """Return the first items of a list as a table of text."""
    table = _make_listing_table(listing)
    return write_text(table) if table.rows else "none"


@render_html.register(BaseListing)
def render_listing(listing: BaseListing[Any]) -> str:
    """Render the first items of a list as a table."""
    table = _make_listing_table(listing)
    return render_card("", write_html(table) if table.rows else "<div>none</div>")
