"""The display of answers. Importing this package registers text, HTML, frames and plots for each class of answer."""

from snapledger_client.display import (
    account_texts,
    figure_pictures,
    figure_tables,
    html,
    listings,
    plots,
    records,
    tables,
    text,
)

__all__ = [
    "account_texts",
    "figure_pictures",
    "figure_tables",
    "html",
    "listings",
    "plots",
    "records",
    "tables",
    "text",
]
