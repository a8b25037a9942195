"""Schemathesis over the OpenAPI document, as each role: no 5xx, and nothing outside the declared responses."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from lengths import LONGER
from service_world import X_COLUMNS, Service, numbers_csv, serving

CHECKS = [
    *("not_a_server_error", "status_code_conformance", "content_type_conformance", "response_headers_conformance"),
    *("response_schema_conformance", "negative_data_rejection", "unsupported_method", "allow_header_conformance"),
]
SECONDS = 8 * LONGER  # of random calls; the examples and the coverage of the schemas come before


@pytest.mark.slow
@pytest.mark.timeout(400 * LONGER)
@pytest.mark.parametrize("role", ["admin", "owner", "auditor", "analyst"])
def test_no_call_has_an_undeclared_answer(tmp_path: Path, role: str) -> None:
    # A service of its own: what is sent to it may disable or delete anything, the admin too.
    with serving(tmp_path, f"sqlite:///{tmp_path}/ledger.sqlite3") as service:
        name, client = service.principal(role)
        table = service.table(X_COLUMNS, numbers_csv(20))
        if role in {"owner", "analyst"}:
            table.grant(name, "10")
        done = run(service, client, tmp_path)
        assert done.returncode == 0, done.stdout[-10_000:] + done.stderr[-2_000:]
        assert "internal error" not in service.log.read_text()


def run(service: Service, client: httpx.Client, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [
        *(sys.executable, "-m", "schemathesis.cli", "run", f"{service.url}/openapi.json"),
        *("--header", f"Authorization: {client.headers['Authorization']}"),
        *("--checks", ",".join(CHECKS), "--phases", "examples,coverage,fuzzing", "--max-time", str(SECONDS)),
        *("--exclude-path", "/v1/me/key"),  # or no later call would have a key
        *("--seed", "20261128", "--generation-database", "none", "--no-color", "--warnings", "off"),
    ]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300 * LONGER, check=False)  # noqa: S603
