"""How answers are displayed: importing this registers a text and, for notebooks, HTML for each class of them."""

from snapledger_client.display import html, text

__all__ = ["html", "text"]
