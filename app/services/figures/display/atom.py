"""The Atom feed of figures (RFC 4287): an entry for each figure, with the time of its latest version."""

from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5
from xml.etree import ElementTree as ET

from app.ledger.figure_lists import ListedFigure
from app.services.figures.display.xml_texts import without_invalid

MEDIA_TYPE = "application/atom+xml"
_NAMESPACE = "http://www.w3.org/2005/Atom"
_NEVER = "1970-01-01T00:00:00Z"
_AUTHOR = "Snapledger"
"""Of the feed, since an entry without an author has that of its feed."""


def render_feed(listed: Sequence[ListedFigure], base: str) -> bytes:
    """Return the feed of figures, which come the latest first.

    `base` is the service's address, or its path if the address is not configured, without a slash at its end. Links are
    then relative, which readers resolve against where they got the feed.
    """
    feed = ET.Element("feed", xmlns=_NAMESPACE)
    address = f"{base}/v1/figures.atom"
    _add(feed, "title", "Figures")
    _add(feed, "id", _id_of(address))
    _add(feed, "updated", listed[0].published.version.published_at if listed else _NEVER)
    _add(ET.SubElement(feed, "author"), "name", _AUTHOR)
    ET.SubElement(feed, "link", rel="self", href=address)
    for each in listed:
        _add_entry(feed, each, base)
    content: bytes = ET.tostring(without_invalid(feed), encoding="utf-8", xml_declaration=True)
    return content


def _id_of(address: str) -> str:
    """Return the id of what has an address; an id must be absolute, also where the address is not."""
    return uuid5(NAMESPACE_URL, address).urn


def _add_entry(feed: ET.Element, listed: ListedFigure, base: str) -> None:
    published = listed.published
    figure, version = published.figure, published.version
    address = f"{base}/v1/datasets/{published.dataset}/figures/{figure.name}"
    entry = ET.SubElement(feed, "entry")
    _add(entry, "title", version.title)
    _add(entry, "id", _id_of(address))
    _add(entry, "updated", version.published_at)
    if listed.sees_dataset:
        _add(ET.SubElement(entry, "author"), "name", version.published_by)
    ET.SubElement(entry, "link", rel="alternate", href=address)
    _add(entry, "summary", version.note or f"Version {version.version} of {figure.name} of {published.dataset}.")


def _add(parent: ET.Element, name: str, text: str) -> None:
    ET.SubElement(parent, name).text = text
