"""Texts in XML, which cannot have every character that a title, a note or a category may have."""

import re
from functools import partial
from xml.etree.ElementTree import Element

_replace = partial(re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").sub, "\ufffd")


def without_invalid(root: Element) -> Element:
    """Replace what XML 1.0 cannot have in the texts of an element and of all in it. Return the element."""
    for each in root.iter():
        if each.text is not None:
            each.text = _replace(each.text)
    return root
