"""A service with the penguins on it, and R; without R, every test here is skipped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from client_world import People, settle
from r_world import PACKAGE, R, find_r
from service_world import Service, serving

from snapledger_client import Client

VISITS = {
    "admitted": {"kind": "date", "bounds": ["2024-01-01", "2024-12-31"]},
    "arrived": {
        "kind": "timestamp",
        "time_zone": "Europe/Paris",
        "resolution": "minute",
        "bounds": ["2024-03-01T00:00", "2024-03-31T00:00"],
    },
    "cost": {"kind": "real", "bounds": [0, 1000], "unit": "€", "label": "Cost of the stay"},
    "ward": {
        "kind": "category",
        "categories": ["A", "B", "C"],
        "nullable": False,
        "category_labels": {"A": "Surgery", "B": "Births"},
    },
    "urgent": {"kind": "boolean"},
}


def describe_visit(at: int) -> str:
    """A row of the visits."""
    day = at % 28 + 1
    arrived = f"2024-03-{day:02}T{at % 24:02}:30:00"
    return f"2024-{at % 12 + 1:02}-{day:02},{arrived},{at * 37 % 900}.5,{'ABC'[at % 3]},{'true' if at % 4 else 'false'}"


@pytest.fixture(scope="session")
def r(tmp_path_factory: pytest.TempPathFactory) -> R:
    return find_r(tmp_path_factory.mktemp("r"))


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3") as running:
        yield running


@pytest.fixture(scope="session")
def people(service: Service) -> People:
    people = settle(service, limit=1000, allowance=500)
    with Client(service.url, people.owner) as owner:
        metadata = {"name": "visits", "epsilon_limit": 100, "columns": VISITS}
        owner.register(metadata, "\n".join([",".join(VISITS), *map(describe_visit, range(500))]).encode())
        owner.dataset("visits").allow("ada", 100)
    return people


@pytest.fixture(scope="session")
def with_service(service: Service, people: People) -> dict[str, str]:
    """The environment of who asks as ada."""
    return {"SNAPLEDGER_URL": service.url, "SNAPLEDGER_KEY": people.ada, "SNAPLEDGER_OWNER_KEY": people.owner}


@pytest.fixture(scope="session")
def package(r: R, with_service: dict[str, str]) -> Path:
    """The source package, whose vignette has run its code."""
    r.run("R", "CMD", "build", PACKAGE, **with_service)
    (built,) = r.folder.glob("snapledger_*.tar.gz")
    return built


@pytest.fixture(scope="session")
def installed(r: R, package: Path) -> R:
    """R with the package in its library."""
    r.run("R", "CMD", "INSTALL", "--no-docs", f"--library={r.library}", package)
    return r
