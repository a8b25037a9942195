"""What a notebook shows. Every text is escaped; the drawings take the notebook's own colours, light or dark."""

import math
from decimal import Decimal
from html import escape
from typing import TYPE_CHECKING

from snapledger_client import words

if TYPE_CHECKING:
    from snapledger_client.plans import CurvePoint, FreePlan
    from snapledger_client.releases import Estimate, Histogram, Release
    from snapledger_client.together import Derived

WIDTH, HEIGHT, MARGIN = 480, 160, 8
MOST_BARS = 200  # more would be narrower than two pixels
MOST_LABELS = 24


def card(title: str, parts: list[str]) -> str:
    """A heading and what is below it; the parts are HTML already."""
    return f'<div style="max-width:{WIDTH}px"><strong>{escape(title)}</strong>{"".join(parts)}</div>'


def _line(text: str) -> str:
    return f"<div>{escape(text)}</div>"


def lines(texts: list[str]) -> list[str]:
    """Each text on a line of its own."""
    return [_line(text) for text in texts]


def shown(release: "Release") -> str:
    """An estimate or a histogram; what is neither, in words."""
    drawn = getattr(release, "_repr_html_", None)
    return str(drawn()) if drawn is not None else card(words.statistic(release.statistic), [_line(str(release))])


def gauge(name: str, spent: Decimal, limit: Decimal) -> str:
    """A bar of what is spent of a limit, with the figures beside it."""
    share = float(spent / limit) if limit else 1.0
    told = f"{name}: ε = {spent:f} of {limit:f} spent"
    bar = (
        f'<rect width="{WIDTH}" height="8" fill="currentColor" opacity="0.15"/>'
        f'<rect width="{WIDTH * share:.1f}" height="8" fill="currentColor" opacity="0.7"/>'
    )
    return _line(told) + _drawing(told, 8, bar)


def _drawing(told: str, height: int, shapes: str) -> str:
    return (
        f'<svg role="img" aria-label="{escape(told)}" viewBox="0 0 {WIDTH} {height}" width="100%" '
        f'style="max-height:{height}px;display:block">{shapes}</svg>'
    )


def _stroke(x1: float, y1: float, x2: float, y2: float, width: float = 2) -> str:
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" stroke-width="{width}"/>'
    )


def _cost(release: "Release") -> str:
    return _line(f"{words.cost(release)} (dataset {release.dataset})")


def estimate(release: "Estimate") -> str:
    """The number, its error bar within the statistic's public range, what it cost and what remains."""
    accuracy = release.accuracy
    lower, upper = accuracy.interval
    told = f"{words.figure(release.value_in_range)} {words.radius(accuracy.radius, accuracy.alpha)}"
    ends = f"{words.figure(lower)} to {words.figure(upper)}"
    reach = release.mechanism.b_prime
    lowest, width = release.mechanism.centre - reach, 2 * reach

    def x(value: float) -> float:
        return MARGIN + (WIDTH - 2 * MARGIN) * min(max((value - lowest) / width, 0.0), 1.0)

    bar = (
        f'<line x1="{MARGIN}" y1="14" x2="{WIDTH - MARGIN}" y2="14" stroke="currentColor" opacity="0.3"/>'
        + _stroke(x(lower), 14, x(upper), 14)
        + _stroke(x(lower), 8, x(lower), 20)
        + _stroke(x(upper), 8, x(upper), 20)
        + f'<circle cx="{x(release.value_in_range):.1f}" cy="14" r="4" fill="currentColor"/>'
    )
    span = f"{words.figure(lowest)} to {words.figure(lowest + width)}"
    parts = [_line(told), _drawing(f"{told}: {ends}", 28, bar), _line(f"{ends}; possible: {span}"), _cost(release)]
    return card(words.statistic(release.statistic), parts)


def histogram(release: "Histogram") -> str:
    """Bars with their error bars; bars too narrow to see are added up, and then have none."""
    values, intervals, labels = release.value_in_range, release.interval, release.labels
    together = -(-len(values) // MOST_BARS)
    if together > 1:
        values = tuple(sum(values[at : at + together]) for at in range(0, len(values), together))
        intervals, labels = (), labels[::together]
    highest = max([*values, *(upper for _, upper in intervals), 1e-300])
    slot = (WIDTH - 2 * MARGIN) / len(values)

    def y(value: float) -> float:
        return MARGIN + (HEIGHT - 2 * MARGIN) * (1 - max(value, 0.0) / highest)

    shapes = []
    for at, value in enumerate(values):
        x = MARGIN + at * slot
        title = f"{labels[at]}: {words.figure(value)}" + (f" ({together} bins from here on)" if together > 1 else "")
        shapes.append(
            f'<rect x="{x + 0.1 * slot:.1f}" y="{y(value):.1f}" width="{0.8 * slot:.1f}" '
            f'height="{HEIGHT - MARGIN - y(value):.1f}" fill="currentColor" opacity="0.4">'
            f"<title>{escape(title)}</title></rect>"
        )
        if intervals:
            lower, upper = intervals[at]
            shapes.append(_stroke(x + slot / 2, y(lower), x + slot / 2, y(upper), 1.5))
    told = f"{len(release.value)} bins {words.radius(release.accuracy.radius, release.accuracy.alpha)} each"
    parts = [_line(told), _drawing(told, HEIGHT, "".join(shapes)), *_legend(labels, values), _cost(release)]
    return card(words.statistic(release.statistic), parts)


def _legend(labels: list[str], values: tuple[float, ...]) -> list[str]:
    if len(labels) > MOST_LABELS:
        return [_line(f"{labels[0]} … {labels[-1]}")]
    return [_line(", ".join(f"{label}: {words.figure(value)}" for label, value in zip(labels, values, strict=True)))]


def plan(planned: "FreePlan") -> str:
    """What a release would promise and cost, and its curve."""
    budget, epsilon = getattr(planned, "budget", None), f"ε = {planned.privacy.epsilon:f}"
    parts = [_line(words.radius(planned.accuracy.radius, planned.accuracy.alpha))]
    if budget is None:
        parts.append(_line(f"{epsilon} on {planned.privacy.n:,} rows"))
    else:
        parts.append(_line(f"{epsilon}: {words.prospect(planned)} (dataset {planned.dataset})"))  # type: ignore[arg-type,attr-defined]
    if planned.cliff is not None:
        cliff = planned.cliff
        parts.append(_line(f"from ε = {cliff.epsilon:f} on, ± {words.figure(cliff.accuracy)}"))
    if planned.bias is not None:
        bias = planned.bias
        told = f"bias at {words.figure(bias.guess)}: {words.figure(bias.at_guess)}"
        parts.append(_line(f"{told}; at most ± {words.figure(bias.largest)}"))
    if planned.curve:
        parts.append(_curve(planned.curve, float(planned.privacy.epsilon), planned.accuracy.radius))
    return card(f"Plan: {words.statistic(planned.statistic)}", parts)


def _curve(points: "tuple[CurvePoint, ...]", epsilon: float, radius: float) -> str:
    """The radius against ε, both by their logarithms; cliffs are steps, and the plan is a dot."""
    xs = [math.log(float(point.epsilon)) for point in points]
    ys = [math.log(point.radius) for point in points]
    width, height = (max(xs) - min(xs)) or 1.0, (max(ys) - min(ys)) or 1.0

    def place(x: float, y: float) -> tuple[float, float]:
        across, down = (x - min(xs)) / width, (max(ys) - y) / height
        return MARGIN + (WIDTH - 2 * MARGIN) * across, MARGIN + (HEIGHT - 2 * MARGIN) * min(max(down, 0.0), 1.0)

    places = [place(x, y) for x, y in zip(xs, ys, strict=True)]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    shapes = f'<polyline points="{path}" fill="none" stroke="currentColor" stroke-width="1.5"/>'
    if xs[0] <= math.log(epsilon) <= xs[-1]:
        x, y = place(math.log(epsilon), math.log(radius))
        shapes += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="currentColor"/>'
    first, last = points[0], points[-1]
    told = f"ε = {first.epsilon:f}: ± {words.figure(first.radius)}; ε = {last.epsilon:f}: ± {words.figure(last.radius)}"
    return _drawing(f"radius against ε: {told}", HEIGHT, shapes) + _line(told)


def derived(told: "Derived") -> str:
    """Each number with its interval, what was paid and what it follows from."""
    parts = lines(words.estimates(told))
    roles = ", ".join(f"{each.role}{' (known)' if each.reused else ''}" for each in told.components)
    parts.append(_line(f"{100 * (1 - told.alpha):.10g} %, from {roles}"))
    paid = f"ε = {told.budget.charged:f} paid; {words.remains(told.budget)} (dataset {told.dataset})"
    return card(words.statistic(told.derived), [*parts, _line(paid)])
