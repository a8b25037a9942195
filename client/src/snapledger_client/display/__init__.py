"""The display of answers. Importing this package registers text, HTML, frames and plots for each class of answer."""

from snapledger_client.display import html, listings, plots, records, tables, text

__all__ = ["html", "listings", "plots", "records", "tables", "text"]
