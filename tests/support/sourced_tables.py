"""Datasets whose tables are in a named connection of the service."""

from typing import Any, ClassVar

import httpx
from service_world import X_COLUMNS, Service, Table, a_name


class SourcedTables:
    """The tables of one connection, and the service that knows it."""

    connection: ClassVar[str]
    service: Service

    def register(self, owner: httpx.Client, table: str, *, live: bool, **members: Any) -> httpx.Response:
        source = {"connection": self.connection, "table": table, "live": live}
        metadata = {"name": a_name("table"), "epsilon_limit": "100000", "columns": X_COLUMNS, "source": source}
        return owner.post("/v1/datasets", json=metadata | members)

    def dataset(self, table: str, *, live: bool) -> Table:
        name, owner = self.service.principal("owner")
        made = self.register(owner, table, live=live)
        assert made.status_code == 201, made.text
        found = Table(self.service, made.json()["name"], name, owner, *self.service.principal("analyst"))
        found.grant(found.analyst_name, "100000")
        return found
