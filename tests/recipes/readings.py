"""What each recipe starts from, and the columns that it reads."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import make_url

FIGURE_PATH = "/v1/datasets/penguins/figures/species"
EXAMPLE_URL = "https://stats.example.org"  # that of the page


@dataclass
class Readings:
    """The service and a viewer's key, the figures' database and its user, and the figure's numbers."""

    url: str
    key: str
    owner_key: str
    database_url: str
    species: tuple[dict[str, Any], ...]

    @property
    def csv_url(self) -> str:
        """The address of the figure as CSV."""
        return f"{self.url}{FIGURE_PATH}.csv"

    @property
    def socket(self) -> str:
        """The directory of the database server's socket."""
        return str(make_url(self.database_url).query["host"])
