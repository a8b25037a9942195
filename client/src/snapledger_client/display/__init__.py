"""The display of answers. Importing this package registers a text and HTML for notebooks for each class of answer."""

from snapledger_client.display import html, text

__all__ = ["html", "text"]
