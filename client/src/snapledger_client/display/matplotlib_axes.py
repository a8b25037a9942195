"""Draws pictures on axes of matplotlib, which is optional."""

import importlib
import warnings
from typing import Any

from snapledger_client.display.pictures import Axis, Bar, Cell, Picture, Whisker

TICKS_WITHOUT_TURN = 8


def import_pyplot() -> Any:  # noqa: ANN401 - it has no types of its own
    """Import matplotlib's pyplot; None if matplotlib is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of another package's import are none of the caller's
            return importlib.import_module("matplotlib.pyplot")
    except ModuleNotFoundError:
        return None


def draw_on_axes(picture: Picture, axes: Any) -> None:  # noqa: ANN401
    """Draw a picture on axes of matplotlib."""
    for bar in picture.bars:
        _draw_bar(bar, axes)
    for cell in picture.cells:
        _draw_cell(cell, axes)
    if picture.band:
        xs, lows, highs = zip(*picture.band, strict=True)
        axes.fill_between(xs, lows, highs, alpha=0.25, linewidth=0)
    if picture.line:
        xs, ys = zip(*picture.line, strict=True)
        axes.plot(xs, ys, color="C0")
    for whisker in picture.whiskers:
        _draw_whisker(whisker, axes)
    for x, y in picture.dots:
        axes.plot([x], [y], "o", color="C0")
    if picture.title:
        axes.set_title(_escape(picture.title))
    _set_axis(picture.x, axes, "x")
    _set_axis(picture.y, axes, "y")


def _draw_bar(bar: Bar, axes: Any) -> None:  # noqa: ANN401
    width = bar.right - bar.left
    errors = None
    if bar.interval is not None:
        errors = [[max(bar.top - bar.interval[0], 0.0)], [max(bar.interval[1] - bar.top, 0.0)]]
    axes.bar(bar.left + width / 2, bar.top, 0.9 * width, yerr=errors, color="C0", alpha=0.6, ecolor="0.3")


def _draw_cell(cell: Cell, axes: Any) -> None:  # noqa: ANN401
    left, right, bottom, top = cell.x - 0.5, cell.x + 0.5, cell.y - 0.5, cell.y + 0.5
    axes.fill([left, right, right, left], [bottom, bottom, top, top], color="C0", alpha=0.8 * cell.share, linewidth=0)
    axes.text(cell.x, cell.y, _escape(cell.number), ha="center", va="center")


def _draw_whisker(whisker: Whisker, axes: Any) -> None:  # noqa: ANN401
    low, high = whisker.interval
    ends, place = [low, high], [whisker.at, whisker.at]
    axes.plot(*((ends, place) if whisker.across else (place, ends)), color="C0", marker="|" if whisker.across else "_")
    if whisker.value is not None:
        dot = (whisker.value, whisker.at) if whisker.across else (whisker.at, whisker.value)
        axes.plot(*([each] for each in dot), "o", color="C0")


def _set_axis(axis: Axis, axes: Any, name: str) -> None:  # noqa: ANN401
    getattr(axes, f"set_{name}label")(_escape(axis.title))
    if axis.log:
        getattr(axes, f"set_{name}scale")("log")
    getattr(axes, f"set_{name}lim")(axis.low, axis.high)
    if not axis.ticked:
        places, names = zip(*axis.names, strict=True) if axis.names else ((), ())
        turn = {"rotation": 45, "ha": "right"} if name == "x" and len(names) > TICKS_WITHOUT_TURN else {}
        getattr(axes, f"set_{name}ticks")(places, [_escape(each) for each in names], **turn)
        return
    for place, text in axis.names:
        axes.annotate(_escape(text), (place, 0), xycoords=("data", "axes fraction"), ha="center", va="bottom")


def _escape(text: str) -> str:
    """Return a text that matplotlib shows as it is, and does not read as mathematics."""
    return text.replace("$", r"\$")
