"""Draws a figure as SVG: a line for each number, as a bar from 0 for counts, else as a point, with its interval."""

import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

from gmpy2 import mpq

from app.services.figures.display.date_ticks import DAY, list_date_ticks, seconds_of
from app.services.figures.display.row_texts import interval_text, label_of, shared_conditions, unit_text, value_text
from app.services.figures.display.xml_texts import without_invalid
from app.services.rendering.rounded_numbers import confidence_text

MAX_ROWS = 60
"""A chart with more lines is not read; the table has all of them."""

WIDTH, _LEFT, _RIGHT, _LINE, _TOP, _AXIS, _FOOT = 760, 210, 190, 24, 36, 50, 26
_HEAD = 18
_INK, _MUTED, _GRID, _ACCENT, _SOFT = "#1b1f24", "#59626c", "#e1e3de", "#1f5fbf", "#bcd2f2"
FONT = "Source Sans Pro"
_FAMILY = f"{FONT}, system-ui, sans-serif"
_MAX_LABEL, _MAX_TITLE, _MAX_HEADING, _MAX_FOOT = 32, 90, 90, 125
_SMALL_LINE = 15
_TICKS = 4


class _Scale(NamedTuple):
    """Maps numbers from `low` to `high` to the width between the labels and the values.

    If the numbers are dates, they are in seconds, and `date_unit` is what the dates are whole multiples of.
    """

    low: float
    high: float
    date_unit: int | None = None

    def place(self, number: float) -> float:
        share = (number - self.low) / (self.high - self.low)
        return _LEFT + min(max(share, 0.0), 1.0) * (WIDTH - _LEFT - _RIGHT)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield the multiples of 1, 2 or 5 times a power of ten on the scale, some four, or dates, with labels."""
        if self.date_unit is not None:
            yield from list_date_ticks(self.low, self.high, self.date_unit)
            return
        raw = (self.high - self.low) / _TICKS
        power = 10.0 ** math.floor(math.log10(raw))
        step = power * next(size for size in (1, 2, 5, 10) if size * power >= raw)
        at = math.ceil(self.low / step)
        while at * step <= self.high:
            yield at * step, f"{at * step:,.10g}"
            at += 1


class _Panel(NamedTuple):
    """The rows on one scale, under the lines of their heading."""

    heading: Sequence[str]
    rows: Sequence[Mapping[str, Any]]

    @property
    def height(self) -> int:
        return (len(self.heading) - 1) * _SMALL_LINE + len(self.rows) * _LINE + _AXIS


class _Numbers(NamedTuple):
    """Where a row's value and the ends of its interval are on the scale; None if there is none."""

    value: float | None
    lower: float | None
    upper: float | None


def draw_chart(
    title: str,
    rows: Sequence[Mapping[str, Any]],
    foot: str,
    *,
    has_heading: bool = True,
    has_conditions: bool = True,
) -> str:
    """Return the SVG of a figure: title, a panel for each measure, the conditions, and what the intervals are.

    Without a heading the title is only told to screen readers, for a page that shows it itself. Conditions that not
    all rows have in common are in the headings of the panels.
    """
    shared = shared_conditions(rows)
    left_out = f"{len(rows) - MAX_ROWS:,} more in the table. " if len(rows) > MAX_ROWS else ""
    told = textwrap.wrap(f"Conditions: {shared}.", _MAX_FOOT) if shared and has_conditions else []
    feet = [*told, left_out + foot]
    shown = [
        _Panel(_wrap_heading(row, row["conditions"] if shared is None else ""), [row, *others])
        for row, *others in (of for _, of in groupby(rows[:MAX_ROWS], key=_panel_of))
    ]
    top = _TOP if has_heading else 0
    height = top + sum(each.height for each in shown) + _FOOT + (len(feet) - 1) * _SMALL_LINE
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {WIDTH} {height}",
            "width": str(WIDTH),
            "height": str(height),
            "role": "img",
            "font-family": _FAMILY,
            "font-size": "13",
        },
    )
    ET.SubElement(svg, "title").text = title
    ET.SubElement(svg, "rect", width=str(WIDTH), height=str(height), fill="#ffffff")
    if has_heading:
        _write(svg, 12, 24, _cut(title, _MAX_TITLE), fill=_INK, size=17, weight="bold")
    for each in shown:
        _draw_panel(svg, each, top)
        top += each.height
    for place, line in enumerate(reversed(feet)):
        _write(svg, 12, height - 9 - place * _SMALL_LINE, line, fill=_MUTED, size=11)
    return ET.tostring(without_invalid(svg), encoding="unicode")


def describe_intervals(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return what the intervals are, in a sentence."""
    levels = sorted({confidence_text(mpq(repr(row["alpha"]))) for row in rows})
    return f"{' and '.join(levels)} confidence intervals, with differential privacy." if levels else ""


def describe_measure(row: Mapping[str, Any]) -> str:
    """Return what a row's number is: `mean of body_mass_g`, or `count by species`."""
    measure = row["measure"].replace("_", " ")
    between = "by" if measure == "count" else "of"
    return f"{measure} {between} {row['columns']}" if row["columns"] else measure


def _panel_of(row: Mapping[str, Any]) -> tuple[str, bool, str]:
    """Return what rows of one panel have in common: dates and numbers have no scale in common."""
    return row["measure"], row["value_as_date"] is not None, row["conditions"]


def _wrap_heading(row: Mapping[str, Any], conditions: str) -> list[str]:
    """Return what the rows of a panel are, and under which conditions, in lines."""
    return [describe_measure(row), *textwrap.wrap(conditions, _MAX_HEADING)]


def _draw_panel(svg: ET.Element, panel: _Panel, top: float) -> None:
    rows = panel.rows
    is_bar = rows[0]["measure"] == "count"
    scale = _scale_of(rows, from_zero=is_bar)
    for line in panel.heading:
        _write(svg, _LEFT, top + 10, line, fill=_MUTED, size=11)
        top += _SMALL_LINE
    top += _HEAD - _SMALL_LINE
    bottom = top + len(rows) * _LINE
    for tick, text in scale.ticks():
        at = scale.place(tick)
        _draw(svg, "line", x1=at, y1=top, x2=at, y2=bottom, stroke=_GRID)
        _write(svg, at, bottom + 16, text, fill=_MUTED, size=11, anchor="middle")
    for place, row in enumerate(rows):
        _draw_row(svg, row, scale, top + (place + 0.5) * _LINE, is_bar=is_bar)


def _draw_row(svg: ET.Element, row: Mapping[str, Any], scale: _Scale, middle: float, *, is_bar: bool) -> None:
    line = ET.SubElement(svg, "g")
    told = f"{value_text(row)} {unit_text(row)}".strip()
    ET.SubElement(line, "title").text = f"{label_of(row)}: {told} ({interval_text(row)})"
    _write(line, _LEFT - 10, middle + 4, _cut(label_of(row), _MAX_LABEL), fill=_INK, anchor="end")
    _write(line, WIDTH - _RIGHT + 14, middle + 4, _cut(told, _MAX_LABEL), fill=_INK)
    value, lower, upper = _numbers_of(row)
    if value is None:
        return
    at = scale.place(value)
    low = scale.place(scale.low if lower is None else lower)
    high = scale.place(scale.high if upper is None else upper)
    if is_bar:
        start = scale.place(0)
        _draw(line, "rect", x=min(start, at), y=middle - 8, width=abs(at - start), height=16, fill=_SOFT)
    _draw(line, "line", x1=low, y1=middle, x2=high, y2=middle, stroke=_ACCENT, stroke_width=2)
    for end in (low, high):
        _draw(line, "line", x1=end, y1=middle - 4, x2=end, y2=middle + 4, stroke=_ACCENT, stroke_width=2)
    _draw(line, "circle", cx=at, cy=middle, r=3.5, fill=_ACCENT)


def _numbers_of(row: Mapping[str, Any]) -> _Numbers:
    names = ("value", "interval_lower", "interval_upper")
    if row["value_as_date"] is None:
        return _Numbers(*(row[name] for name in names))
    dates = (row[f"{name}_as_date"] for name in names)
    return _Numbers(*(None if date is None else seconds_of(date) for date in dates))


def _scale_of(rows: Sequence[Mapping[str, Any]], *, from_zero: bool) -> _Scale:
    known = [each for row in rows for each in _numbers_of(row) if each is not None] or [0.0]
    dates = [row["value_as_date"] for row in rows if row["value_as_date"] is not None]
    if dates:
        unit = 1 if any("T" in date for date in dates) else DAY
        margin = max(0.05 * (max(known) - min(known)), unit)
        return _Scale(min(known) - margin, max(known) + margin, unit)
    low, high = min([*known, 0.0] if from_zero else known), max(known)
    margin = 0.05 * (high - low) or max(abs(high), 1.0)
    return _Scale(low if from_zero and low == 0 else low - margin, high + margin)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _draw(parent: ET.Element, shape: str, **attributes: float | str) -> None:
    told = {
        name.replace("_", "-"): each if isinstance(each, str) else f"{each:.1f}" for name, each in attributes.items()
    }
    ET.SubElement(parent, shape, told)


def _write(  # noqa: PLR0913 - where, what and how
    parent: ET.Element,
    x: float,
    y: float,
    text: str,
    *,
    fill: str,
    size: int = 13,
    anchor: str = "start",
    weight: str = "normal",
) -> None:
    told = {"fill": fill, "font-size": str(size), "text-anchor": anchor, "font-weight": weight}
    ET.SubElement(parent, "text", {"x": f"{x:.1f}", "y": f"{y:.1f}", **told}).text = text
