"""A figure as a page that reads and prints well: chart, table, citation and downloads, without any script."""

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from app.services.figures.display.chart import describe_intervals, describe_measure
from app.services.figures.display.images import render_svg
from app.services.figures.display.row_texts import interval_text, label_of, shared_conditions, unit_text, value_text
from app.services.figures.display.xml_texts import without_invalid
from app.services.figures.formats import Form
from app.services.figures.reading import OpenedFigure

MAX_ROWS = 1_000
"""Of the page's table; the downloads have all of them."""


def render_page(opened: OpenedFigure, base: str) -> bytes:
    """Return the page as HTML; `base` is the path of the service, empty at the root of a host."""
    published, rows = opened.published, opened.rows
    version = published.version
    html = ET.Element("html", lang="en")
    html.append(make_head(version.title, base))
    main = ET.SubElement(ET.SubElement(html, "body"), "main")
    add_text(main, "h1", version.title)
    if version.note:
        add_text(main, "p", version.note, "note")
    if conditions := shared_conditions(rows):
        add_text(main, "p", f"Conditions: {conditions}.", "note")
    chart = ET.SubElement(main, "div", {"class": "chart"})
    drawn = render_svg(opened, has_heading=False, has_conditions=False)
    chart.append(without_namespace(ET.fromstring(drawn)))  # noqa: S314 - our own
    _add_table(main, rows)
    add_text(main, "p", cite(opened), "citation")
    _add_downloads(main, opened, base)
    return b"<!doctype html>\n" + to_html(html)


def to_html(element: ET.Element) -> bytes:
    """Return an element as HTML; what a text has and HTML may not is replaced."""
    content: bytes = ET.tostring(without_invalid(element), encoding="utf-8", method="html")
    return content


def cite(opened: OpenedFigure) -> str:
    """Return a sentence to cite the figure with."""
    published, version = opened.published, opened.published.version
    costs = " and ".join(sorted({row["epsilon"] for row in opened.rows}))
    publisher = "" if opened.published_by is None else f" by {opened.published_by}"
    return (
        f"{version.title}. Figure {published.figure.name} of the dataset {published.dataset}, version "
        f"{version.version}, published{publisher} on {version.published_at[:10]}. "
        f"{describe_intervals(opened.rows)} ε = {costs}."
    )


def make_head(title: str, base: str) -> ET.Element:
    """Return the head of a page about figures."""
    head = ET.Element("head")
    ET.SubElement(head, "meta", charset="utf-8")
    ET.SubElement(head, "meta", name="viewport", content="width=device-width, initial-scale=1")
    ET.SubElement(head, "title").text = title
    ET.SubElement(head, "link", rel="stylesheet", href=f"{base}/web/styles/figure.css")
    return head


def add_text(parent: ET.Element, tag: str, text: str, kind: str | None = None) -> ET.Element:
    """Add an element with a text, and return it; `kind` is its class."""
    made = ET.SubElement(parent, tag, {} if kind is None else {"class": kind})
    made.text = text
    return made


def without_namespace(svg: ET.Element) -> ET.Element:
    """Return a drawing as HTML embeds it: its names have no namespace there."""
    for each in svg.iter():
        each.tag = each.tag.rpartition("}")[2]
    return svg


def _add_table(main: ET.Element, rows: Sequence[Mapping[str, Any]]) -> None:
    scrolled = ET.SubElement(main, "div", {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Table"})
    table = ET.SubElement(scrolled, "table")
    heads = ET.SubElement(ET.SubElement(table, "thead"), "tr")
    add_text(heads, "td", "")
    names = [("measure", None), ("value", "number"), ("interval", "number"), ("unit", None)]
    varied = shared_conditions(rows) is None
    for name, kind in [*names, *([("conditions", None)] if varied else [])]:
        add_text(heads, "th", name, kind).set("scope", "col")
    body = ET.SubElement(table, "tbody")
    for row in rows[:MAX_ROWS]:
        line = ET.SubElement(body, "tr")
        add_text(line, "th", label_of(row)).set("scope", "row")
        add_text(line, "td", describe_measure(row))
        add_text(line, "td", value_text(row), "number")
        add_text(line, "td", interval_text(row), "number")
        add_text(line, "td", unit_text(row))
        if varied:
            add_text(line, "td", row["conditions"])
    if len(rows) > MAX_ROWS:
        add_text(main, "p", f"{len(rows) - MAX_ROWS:,} more rows are in the downloads.", "note")


def _add_downloads(main: ET.Element, opened: OpenedFigure, base: str) -> None:
    names = opened.published.dataset, opened.published.figure.name
    data, pictures = f"{base}/v1/datasets/{names[0]}/figures/{names[1]}", f"{base}/figures/{names[0]}/{names[1]}"
    line = ET.SubElement(main, "nav", {"aria-label": "Downloads"})
    addresses = [(form.upper(), f"{data}.{form}") for form in (Form.CSV, Form.JSON, Form.PARQUET)]
    for label, address in [*addresses, *((kind.upper(), f"{pictures}.{kind}") for kind in ("svg", "png"))]:
        add_text(line, "a", label).set("href", address)
