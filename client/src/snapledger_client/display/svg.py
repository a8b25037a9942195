"""Draws pictures as SVG for notebooks, in the notebook's own colours, light or dark."""

from collections.abc import Sequence
from html import escape

from snapledger_client.display.pictures import Axis, Bar, Cell, Picture, Point, Whisker, find_ticks, format_tick

WIDTH, HEIGHT = 520, 240
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 10, 44  # the margins around what is drawn
ROW_HEIGHT = 22  # of a category on the y axis
GLYPH_WIDTH, MAX_GLYPHS = 6.2, 22
TEXT = 'font-size="11" font-family="sans-serif" fill="currentColor"'


class Drawing:
    """An SVG that a notebook shows: what `plot` returns without matplotlib; `svg` is its text."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_html_(self) -> str:
        return self.svg


def _draw(label: str, height: float, shapes: str, width: float = WIDTH) -> str:
    return (
        f'<svg role="img" aria-label="{escape(label)}" '
        f'viewBox="0 0 {width} {height:.0f}" width="100%" '
        f'style="max-width:{width}px;max-height:{height:.0f}px;display:block">{shapes}</svg>'
    )


def _draw_line(start: Point, end: Point, width: float = 1.5, opacity: float = 1) -> str:
    (x1, y1), (x2, y2) = start, end
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="currentColor" '
        f'stroke-width="{width}" opacity="{opacity}"/>'
    )


def _write(text: str, x: float, y: float, anchor: str = "middle", turn: str = "") -> str:
    shown = text if len(text) <= MAX_GLYPHS or not anchor else f"{text[: MAX_GLYPHS - 1]}…"
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor or "middle"}" {TEXT}{turn}>{escape(shown)}</text>'


def draw_gauge(label: str, share: float) -> str:
    """Draw a bar of which a share (0 to 1) is filled."""
    bar = (
        f'<rect width="{WIDTH}" height="8" fill="currentColor" opacity="0.15"/>'
        f'<rect width="{WIDTH * share:.1f}" height="8" fill="currentColor" opacity="0.7"/>'
    )
    return _draw(label, 8, bar)


class _Frame:
    """Where numbers of a picture are on the page."""

    def __init__(self, picture: Picture) -> None:
        self.x, self.y = picture.x, picture.y
        named = not self.y.ticked and self.y.names
        widest = max((min(len(name), MAX_GLYPHS) for _, name in self.y.names), default=0)
        ticks = max((len(text) for _, text in _list_ticks(self.y)), default=0)
        self.left = max(LEFT, 16 + GLYPH_WIDTH * widest if named else 26 + GLYPH_WIDTH * ticks)
        rows = self.y.high - self.y.low
        self.height = TOP + BOTTOM + ROW_HEIGHT * rows if named else HEIGHT
        if not (self.y.ticked or self.y.names):
            self.height, self.left = TOP + BOTTOM + ROW_HEIGHT, 16
        self.bottom = self.height - BOTTOM

    def at_x(self, number: float) -> float:
        return self.left + (WIDTH - self.left - RIGHT) * self.x.place(number)

    def at_y(self, number: float) -> float:
        return self.bottom - (self.bottom - TOP) * self.y.place(number)

    def at(self, point: Point) -> Point:
        return self.at_x(point[0]), self.at_y(point[1])


def draw_picture(picture: Picture) -> str:
    """Return a picture as SVG."""
    frame = _Frame(picture)
    shapes = [_draw_x_axis(frame), _draw_y_axis(frame)]
    if picture.title:
        shapes.append(_write(picture.title, WIDTH / 2, TOP, anchor=""))
    shapes += [_draw_bar(frame, bar) for bar in picture.bars]
    shapes += [_draw_cell(frame, cell) for cell in picture.cells]
    if picture.band:
        ends = [(x, low) for x, low, _ in picture.band] + [(x, high) for x, _, high in reversed(picture.band)]
        shapes.append(f'<polygon points="{_list_points(frame, ends)}" fill="currentColor" opacity="0.2"/>')
    if picture.line:
        points = _list_points(frame, picture.line)
        shapes.append(f'<polyline points="{points}" fill="none" stroke="currentColor" stroke-width="1.5"/>')
    shapes += [_draw_whisker(frame, whisker) for whisker in picture.whiskers]
    shapes += [_draw_dot(frame.at(dot)) for dot in picture.dots]
    return _draw(picture.label, frame.height, "".join(shapes))


def _list_points(frame: _Frame, points: Sequence[Point]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in map(frame.at, points))


def _draw_dot(at: Point) -> str:
    return f'<circle cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="4" fill="currentColor"/>'


def _list_ticks(axis: Axis) -> list[tuple[float, str]]:
    return [(tick, format_tick(tick, axis)) for tick in find_ticks(axis)]


def _draw_x_axis(frame: _Frame) -> str:
    y = frame.bottom
    shapes = [_draw_line((frame.left, y), (WIDTH - RIGHT, y), 1, 0.5)]
    taken: list[Point] = []  # names come before ticks, and no label covers another
    for number, text in [*frame.x.names, *_list_ticks(frame.x)]:
        x, half = frame.at_x(number), GLYPH_WIDTH * (min(len(text), MAX_GLYPHS) + 1) / 2
        shapes.append(_draw_line((x, y), (x, y + 4), 1, 0.5))
        x = min(x, WIDTH - half)
        if all(x + half <= left or right <= x - half for left, right in taken):
            shapes.append(_write(text, x, y + 16))
            taken.append((x - half, x + half))
    middle = (frame.left + WIDTH - RIGHT) / 2
    return "".join(shapes) + _write(frame.x.title, middle, frame.height - 8, anchor="")


def _draw_y_axis(frame: _Frame) -> str:
    shapes = []
    for number, text in [*frame.y.names, *_list_ticks(frame.y)]:
        y = frame.at_y(number)
        shapes.append(_draw_line((frame.left, y), (WIDTH - RIGHT, y), 1, 0.15))
        shapes.append(_write(text, frame.left - 6, y + 4, "end"))
    if frame.y.title and frame.y.ticked:
        middle = (TOP + frame.bottom) / 2
        shapes.append(_write(frame.y.title, 12, middle, "", f' transform="rotate(-90 12 {middle:.1f})"'))
    return "".join(shapes)


def _draw_bar(frame: _Frame, bar: Bar) -> str:
    left, right, top = frame.at_x(bar.left), frame.at_x(bar.right), frame.at_y(max(bar.top, 0.0))
    gap = 0.08 * (right - left)
    shape = (
        f'<rect x="{left + gap:.1f}" y="{top:.1f}" width="{right - left - 2 * gap:.1f}" '
        f'height="{frame.bottom - top:.1f}" fill="currentColor" opacity="0.4"><title>{escape(bar.text)}</title></rect>'
    )
    if bar.interval is None:
        return shape
    middle = (bar.left + bar.right) / 2
    start, end = (frame.at((middle, max(end, 0.0))) for end in bar.interval)
    return shape + _draw_line(start, end)


def _draw_cell(frame: _Frame, cell: Cell) -> str:
    left, right = frame.at_x(cell.x - 0.5), frame.at_x(cell.x + 0.5)
    bottom, top = frame.at_y(cell.y - 0.5), frame.at_y(cell.y + 0.5)
    number = _write(cell.number, (left + right) / 2, (top + bottom) / 2 + 4)
    return (
        f'<g><title>{escape(cell.text)}</title><rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
        f'height="{bottom - top:.1f}" fill="currentColor" opacity="{0.5 * cell.share:.2f}"/>'
        f"{number if right - left > GLYPH_WIDTH * len(cell.number) else ''}</g>"
    )


def _draw_whisker(frame: _Frame, whisker: Whisker) -> str:
    ends = [(end, whisker.at) if whisker.across else (whisker.at, end) for end in whisker.interval]
    start, end = map(frame.at, ends)
    caps = "".join(
        _draw_line((x, y - 6), (x, y + 6)) if whisker.across else _draw_line((x - 4, y), (x + 4, y))
        for x, y in (start, end)
    )
    dot = ""
    if whisker.value is not None:
        dot = _draw_dot(frame.at((whisker.value, whisker.at) if whisker.across else (whisker.at, whisker.value)))
    return f"<g><title>{escape(whisker.text)}</title>{_draw_line(start, end, 2)}{caps}{dot}</g>"
