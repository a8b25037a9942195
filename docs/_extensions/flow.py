"""Draw boxes and arrows as SVG from a few lines of text, without any program, script or font besides Sphinx.

Each line is a row of boxes, with `->` or `<-` between them. In a box, `/` starts a new line. With the option `down` an
arrow leads from the first box of each row to the first box of the next.
"""

import re
from html import escape
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

LETTER, LINE, PADDING, GAP = 7.6, 19, 12, 34
Row = tuple[list[list[str]], list[str]]


def _parse(line: str) -> Row:
    parts = re.split(r"\s+(->|<-)\s+", line.strip())
    return [[text.strip() for text in part.split(" / ")] for part in parts[::2]], parts[1::2]


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    return '<line x1="{:g}" y1="{:g}" x2="{:g}" y2="{:g}"/>'.format(*start, *end)


def _box(left: float, top: float, width: float, height: float, texts: list[str]) -> str:
    first = top + (height - LINE * (len(texts) - 1)) / 2
    classes = ['class="title" ', *[""] * (len(texts) - 1)]
    lines = "".join(
        f'<text {kind}x="{left + width / 2:g}" y="{first + LINE * i:g}">{escape(text)}</text>'
        for i, (kind, text) in enumerate(zip(classes, texts, strict=True))
    )
    return f'<rect x="{left:g}" y="{top:g}" width="{width:g}" height="{height:g}" rx="6"/>{lines}'


def draw(rows: list[Row], *, down: bool) -> str:
    """The SVG of rows of boxes; boxes of one column have one width, those of one row one height."""
    columns = max(len(boxes) for boxes, _ in rows)
    widths = [
        max(len(text) for boxes, _ in rows for text in (boxes[i] if i < len(boxes) else [""])) * LETTER + 2 * PADDING
        for i in range(columns)
    ]
    lefts = [1 + sum(widths[:i]) + GAP * i for i in range(columns)]
    shapes, top = [], 1.0
    for number, (boxes, arrows) in enumerate(rows):
        height = max(len(texts) for texts in boxes) * LINE + 2 * PADDING
        shapes += [_box(lefts[i], top, widths[i], height, texts) for i, texts in enumerate(boxes)]
        for i, arrow in enumerate(arrows):
            ends = (lefts[i] + widths[i], top + height / 2), (lefts[i + 1], top + height / 2)
            shapes.append(_arrow(*ends) if arrow == "->" else _arrow(*reversed(ends)))
        top += height
        if number < len(rows) - 1:
            middle = lefts[0] + widths[0] / 2
            shapes += [_arrow((middle, top), (middle, top + GAP))] if down else []
            top += GAP
    width = lefts[-1] + widths[-1] + 1
    marker = 'viewBox="0 0 10 10" refX="10" refY="5" markerWidth="8" markerHeight="8" orient="auto"'
    return (
        f'<svg class="flow" viewBox="0 0 {width:g} {top + 1:g}" width="{width:g}" height="{top + 1:g}">'
        f'<defs><marker id="flow-arrow" {marker}><path d="M0 0L10 5L0 10z"/></marker></defs>{"".join(shapes)}</svg>'
    )


class Flow(SphinxDirective):
    """A picture whose caption is the directive's argument."""

    has_content = True
    required_arguments = 1
    final_argument_whitespace = True
    option_spec: ClassVar[dict[str, Any]] = {"down": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Draw it."""
        rows = [_parse(line) for line in self.content if line.strip()]
        picture = nodes.raw("", draw(rows, down="down" in self.options), format="html")
        return [nodes.figure("", picture, nodes.caption("", self.arguments[0]))]


def setup(app: Sphinx) -> dict[str, Any]:
    """Offer the directive `flow`."""
    app.add_directive("flow", Flow)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
