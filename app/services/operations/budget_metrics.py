"""Prometheus metrics of each dataset's budget, for callers who may see all datasets."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from app.ledger import accounts
from app.ledger.units import NANO_PER_EPSILON
from app.roles import Role
from app.services.access import Credential, authenticate, require
from app.services.context import Services


class BudgetCollector(Collector):
    """Collects the current limit, spending and remaining budget of every dataset at each scrape.

    Prometheus stores doubles, so the values are for graphs and alerts only. No decision depends on them.
    """

    def __init__(self, services: Services) -> None:
        self._services = services

    def collect(self) -> Iterator[Metric]:
        """Yield one family of gauges for each figure."""
        with self._services.database.read() as session:
            found = accounts.list_accounts(session)
        figures = {
            "limit": [account.limit_nano for account in found],
            "spent": [account.spent_nano for account in found],
            "remaining": [account.remaining_nano for account in found],
        }
        for name, amounts in figures.items():
            family = GaugeMetricFamily(f"snapledger_epsilon_{name}", f"ε, {name}, by dataset.", labels=["dataset"])
            for account, nano in zip(found, amounts, strict=True):
                family.add_metric([account.dataset], nano / NANO_PER_EPSILON)
            yield family


def make_budget_collector(services: Services, credential: Credential) -> BudgetCollector:
    """Make the collector if the caller may see all datasets.

    Raises:
        UnauthenticatedError, ForbiddenError: the caller is neither an admin nor an auditor.
    """
    require(authenticate(services.database, credential), Role.ADMIN, Role.AUDITOR)
    return BudgetCollector(services)
