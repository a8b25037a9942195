"""Draws answers: chooses the picture of each, and draws it with matplotlib if it is installed, otherwise as SVG."""

from dataclasses import replace
from functools import singledispatch
from itertools import pairwise
from typing import Any

from snapledger_client.display.matplotlib_axes import draw_on_axes, import_pyplot
from snapledger_client.display.pictures import (
    Axis,
    Bar,
    Cell,
    Picture,
    Whisker,
    make_axis,
    name_axis,
)
from snapledger_client.display.svg import Drawing, draw_picture
from snapledger_client.display.tables import (
    WHOLE_KINDS,
    is_single,
    list_texts,
    list_titles,
    list_two_way_cells,
    title_column,
    title_columns,
    title_value,
)
from snapledger_client.display.years import has_separators
from snapledger_client.formatting import (
    REHEARSAL,
    describe_statistic,
    format_date,
    format_interval,
    format_measured,
    format_number,
)
from snapledger_client.models.base import Answer, draw_plot
from snapledger_client.models.batches import Batch
from snapledger_client.models.derived import Derived, End
from snapledger_client.models.plans import FreePlan
from snapledger_client.models.releases import Estimate, Histogram

MAX_BARS = 200  # more would be narrower than two pixels
MAX_PICTURES = 20  # of a batch
MAX_CELLS = 2_500  # of a two-way table
MAX_POINTS = 1_000  # of a line
WIDTH_INCHES, HEIGHT_INCHES, LINE_INCHES = 7, 3.5, 1.2


@singledispatch
def make_picture(answer: Answer) -> Picture:
    """Return the picture of an answer.

    Raises:
        ValueError: there is nothing to draw.
    """
    raise ValueError(f"a {type(answer).__name__} has nothing to plot")


def draft_picture(answer: Answer) -> Picture:
    """Return the picture of an answer, marked if its numbers are of made-up data.

    Raises:
        ValueError: there is nothing to draw.
    """
    picture = make_picture(answer)
    return replace(picture, title=REHEARSAL) if getattr(answer, "rehearsed", False) else picture


@draw_plot.register
def plot_answer(answer: Answer, axes: Any = None) -> Any:  # noqa: ANN401 - matplotlib's
    """Draw an answer on axes of matplotlib and return them; without matplotlib, return a drawing."""
    return draw_pictures([draft_picture(answer)], axes)


@draw_plot.register
def plot_batch(batch: Batch, axes: Any = None) -> Any:  # noqa: ANN401
    """Draw the releases of a batch below each other, and return the axes of all."""
    if axes is not None:
        raise ValueError("a batch needs axes for each of its releases: plot its `items`")
    return draw_pictures([draft_picture(each) for each in batch.items[:MAX_PICTURES]], None)


def draw_pictures(pictures: list[Picture], axes: Any) -> Any:  # noqa: ANN401
    """Draw pictures below each other on new axes, or one on these axes; without matplotlib, as one drawing."""
    if axes is not None:
        draw_on_axes(pictures[0], axes)
        return axes
    pyplot = import_pyplot()
    if pyplot is None:
        return Drawing("".join(map(draw_picture, pictures)))
    heights = [HEIGHT_INCHES if each.y.ticked or each.y.names else LINE_INCHES for each in pictures]
    _, grid = pyplot.subplots(
        len(pictures),
        1,
        squeeze=False,
        layout="constrained",
        figsize=(WIDTH_INCHES, sum(heights)),
        height_ratios=heights,
    )
    for each, picture in zip(grid[:, 0], pictures, strict=True):
        draw_on_axes(picture, each)
    return grid[0, 0] if len(pictures) == 1 else grid[:, 0]


@make_picture.register
def picture_estimate(release: Estimate) -> Picture:
    """Return the value and its interval in the statistic's public range."""
    lowest, width = release.mechanism.centre - release.mechanism.b_prime, 2 * release.mechanism.b_prime
    accuracy, statistic = release.accuracy, release.statistic
    separators = has_separators(release.statistic, release.columns)
    text = format_measured(release.value_in_range, accuracy.radius, accuracy.alpha, release.unit, separators=separators)
    title = f"{describe_statistic(statistic)}{f' ({release.unit})' if release.unit else ''}"
    axis = Axis(title, lowest, lowest + width, separators=separators)
    if release.value_as_date is not None:
        text = format_date(release.value_as_date)
        axis = Axis(axis.title, *release.interval, names=((release.value_in_range, text),), ticked=False)
    whisker = Whisker(0.5, release.value_in_range, release.interval, text, across=True)
    return Picture(f"{axis.title}: {text}", axis, Axis("", 0, 1, ticked=False), whiskers=[whisker])


@make_picture.register
def picture_histogram(release: Histogram) -> Picture:
    """Return bars with their intervals, or the cells of a two-way table."""
    if release.axes is not None:
        return _picture_two_way(release)
    values, intervals = release.value_in_range, release.interval
    merged = -(-len(values) // MAX_BARS)
    titles = list_titles(release, range(0, len(values), merged))
    if merged > 1:
        values = tuple(sum(values[at : at + merged]) for at in range(0, len(values), merged))
        intervals, titles = (), [f"{title} ({merged} bins from here on)" for title in titles]
    places, axis = _place_bars(release, titles, merged)
    bars = [
        Bar(left, right, value, _describe_bar(release, title, value, interval), interval)
        for (left, right), title, value, interval in zip(
            places, titles, values, intervals or [None] * len(values), strict=True
        )
    ]
    highest = [max(bar.top, bar.interval[1] if bar.interval else 0.0) for bar in bars]
    y = make_axis(title_value(release.statistic, release.unit), [0.0, *highest], from_zero=True)
    y = Axis(y.title, 0.0, y.high)
    return Picture(f"{describe_statistic(release.statistic)}, {len(release.value)} bins", axis, y, bars=bars)


def _describe_bar(release: Histogram, title: str, value: float, interval: tuple[float, float] | None) -> str:
    whole = release.statistic["kind"] in WHOLE_KINDS
    return f"{title}: {format_number(value)}" + (
        "" if interval is None else f" ({format_interval(*interval, whole=whole)})"
    )


def _place_bars(release: Histogram, titles: list[str], merged: int) -> tuple[list[tuple[float, float]], Axis]:
    """Return where the bars are along x: at their edges if they are intervals of numbers, otherwise by their names."""
    title = title_columns(release, release.statistic)
    edges = release.edges
    if edges is None and release.bins is not None:
        ends = [each for each in release.bins if each.kind == "interval"]
        edges = tuple(each.lower for each in ends) + tuple(each.upper for each in ends[-1:])  # type: ignore[assignment]
    if merged > 1 or not edges or not all(isinstance(edge, int | float) for edge in edges):
        return [(at - 0.5, at + 0.5) for at in range(len(titles))], name_axis(title, titles)
    numbers = [float(edge) for edge in edges]
    places = list(pairwise(numbers))
    wide = 0.06 * (numbers[-1] - numbers[0])
    names = []
    for name in titles[len(places) :]:  # `missing`, and what is outside
        left = places[-1][1] + wide / 2
        places.append((left, left + wide))
        names.append((left + wide / 2, name))
    return places, Axis(title, numbers[0], places[-1][1], tuple(names), separators=False)


def _picture_two_way(release: Histogram) -> Picture:
    rows, columns, cells = list_two_way_cells(release)
    if len(rows) * len(columns) > MAX_CELLS:
        raise ValueError(f"{len(rows) * len(columns):,} cells are too many for a picture: see `to_table()`")
    highest = max((cell for row in cells for cell in row), default=0.0) or 1.0
    names = release.statistic["columns"]
    y_title, x_title = (title_column(name, release.columns.get(name)) for name in names)
    marks = [
        Cell(x, len(rows) - 1 - y, max(cell, 0.0) / highest, f"{cell:,.0f}", f"{rows[y]}, {columns[x]}: {cell:,.0f}")
        for y, row in enumerate(cells)
        for x, cell in enumerate(row)
    ]
    x_axis, y_axis = name_axis(x_title, columns), name_axis(y_title, rows[::-1])
    return Picture(f"{describe_statistic(release.statistic)}, {len(marks)} cells", x_axis, y_axis, cells=marks)


@make_picture.register
def picture_derived(derived: Derived) -> Picture:
    """Return a band along edges or probabilities, an interval for each group, a line, or one interval."""
    kind = derived.derived["kind"]
    if kind == "regression":
        return _picture_line(derived)
    (name, estimate), *_ = derived.estimates.items()
    if derived.bins is not None and len(derived.bins) > MAX_BARS:
        raise ValueError(f"{len(derived.bins):,} intervals are too many for a picture: see `to_frame()`")
    if kind in {"cumulative", "quantile"} and not is_single(derived):
        return _picture_band(derived, name)
    rows = estimate.rows
    title = (
        title_value(derived.derived, derived.units.get(name)) if derived.bins else describe_statistic(derived.derived)
    )
    if derived.units.get(name) and not derived.bins:
        title = f"{title} ({derived.units[name]})"
    texts = (
        [": ".join(each[:2]) for each in list_texts(derived, name)]
        if derived.bins
        else [describe_statistic(derived.derived)]
    )
    ends = [end for row in rows for end in row if end is not None]
    if not ends:
        raise ValueError("nothing is known of the number: there is nothing to plot")
    axis = make_axis(title, ends, separators=has_separators(derived.derived, derived.columns))
    whiskers = [
        Whisker(float(len(rows) - 1 - at), value, _close(lower, upper, axis), text, across=True)
        for at, ((value, lower, upper), text) in enumerate(zip(rows, texts, strict=True))
    ]
    if derived.bins:
        y = name_axis(title_columns(derived, derived.derived), derived.titles[::-1])
    else:
        y = Axis("", -0.5, 0.5, ticked=False)
    if estimate.date_rows is not None:
        dated = [(row[0], format_date(day[0])) for row, day in zip(rows, estimate.date_rows, strict=True)]
        axis = Axis(title, axis.low, axis.high, tuple((at, day) for at, day in dated if at is not None), ticked=False)
    return Picture(f"{describe_statistic(derived.derived)}, {len(rows)} values", axis, y, whiskers=whiskers)


def _close(lower: End, upper: End, axis: Axis) -> tuple[float, float]:
    """Return an interval whose unknown ends are those of the axis."""
    return axis.low if lower is None else lower, axis.high if upper is None else upper


def _picture_band(derived: Derived, name: str) -> Picture:
    kind, estimate = derived.derived["kind"], derived.estimates[name]
    every = -(-len(estimate.rows) // MAX_POINTS)
    shown = [at for at, row in enumerate(estimate.rows) if row[0] is not None and at % every == 0]
    rows = [estimate.rows[at] for at in shown]
    ends = [end for row in rows for end in row if end is not None]
    if not ends:
        raise ValueError("nothing is known of the numbers: there is nothing to plot")
    title = title_columns(derived, derived.derived)
    of = [derived.labels[at] for at in shown]
    numeric = all(isinstance(each, int | float) for each in of)
    places = [float(each) for each in of] if numeric else [float(at) for at in range(len(of))]
    if kind == "quantile":
        x, y = (
            Axis("probability", 0.0, 1.0),
            make_axis(title, ends, separators=has_separators(derived.derived, derived.columns)),
        )
    else:
        x = make_axis(title, places, separators=False) if numeric else name_axis(title, [str(each) for each in of])
        y = make_axis("rows below", ends, from_zero=True)
    if estimate.date_rows is not None:
        days = [
            (row[0], format_date(row_days[0])) for row, row_days in zip(estimate.rows, estimate.date_rows, strict=True)
        ]
        y = Axis(y.title, y.low, y.high, tuple((at, day) for at, day in days if at is not None), ticked=False)
    points = [(place, row[0]) for place, row in zip(places, rows, strict=True) if row[0] is not None]
    band = [(place, *_close(row[1], row[2], y)) for place, row in zip(places, rows, strict=True)]
    few = [Whisker(at, row[0], _close(row[1], row[2], y), "") for at, row in zip(places, rows, strict=True)]
    label = f"{describe_statistic(derived.derived)}, {len(rows)} values"
    return Picture(label, x, y, line=points, band=band, whiskers=few if kind == "quantile" else ())


def _picture_line(derived: Derived) -> Picture:
    x_name, y_name = derived.derived["columns"]
    slope, intercept = (derived.estimates[name].value for name in ("slope", "intercept"))
    bounds = derived.derived.get("bounds")
    if not (isinstance(slope, int | float) and isinstance(intercept, int | float) and bounds and all(bounds)):
        raise ValueError("the line is not known: there is nothing to plot")
    (low, high), (bottom, top) = ((float(low), float(high)) for low, high in bounds)
    ends = [(x, intercept + slope * x) for x in (low, high)]
    titles = [title_column(name, derived.columns.get(name)) for name in (x_name, y_name)]
    axes = Axis(titles[0], low, high), make_axis(titles[1], [bottom, top, *(y for _, y in ends)])
    return Picture(f"{y_name} by {x_name}", *axes, line=ends)


@make_picture.register
def picture_plan(plan: FreePlan) -> Picture:
    """Return the curve of a plan: the error by ε, with a dot at what is planned."""
    if not plan.curve:
        raise ValueError("this plan has no curve: plan with curve=(first, last, points)")
    points = [(float(each.epsilon), each.radius) for each in plan.curve]
    errors = [y for _, y in points]
    x = Axis("ε", points[0][0], points[-1][0], log=True)
    y = Axis(f"error ({plan.unit})" if plan.unit else "error", min(errors), max(errors), log=True)
    at = (float(plan.privacy.epsilon), plan.accuracy.radius)
    inside = x.low <= at[0] <= x.high and y.low <= at[1] <= y.high
    return Picture(
        f"error of {describe_statistic(plan.statistic)} by ε", x, y, line=points, dots=[at] if inside else ()
    )
