"""A service with the penguins on it, and an installed R package; without R, every test here is skipped."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from client_world import People, settle
from service_world import Service, serving

PACKAGE = Path(__file__).parents[2] / "clients" / "r"
NEEDED = ("httr2", "jsonlite", "openssl", "rlang", "tibble", "ggplot2", "knitr", "rmarkdown", "testthat")
SECONDS = 300


@dataclass
class R:
    """R with a library of its own, and the environment that the package needs."""

    folder: Path
    library: Path
    environment: dict[str, str]

    def run(self, *command: str | Path, **environment: str) -> str:
        """Run a command and return what it printed."""
        finished = subprocess.run(
            [*map(str, command)],
            cwd=self.folder,
            env=self.environment | environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert finished.returncode == 0, f"{finished.stdout}\n{finished.stderr}"
        return finished.stdout


@pytest.fixture(scope="session")
def r(tmp_path_factory: pytest.TempPathFactory) -> R:
    """R; skips the tests where it or a package is missing."""
    if shutil.which("R") is None:
        pytest.skip("R is not installed: Debian's packages are named in .ci/run")
    found = subprocess.run(
        ["Rscript", "-e", f"cat(all(sapply(c{NEEDED!r}, requireNamespace, quietly = TRUE)), rmarkdown::pandoc_available())"],
        capture_output=True,
        text=True,
        check=False,
    )
    if found.stdout.split() != ["TRUE", "TRUE"]:
        pytest.skip(f"R's packages {', '.join(NEEDED)} or pandoc are not installed: see .ci/run")
    folder = tmp_path_factory.mktemp("r")
    library = folder / "library"
    library.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SNAPLEDGER_", "R_"))}
    return R(folder, library, environment | {"R_LIBS": str(library), "LC_ALL": "C.UTF-8", "TZ": "UTC"})


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
