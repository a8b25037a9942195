"""Five generators make clients of the OpenAPI document: they compile, plan and release against a service."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import pytest
from service_world import X_COLUMNS, Service, Table, key_of, numbers_csv, serving

pytestmark = [pytest.mark.generated, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parent / "programs"
DOCUMENT = ROOT / "app" / "api" / "openapi" / "openapi.json"
TOOLS = ROOT / "tools" / "generators"
NODE = TOOLS / "node_modules" / ".bin"
PYTHON = ROOT / ".venv-generators" / "bin"
PACKAGE = "openapi_generated"
HAS_JAVA = shutil.which("java") is not None
CLIENTS = ["openapi_generator", "openapi_python_client", "datamodel_codegen", "openapi_typescript", "hey_api"]


def run(*command: str | Path, folder: Path, **more: str) -> str:
    """Run a command that must succeed, and return what it prints."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SNAPLEDGER_", "PYTHON"))}
    environment |= {"DO_NOT_TRACK": "1", "REDOCLY_TELEMETRY": "off", "DOCUMENT": str(DOCUMENT), **more}
    done = subprocess.run(command, cwd=folder, env=environment, stdout=PIPE, stderr=STDOUT, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, f"{command}\n{done.stdout}"[-5_000:]
    return done.stdout


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which Node.js finds the packages of the generators."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "node_modules").symlink_to(TOOLS / "node_modules")
    for name in ("package.json", "tsconfig.json", "openapi-ts.config.js"):
        shutil.copy(TOOLS / name, folder)
    for name in CLIENTS:
        (folder / name).mkdir()
        suffix = "ts" if (PROGRAMS / f"{name}.ts").exists() else "py"
        shutil.copy(PROGRAMS / f"{name}.{suffix}", folder / name / f"program.{suffix}")
    return folder


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("service")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3") as service:
        yield service


GENERATORS: dict[str, tuple[str, ...]] = {
    "openapi_generator": ("openapi-generator-cli", "generate", "-g", "python", "--package-name", PACKAGE, "-i"),
    "openapi_python_client": (
        *("openapi-python-client", "generate", "--output-path", PACKAGE, "--meta", "none", "--path"),
    ),
    "datamodel_codegen": (
        *("datamodel-codegen", "--output", f"{PACKAGE}.py", "--output-model-type", "pydantic_v2.BaseModel"),
        *("--input-file-type", "openapi", "--input"),
    ),
}


@pytest.fixture(scope="module")
def compiled(workshop: Path) -> Path:
    """The folder with all clients; the TypeScript ones are compiled together, in strict mode."""
    run(NODE / "openapi-typescript", DOCUMENT, "-o", "openapi_typescript/schema.d.ts", folder=workshop)
    run(NODE / "openapi-ts", folder=workshop)
    run(NODE / "tsc", "-p", "tsconfig.json", folder=workshop)
    for name, (command, *arguments) in GENERATORS.items():
        if name == "openapi_generator" and not HAS_JAVA:
            continue
        run(PYTHON / command, *arguments, DOCUMENT, folder=workshop / name)
    return workshop


def test_redocly_and_spectral_find_nothing() -> None:
    found = run(NODE / "redocly", "lint", "--extends=recommended", "--max-problems=20", DOCUMENT, folder=TOOLS)
    assert "Your API description is valid" in found
    assert "warning" not in found.replace("Deprecation warning", ""), found
    found = run(NODE / "spectral", "lint", DOCUMENT, "-r", "spectral.yaml", "-F", "hint", folder=TOOLS)
    assert "No results with a severity of 'hint' or higher found!" in found


def execute(name: str, folder: Path, table: Table) -> dict[str, Any]:
    settings = {"SNAPLEDGER_KEY": key_of(table.analyst), "SNAPLEDGER_OWNER_KEY": key_of(table.owner)}
    settings |= {"SNAPLEDGER_URL": table.service.url, "SNAPLEDGER_DATASET": table.name}
    if (folder / name / "program.ts").exists():
        command: list[str | Path] = ["node", folder / "built" / name / "program.js"]
    else:
        run(PYTHON / "python", "-m", "mypy", "--follow-imports=silent", "program.py", folder=folder / name)
        command = [PYTHON / "python", "program.py"]
    told: dict[str, Any] = json.loads(run(*command, folder=folder / name, **settings).splitlines()[-1])
    return told


@pytest.mark.parametrize("name", CLIENTS)
def test_a_generated_client_plans_and_releases(name: str, compiled: Path, service: Service) -> None:
    """Each releases a mean twice with one key, a histogram twice, and a derived statistic, then asks for too much."""
    if name == "openapi_generator" and not HAS_JAVA:
        pytest.skip("openapi-generator needs Java")
    table = service.table(X_COLUMNS, numbers_csv(1_000))
    told = execute(name, compiled, table)
    assert float(told["planned"]) > 0
    (one, again, histogram, same), allowance = told["releases"], table.analyst.get(f"{table.path}/budget").json()
    assert (again, same) == (one, histogram)
    for identity, value in (one, histogram):
        assert table.analyst.get(f"/v1/releases/{identity}").json()["value"] == value
    assert isinstance(one[1], float | int)
    assert len(histogram[1]) == 6  # four bins, the missing values, and the rows outside the filter
    assert told["derived"] >= 0
    assert allowance["allowance"]["epsilon_spent"] == "1"
    assert told["remaining"] == allowance["allowance"]["epsilon_remaining"] == "9"
