"""R with a library of its own, for the tests of the R client."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "clients" / "r"
NEEDED = ("curl", "ggplot2", "httr2", "jsonlite", "knitr", "openssl", "rlang", "rmarkdown", "testthat", "tibble")
SECONDS = 500  # R checks for half a minute on a quiet machine


@dataclass
class R:
    """R with a library of its own, and the environment that the package needs."""

    folder: Path
    library: Path
    environment: dict[str, str]

    def run(self, *command: str | Path, **environment: str) -> str:
        """Run a command and return what it printed."""
        finished = subprocess.run(  # noqa: S603 - R's own programs
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

    def has(self, *packages: str) -> bool:
        """Whether these packages are installed."""
        names = ", ".join(f'"{name}"' for name in packages)
        return self.run("Rscript", "-e", f"cat(all(sapply(c({names}), requireNamespace, quietly = TRUE)))") == "TRUE"


def find_r(folder: Path) -> R:
    """R with a library in the folder; skips the test where R or what it needs is missing."""
    if shutil.which("R") is None or shutil.which("pandoc") is None:
        pytest.skip("R or pandoc is not installed: .ci/run names Debian's packages")
    library = folder / "library"
    library.mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SNAPLEDGER_", "R_"))}
    r = R(folder, library, environment | {"R_LIBS": str(library), "LC_ALL": "C.UTF-8", "TZ": "UTC"})
    if not r.has(*NEEDED):
        pytest.skip(f"some of R's packages {', '.join(NEEDED)} are missing: .ci/run names Debian's packages")
    return r
