"""Draws figures: a picture for each measure, as bars for counts and as values with their intervals for all else."""

import textwrap
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from snapledger_client.display.figure_tables import write_numbers
from snapledger_client.display.pictures import Axis, Bar, Picture, Whisker, make_axis, name_axis
from snapledger_client.display.plots import MAX_BARS, MAX_PICTURES, draw_pictures
from snapledger_client.display.tables import WHOLE_KINDS
from snapledger_client.formatting import append_unit
from snapledger_client.models.base import draw_plot
from snapledger_client.models.figures import Figure

Row = Mapping[str, Any]
MAX_CONDITIONS = 40  # characters of a row's conditions beside its label


@draw_plot.register
def plot_figure(figure: Figure, axes: Any = None) -> Any:  # noqa: ANN401 - matplotlib's
    """Draw the measures of a figure below each other, and return the axes of all.

    Raises:
        ValueError: the figure was not read, has too many numbers, or several measures for one pair of axes.
    """
    if not figure.rows:
        raise ValueError("this figure has no numbers: read it with `figure(name)`")
    parts = [list(rows) for _, rows in groupby(figure.rows, key=lambda row: (row["measure"], row["columns"]))]
    if axes is not None and len(parts) > 1:
        raise ValueError("this figure has several measures, which need axes of their own: plot it without `ax`")
    if max(map(len, parts)) > MAX_BARS:
        raise ValueError(f"{max(map(len, parts)):,} numbers are too many for a picture: see `to_frame()`")
    return draw_pictures([_draw_measure(figure.title, rows) for rows in parts[:MAX_PICTURES]], axes)


def _draw_measure(title: str, rows: Sequence[Row]) -> Picture:
    measure, columns, unit = (rows[0][name] for name in ("measure", "columns", "unit"))
    varied = len({row.get("conditions") for row in rows}) > 1
    names = [_name_row(row, varied=varied) for row in rows]
    texts = [
        f"{name}: {value} ({interval})" for name, (value, interval) in zip(names, map(write_numbers, rows), strict=True)
    ]
    label = f"{title}: {measure} of {columns}, {len(rows)} numbers"
    ends = [end for row in rows for end in _list_known(row)]
    if not ends:
        raise ValueError("nothing is known of the numbers: there is nothing to plot")
    numbers = append_unit(measure, f"({unit})" if unit else None)
    if measure in WHOLE_KINDS:
        height = make_axis(numbers, [0.0, *ends], from_zero=True)
        bars = [
            Bar(at - 0.5, at + 0.5, row["value"] or 0.0, text, _close(row, height))
            for at, (row, text) in enumerate(zip(rows, texts, strict=True))
        ]
        return Picture(label, name_axis(columns, names), Axis(numbers, 0.0, height.high), bars=bars)
    width = make_axis(numbers, ends)
    if any(row["value_as_date"] for row in rows):
        dates = tuple((row["value"], str(row["value_as_date"])) for row in rows if row["value_as_date"])
        width = Axis(measure, width.low, width.high, dates, ticked=False)
    whiskers = [
        Whisker(float(len(rows) - 1 - at), row["value"], _close(row, width), text, across=True)
        for at, (row, text) in enumerate(zip(rows, texts, strict=True))
    ]
    height = name_axis(columns, names[::-1]) if len(rows) > 1 else Axis("", -0.5, 0.5, ticked=False)
    return Picture(label, width, height, whiskers=whiskers)


def _name_row(row: Row, *, varied: bool) -> str:
    """Return the group and label of a row, and the first of its conditions if they are not those of all rows."""
    conditions = textwrap.shorten(row.get("conditions") or "", MAX_CONDITIONS, placeholder=" …") if varied else ""
    return ", ".join(filter(None, (row["group"], str(row["label"]), conditions)))


def _list_known(row: Row) -> list[float]:
    return [row[name] for name in ("value", "interval_lower", "interval_upper") if row[name] is not None]


def _close(row: Row, axis: Axis) -> tuple[float, float]:
    """Return an interval whose unknown ends are those of the axis."""
    lower, upper = row["interval_lower"], row["interval_upper"]
    return axis.low if lower is None else lower, axis.high if upper is None else upper
