"""The Atom feed of figures (RFC 4287): an entry for each figure, with the time of its latest version."""

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from app.ledger.figures import Published
from app.services.figures.xml_texts import without_invalid

MEDIA_TYPE = "application/atom+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NEVER = "1970-01-01T00:00:00Z"


def render_feed(found: Sequence[Published], base: str) -> bytes:
    """Return the feed of figures, which come the latest first.

    `base` is the service's address without a slash at its end.
    """
    feed = ET.Element("feed", xmlns=_NAMESPACE)
    address = f"{base}/v1/figures.atom"
    _add(feed, "title", "Figures")
    _add(feed, "id", address)
    _add(feed, "updated", found[0].version.published_at if found else _NEVER)
    ET.SubElement(feed, "link", rel="self", href=address)
    for each in found:
        _add_entry(feed, each, base)
    content: bytes = ET.tostring(without_invalid(feed), encoding="utf-8", xml_declaration=True)
    return content


def _add_entry(feed: ET.Element, published: Published, base: str) -> None:
    figure, version = published.figure, published.version
    address = f"{base}/v1/datasets/{published.dataset}/figures/{figure.name}"
    entry = ET.SubElement(feed, "entry")
    _add(entry, "title", version.title)
    _add(entry, "id", address)
    _add(entry, "updated", version.published_at)
    _add(ET.SubElement(entry, "author"), "name", version.published_by)
    ET.SubElement(entry, "link", rel="alternate", href=address)
    _add(entry, "summary", version.note or f"Version {version.version} of {figure.name} of {published.dataset}.")


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text
