"""A service with the penguins on it, and R; without R, every test here is skipped."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from client_world import People, settle
from r_world import PACKAGE, R, find_r
from service_world import Service, serving


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
    return settle(service, limit=1000, allowance=500)


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
