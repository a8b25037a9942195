"""Draws numbers as SVG for notebooks, in the notebook's own colours, light or dark."""

import math
from collections.abc import Sequence
from html import escape

WIDTH, HEIGHT, MARGIN = 480, 160, 8


def _draw(label: str, height: int, shapes: str) -> str:
    return (
        f'<svg role="img" aria-label="{escape(label)}" viewBox="0 0 {WIDTH} {height}" width="100%" '
        f'style="max-height:{height}px;display:block">{shapes}</svg>'
    )


def _draw_line(x1: float, y1: float, x2: float, y2: float, width: float = 2) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" stroke-width="{width}"/>'
    )


def _scale_x(share: float) -> float:
    return MARGIN + (WIDTH - 2 * MARGIN) * share


def _scale_y(share: float) -> float:
    """Return the vertical position of a share of the height, counted from the top."""
    return MARGIN + (HEIGHT - 2 * MARGIN) * share


def draw_gauge(label: str, share: float) -> str:
    """Draw a bar of which a share (0 to 1) is filled."""
    bar = (
        f'<rect width="{WIDTH}" height="8" fill="currentColor" opacity="0.15"/>'
        f'<rect width="{WIDTH * share:.1f}" height="8" fill="currentColor" opacity="0.7"/>'
    )
    return _draw(label, 8, bar)


def draw_error_bar(label: str, value: float, interval: tuple[float, float], lowest: float, width: float) -> str:
    """Draw a value and its interval on a line from `lowest` to `lowest + width`, the statistic's public range."""

    def place(number: float) -> float:
        return _scale_x(min(max((number - lowest) / width, 0.0), 1.0))

    lower, upper = map(place, interval)
    shapes = (
        f'<line x1="{MARGIN}" y1="14" x2="{WIDTH - MARGIN}" y2="14" stroke="currentColor" opacity="0.3"/>'
        + _draw_line(lower, 14, upper, 14)
        + _draw_line(lower, 8, lower, 20)
        + _draw_line(upper, 8, upper, 20)
        + f'<circle cx="{place(value):.1f}" cy="14" r="4" fill="currentColor"/>'
    )
    return _draw(label, 28, shapes)


def draw_bars(
    label: str, values: Sequence[float], intervals: Sequence[tuple[float, float]], titles: Sequence[str]
) -> str:
    """Draw a bar for each value, with error bars if there are intervals."""
    highest = max([*values, *(upper for _, upper in intervals), 1e-300])
    slot = (WIDTH - 2 * MARGIN) / len(values)

    def place(value: float) -> float:
        return _scale_y(1 - max(value, 0.0) / highest)

    shapes = []
    for at, (value, title) in enumerate(zip(values, titles, strict=True)):
        x, y = MARGIN + at * slot, place(value)
        shapes.append(
            f'<rect x="{x + 0.1 * slot:.1f}" y="{y:.1f}" width="{0.8 * slot:.1f}" '
            f'height="{HEIGHT - MARGIN - y:.1f}" fill="currentColor" opacity="0.4">'
            f"<title>{escape(title)}</title></rect>"
        )
        if intervals:
            lower, upper = map(place, intervals[at])
            shapes.append(_draw_line(x + slot / 2, lower, x + slot / 2, upper, 1.5))
    return _draw(label, HEIGHT, "".join(shapes))


def draw_curve(label: str, points: Sequence[tuple[float, float]], marked: tuple[float, float]) -> str:
    """Draw a curve on two logarithmic axes, with a dot at the marked point if it is in the drawing."""
    xs, ys = [math.log(x) for x, _ in points], [math.log(y) for _, y in points]
    width, height = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        return _scale_x((x - min(xs)) / width), _scale_y(min(max((max(ys) - y) / height, 0.0), 1.0))

    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(x, y) for x, y in zip(xs, ys, strict=True)))
    shapes = f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    at = math.log(marked[0])
    if xs[0] <= at <= xs[-1]:
        x, y = place(at, math.log(marked[1]))
        shapes += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="currentColor"/>'
    return _draw(label, HEIGHT, shapes)
