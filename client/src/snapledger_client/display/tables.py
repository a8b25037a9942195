"""Renders the numbers of answers as tables, as text and as HTML. Every text is escaped."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import singledispatch
from html import escape
from itertools import islice, pairwise
from typing import Any

from snapledger_client.display.years import has_separators
from snapledger_client.formatting import (
    append_unit,
    describe_missing,
    describe_statistic,
    format_column_value,
    format_date,
    format_interval,
    format_measured,
    format_person,
    format_radius,
    format_value,
    has_several,
    name_kind,
    shorten_edge,
)
from snapledger_client.models.accounts import Allowance, Budget, DatasetFacts, Draft, Me, Verification
from snapledger_client.models.base import Answer, render_table
from snapledger_client.models.batches import Batch, BatchPlan
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.releases import (
    Bin,
    ColumnTexts,
    Estimate,
    Histogram,
    Release,
    list_binned_columns,
    title_bins,
)
from snapledger_client.rounding import format_epsilon

MAX_TEXT_ROWS, MAX_HTML_ROWS, MAX_OPEN_ROWS, MAX_COLUMNS = 24, 60, 12, 20
MAX_CELL, MAX_UNBROKEN = 60, 30  # characters
WHOLE_KINDS = frozenset({"count", "missing", "histogram", "cumulative", "margin"})
"""The kinds of statistics that are numbers of rows."""


@dataclass(frozen=True)
class Table:
    """Rows of texts below headers; columns in `numbers` are aligned to the right. `more` rows are left out."""

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[int] = frozenset()
    more: int = 0


def cut_table(headers: Sequence[str], rows: Iterable[Sequence[str]], count: int, numbers: Iterable[int] = ()) -> Table:
    """Return a table of the first of `count` rows."""
    shown = list(islice(rows, MAX_HTML_ROWS))
    return Table(headers, shown, frozenset(numbers), count - len(shown))


def write_text(table: Table) -> str:
    """Return a table as lines of text with aligned columns."""
    rows = [[_shorten(cell) for cell in row] for row in table.rows[:MAX_TEXT_ROWS]]
    widths = [max(map(len, column)) for column in zip(table.headers, *rows, strict=True)]
    lines = [_align(table.headers, widths, table.numbers), "─" * (sum(widths) + 2 * len(widths) - 2)]
    lines += [_align(row, widths, table.numbers) for row in rows]
    more = table.more + len(table.rows) - len(rows)
    return "\n".join([*lines, f"… and {more:,} more: to_frame() has all"] if more else lines)


def _shorten(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MAX_CELL else f"{line[: MAX_CELL - 1]}…"


def _align(cells: Sequence[str], widths: Sequence[int], numbers: frozenset[int]) -> str:
    aligned = (
        cell.rjust(width) if at in numbers else cell.ljust(width)
        for at, (cell, width) in enumerate(zip(cells, widths, strict=True))
    )
    return "  ".join(aligned).rstrip()


def write_html(table: Table, *, closed: bool = False) -> str:
    """Return a table as HTML; a long one that may be `closed` is so at first."""
    rows = [_write_row("th", table.headers, table.numbers)]
    rows += [_write_row("td", row, table.numbers) for row in table.rows]
    text = f'<table style="border-collapse:collapse;margin:6px 0">{"".join(rows)}</table>'
    if table.more:
        text += f"<div>… and {table.more:,} more: <code>to_frame()</code> has all</div>"
    if not closed or len(table.rows) <= MAX_OPEN_ROWS:
        return text
    return f"<details><summary>{len(table.rows) + table.more:,} rows</summary>{text}</details>"


def _write_row(tag: str, cells: Sequence[str], numbers: frozenset[int]) -> str:
    written = "".join(
        f'<{tag} style="text-align:{"right" if at in numbers else "left"};padding:2px 10px 2px 0'
        f'{";white-space:nowrap" if len(cell) <= MAX_UNBROKEN else ""}">'
        f"{escape(_shorten(cell))}</{tag}>"
        for at, cell in enumerate(cells)
    )
    return f"<tr>{written}</tr>"


@singledispatch
def make_table(answer: Answer) -> Table | None:
    """Return the numbers of an answer that has several as a table; None for other answers."""
    del answer
    return None


@render_table.register
def render_any_table(answer: Answer) -> str:
    """Return the table of an answer as text; an empty text if there is none, or if the sentence has all of it."""
    if isinstance(answer, DerivedPlan) or (isinstance(answer, Derived) and not answer.labels):
        return ""
    table = make_table(answer)
    return "" if table is None or not table.rows else write_text(table)


def title_column(name: str, texts: ColumnTexts | None, *, unit: bool = True) -> str:
    """Return what people call a column, with its unit: `Body mass (g)`."""
    label = name if texts is None or not texts.label else texts.label
    return f"{label} ({texts.unit})" if unit and texts is not None and texts.unit else label


def title_columns(answer: Release | Derived, statistic: dict[str, Any]) -> str:
    """Return the title of the bins or groups of a statistic."""
    names = list_binned_columns(statistic)
    return " × ".join(title_column(name, answer.columns.get(name)) for name in names if name)


def title_value(statistic: dict[str, Any], unit: str | None) -> str:
    """Return the title of a statistic's numbers, with their unit: `mean (g)`."""
    kind = "rows" if statistic["kind"] in WHOLE_KINDS else name_kind(statistic["kind"])
    return f"{kind} ({unit})" if unit else kind


def shorten_titles(
    titles: Sequence[str], bins: Sequence[Bin] | None, edges: Sequence[float] | Sequence[str] | None
) -> list[str]:
    """Return titles of bins with the edges of intervals shortened, as a picture or a table has room for."""
    ends: list[tuple[float | str | None, float | str | None]]
    if bins is None:
        numbers: Sequence[float | str] = edges or ()
        ends = list(pairwise(numbers))
    else:
        ends = [(each.lower, each.upper) for each in bins if each.kind == "interval"]
    shown = [
        f"{title[0]}{shorten_edge(lower)}, {shorten_edge(upper)}{title[-1]}"
        for title, (lower, upper) in zip(titles, ends, strict=False)
        if lower is not None and upper is not None
    ]
    return [*shown, *titles[len(shown) :]]


def list_titles(release: Histogram, positions: Iterable[int]) -> list[str]:
    """Return the titles of some bins; of a million bins, only these are made."""
    if release.axes is not None:
        rows, columns = _title_axes(release)
        cells = len(rows) * len(columns)
        outside = [each.label for each in release.bins or ()]
        return [
            f"{rows[at // len(columns)]}, {columns[at % len(columns)]}" if at < cells else outside[at - cells]
            for at in positions
        ]
    if release.bins is not None:
        titles = shorten_titles(release.titles, release.bins, None)
        return [titles[at] for at in positions]
    edges: Sequence[float | str] = release.edges or ()
    last = len(edges) - 2
    return [
        f"[{shorten_edge(edges[at])}, {shorten_edge(edges[at + 1])}{']' if at == last else ')'}"
        if at <= last
        else "missing"
        for at in positions
    ]


def _title_axes(release: Histogram) -> list[list[str]]:
    texts = [release.columns.get(name) for name in list_binned_columns(release.statistic)]
    return [
        shorten_titles(title_bins(axis.bins, axis.labels, text), axis.bins, axis.edges)
        for axis, text in zip(release.axes or (), texts, strict=True)
    ]


def list_two_way_cells(release: Histogram) -> tuple[list[str], list[str], list[tuple[float, ...]]]:
    """Return the titles of the rows and of the columns of a two-way table, and its cells row by row."""
    rows, columns = _title_axes(release)
    cells = release.value_in_range
    return rows, columns, [cells[at * len(columns) : (at + 1) * len(columns)] for at in range(len(rows))]


def is_shown_as_cells(release: Histogram) -> bool:
    """Return whether a release is a two-way table that is not too wide to be shown as one."""
    return release.axes is not None and len(release.axes[1].labels) <= MAX_COLUMNS


@make_table.register
def make_histogram_table(release: Histogram) -> Table:
    """Return a row for each bin, or the cells of a two-way table."""
    if is_shown_as_cells(release):
        names, columns, cells = list_two_way_cells(release)
        rows = [[name, *(f"{cell:,.0f}" for cell in row)] for name, row in zip(names, cells, strict=True)]
        headers = [title_columns(release, release.statistic), *columns]
        return cut_table(headers, rows, len(names), range(1, len(headers)))
    whole = release.statistic["kind"] in WHOLE_KINDS
    titles = list_titles(release, range(min(len(release.value), MAX_HTML_ROWS)))
    intervals = (
        [
            title,
            f"{value:,.0f}" if whole else format_value(value, *interval),
            format_interval(*interval, whole=whole),
        ]
        for title, value, interval in zip(titles, release.value_in_range, release.interval, strict=False)
    )
    headers = [title_columns(release, release.statistic), title_value(release.statistic, release.unit), "interval"]
    return cut_table(headers, intervals, len(release.value), [1])


@make_table.register
def make_derived_table(derived: Derived) -> Table | None:
    """Return a row for each number of a list, or for the slope and the intercept."""
    if derived.derived["kind"] == "regression":
        return _make_regression_table(derived)
    (name, estimate), *_ = derived.estimates.items()
    if not derived.labels or is_single(derived):
        return None
    kind, unit = derived.derived["kind"], derived.units.get(name)
    numbers = title_value(derived.derived, unit)
    title = title_columns(derived, derived.derived)
    if kind == "quantile":
        title, numbers = "probability", title
    elif kind == "cumulative":
        title = f"{title} below"
    elif kind == "margin":
        title = title_column(derived.derived["column"], derived.columns.get(derived.derived["column"]))
    rows = list_texts(derived, name)
    return cut_table([title, numbers, "interval"], rows, len(estimate.rows), [1])


def is_single(derived: Derived) -> bool:
    """Return whether a derived statistic is one number, such as a median."""
    estimate, *more = derived.estimates.values()
    return not more and len(estimate.rows) == 1


def list_texts(derived: Derived, name: str) -> Iterator[list[str]]:
    """Return the title, the value and the interval of each number of a list as texts."""
    kind, estimate = derived.derived["kind"], derived.estimates[name]
    separators, whole = has_separators(derived.derived, derived.columns), kind in WHOLE_KINDS
    titles = derived.titles if derived.bins is not None else [shorten_edge(each) for each in derived.labels]
    if estimate.date_rows is not None:
        for title, (at, first, last) in zip(titles, estimate.date_rows, strict=False):
            interval = "anything" if first is None else f"{format_date(first)} to {format_date(last)}"
            yield [title, "no value" if at is None else format_date(at), interval]
        return
    for title, (value, lower, upper) in zip(titles, estimate.rows, strict=False):
        shown = (
            f"{value:,.0f}" if whole and value is not None else format_value(value, lower, upper, separators=separators)
        )
        yield [title, shown, format_interval(lower, upper, separators=separators, whole=whole)]


def _make_regression_table(derived: Derived) -> Table:
    x, y = derived.derived["columns"]
    meanings = {"slope": f"change of {y} for 1 more of {x}", "intercept": f"{y} at {x} = 0"}
    rows = [
        [
            name,
            append_unit(format_value(*estimate.rows[0]), derived.units.get(name)),
            append_unit(format_interval(*estimate.rows[0][1:]), derived.units.get(name)),
            meanings.get(name, ""),
        ]
        for name, estimate in derived.estimates.items()
    ]
    return Table(["", "value", "interval", "meaning"], rows, frozenset({1}))


def describe_short(release: Release) -> str:
    """Return the value of a release with its error, or how many it has."""
    accuracy = release.accuracy
    if isinstance(release, Histogram):
        radius = format_radius(accuracy.radius, accuracy.alpha, release.unit, each=True)
        return f"{len(release.value):,} numbers, {radius}"
    if isinstance(release, Estimate) and release.value_as_date is not None:
        return format_date(release.value_as_date)
    value = release.value_in_range if isinstance(release, Estimate) else 0.0
    separators = has_separators(release.statistic, release.columns)
    return format_measured(value, accuracy.radius, accuracy.alpha, release.unit, separators=separators)


@make_table.register
def make_batch_table(batch: Batch) -> Table:
    """Return a row for each release."""
    rows = (
        [describe_statistic(each.statistic), describe_short(each), format_epsilon(each.budget.charged)]
        for each in batch.items
    )
    return cut_table(["statistic", "value", "ε paid"], rows, len(batch.items), [2])


@make_table.register
def make_batch_plan_table(plan: BatchPlan) -> Table:
    """Return a row for each item."""
    rows = (
        [
            describe_statistic(each.statistic),
            format_radius(each.accuracy.radius, each.accuracy.alpha, each.unit, each=has_several(each.statistic)),
            format_epsilon(each.privacy.epsilon),
            "an earlier release" if each.reused else "new",
        ]
        for each in plan.items
    )
    return cut_table(["statistic", "error", "ε", "answered by"], rows, len(plan.items), [2])


@make_table.register
def make_derived_plan_table(plan: DerivedPlan) -> Table:
    """Return a row for each component."""
    rows = [
        [
            each.role,
            describe_statistic(each.statistic),
            format_radius(each.accuracy.radius, each.accuracy.alpha, each=has_several(each.statistic)),
            format_epsilon(each.charged),
            "an earlier release" if each.reused else "new",
        ]
        for each in plan.components
    ]
    return Table(["component", "statistic", "error", "ε", "answered by"], rows, frozenset({3}))


def _make_allowance_row(name: str, account: Allowance | Budget) -> list[str]:
    amounts = (account.epsilon_limit, account.epsilon_spent, account.epsilon_remaining)
    limit, spent, left = (format_epsilon(each, up=each is not amounts[2]) for each in amounts)
    return [name, limit, spent, left]


@make_table.register
def make_budget_table(budget: Budget) -> Table | None:
    """Return a row for each account, if the caller sees those of others."""
    if budget.allowances is None:
        return None
    rows = [_make_allowance_row("dataset", budget)]
    rows += [_make_allowance_row(format_person(each.principal, each.display_name), each) for each in budget.allowances]
    return Table(["account", "ε limit", "spent", "left"], rows, frozenset({1, 2, 3}))


@make_table.register
def make_me_table(me: Me) -> Table:
    """Return a row for each dataset that the caller may spend on."""
    rows = [_make_allowance_row(each.dataset or "", each) for each in me.allowances]
    return Table(["dataset", "ε limit", "spent", "left"], rows, frozenset({1, 2, 3}))


@make_table.register
def make_facts_table(facts: DatasetFacts) -> Table:
    """Return a row for each column."""
    rows = [
        [
            name,
            column["kind"],
            column.get("label") or "",
            column.get("unit") or "",
            _describe_values(column),
            describe_missing(column),
        ]
        for name, column in facts.columns.items()
    ]
    return Table(["column", "kind", "label", "unit", "values", "missing"], rows)


def _describe_values(column: dict[str, Any]) -> str:
    if column.get("bounds"):
        lower, upper = map(format_column_value, column["bounds"])
        return f"{lower} to {upper}"
    labels = column.get("category_labels") or {}
    return ", ".join(
        f"{each} ({labels[each]})" if each in labels else str(each) for each in column.get("categories", ())
    )


@make_table.register
def make_draft_table(draft: Draft) -> Table:
    """Return a row for each drafted column, and for each that is left out."""
    rows = [
        [name, str(column.get("kind", "")), _describe_values(column), ", ".join(column.get("unconfirmed", ()))]
        for name, column in draft.metadata.get("columns", {}).items()
    ]
    rows += [[each.get("column", ""), "left out", each.get("reason", ""), ""] for each in draft.left_out]
    return Table(["column", "kind", "values", "unconfirmed"], rows)


@make_table.register
def make_verification_table(verification: Verification) -> Table:
    """Return a row for each problem."""
    rows = [["" if each.seq is None else str(each.seq), each.what] for each in verification.problems]
    return Table(["entry", "problem"], rows, frozenset({0}))
