"""The board of a collection as a page: its figures' charts in a grid, for screens on walls, without any script."""

from xml.etree import ElementTree as ET

from app.services.figures.collection_reading import OpenedCollection
from app.services.figures.display.page import add_text, make_head, to_html
from app.services.figures.reading import OpenedFigure

_WITHDRAWN = "This figure was withdrawn."


def render_board(opened: OpenedCollection, base: str, refresh_seconds: int | None) -> bytes:
    """Return the page as HTML; `base` is the path of the service, empty at the root of a host.

    With `refresh_seconds`, a browser loads it again after so many seconds.
    """
    collection = opened.collection
    head = make_head(collection.title, base)
    if refresh_seconds is not None:
        ET.SubElement(head, "meta", {"http-equiv": "refresh", "content": str(refresh_seconds)})
    top = ET.Element("header")
    add_text(top, "h1", collection.title)
    if collection.note:
        add_text(top, "p", collection.note, "note")
    cells = b"".join(_withdrawn_cell() if each is None else _render_cell(each, base) for each in opened.open_figures())
    return b"".join(
        (
            b'<!doctype html>\n<html lang="en">',
            to_html(head),
            b'<body><main class="board">',
            to_html(top),
            b'<div class="grid">',
            cells,
            b"</div></main></body></html>",
        )
    )


def _withdrawn_cell() -> bytes:
    cell = ET.Element("article")
    add_text(cell, "p", _WITHDRAWN, "note")
    return to_html(cell)


def _render_cell(opened: OpenedFigure, base: str) -> bytes:
    """Return a figure's title and picture. The rows are read for the picture alone, by the browser's request for it."""
    published, version = opened.published, opened.published.version
    page = f"{base}/figures/{published.dataset}/{published.figure.name}"
    cell = ET.Element("article")
    link = ET.SubElement(ET.SubElement(cell, "h2"), "a", href=page)
    link.text = version.title
    chart = ET.SubElement(cell, "div", {"class": "chart"})
    ET.SubElement(chart, "img", src=f"{page}/charts/{version.version}.svg", alt=f"Chart of {published.figure.name}")
    add_text(cell, "p", f"Published on {version.published_at[:10]}.", "citation")
    return to_html(cell)
