"""No secret and no data gets into an image by way of the directory that it is built from."""

import shutil
import subprocess
from pathlib import Path

import pytest
from build_context import ROOT, files_in_context
from dockerfile_steps import stages_of

SECRETS = [
    *(".env", "deploy/secrets/admin_key", "var/data/secret", "var/snapledger.sqlite3", "secret", "admin-key"),
    *("app/.env", "app/.env.local", "app/secret", "app/services/admin-key", "app/ledger.sqlite3", "app/x.sqlite3-wal"),
    *("app/demo/patients.parquet", "app/tls.key", "migrations/tls.pem", "client/src/.netrc", "app/web/log.log"),
    *(".git/config", "app/__pycache__/config.cpython-311.pyc", "tests/conftest.py", "requirements-dev.lock"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The repository's files, and beside them what may lie about in a directory that somebody works in."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for path in listed.stdout.splitlines():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, tmp_path / path)
    for path in SECRETS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("nobody may see this")
    return tmp_path


def test_no_secret_is_in_the_context(checkout: Path) -> None:
    context = files_in_context(checkout)
    assert context.isdisjoint(SECRETS)
    assert not [path for path in context if "nobody may see this" in (checkout / path).read_text("utf-8", "replace")]


def test_all_that_the_steps_copy_is_in_the_context(checkout: Path) -> None:
    context = files_in_context(checkout)
    copied = [
        source
        for stage in stages_of(ROOT / "Dockerfile")
        for step in stage.steps
        if step.instruction == "COPY" and not step.value.startswith("--from")
        for source in step.value.split()[:-1]
    ]
    assert copied
    for source in copied:
        assert any(path == source or path.startswith(f"{source}/") for path in context), source
    assert {"app/services/operations/ledger_secrets.py", "app/demo/penguins.csv", "app/web/index.html"} <= context


def test_new_secrets_are_made_once_and_for_this_user_alone(tmp_path: Path) -> None:
    shutil.copy(ROOT / "deploy/new-secrets.sh", tmp_path)
    command = ["sh", str(tmp_path / "new-secrets.sh")]
    subprocess.run(command, check=True, capture_output=True)
    folder = tmp_path / "secrets"
    made = {path.name: path.read_text() for path in folder.iterdir()}
    assert made.keys() == {"admin_key", "database_url", "ledger_secret", "postgres_password"}
    assert made["database_url"] == f"postgresql://snapledger:{made['postgres_password']}@database/snapledger"
    randoms = [made[name] for name in ("admin_key", "ledger_secret", "postgres_password")]
    assert all(len(random) == 64 for random in randoms)
    assert len(set(randoms)) == 3
    assert folder.stat().st_mode & 0o077 == 0
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert made == {path.name: path.read_text() for path in folder.iterdir()}
    assert not any(random in told for random in randoms)
