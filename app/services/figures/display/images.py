"""A figure's chart as SVG and as PNG."""

import font_source_sans_pro as fonts
import resvg_py

from app.services.figures.display.chart import describe_intervals, draw_chart
from app.services.figures.reading import OpenedFigure

_ZOOM = 2.0
"""Pixels of the PNG for each unit of the SVG, for sharp screens and for print."""

_FONT_FILES = [fonts.SourceSansPro, fonts.SourceSansProBold]
_LATIN, _GREEK_AND_CYRILLIC = 0x24F, (0x370, 0x52F)


def render_svg(opened: OpenedFigure, *, has_heading: bool = True, has_conditions: bool = True) -> str:
    """Return the chart as SVG, with what the intervals are, with its title as a heading, and with its conditions.

    Where a page around it has the title or the conditions, it is drawn without them.
    """
    published = opened.published
    foot = f"{describe_intervals(opened.rows)} {published.dataset}, {published.version.published_at[:10]}"
    return draw_chart(
        *(published.version.title, opened.rows, foot), has_heading=has_heading, has_conditions=has_conditions
    )


def render_png(opened: OpenedFigure) -> bytes:
    """Return the chart as PNG. The system's fonts are loaded only for letters that ours does not have."""
    svg = render_svg(opened)
    return bytes(
        resvg_py.svg_to_bytes(
            svg_string=svg, font_files=_FONT_FILES, skip_system_fonts=all(map(_is_ours, svg)), zoom=_ZOOM
        )
    )


def _is_ours(letter: str) -> bool:
    code = ord(letter)
    return code <= _LATIN or _GREEK_AND_CYRILLIC[0] <= code <= _GREEK_AND_CYRILLIC[1] or code in range(0x2000, 0x2300)
