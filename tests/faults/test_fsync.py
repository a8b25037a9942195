"""A commit that has returned is on the disk: the kernel was asked to put it there, once and not less, for each."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

COMMITS = 25
PROGRAM = """
import sys
from app.db.database import Database
from app.db.repositories import principals
from app.db.schema_migration import migrate

database = Database("sqlite:///" + sys.argv[1])
migrate(database)
for number in range(int(sys.argv[2])):
    with database.write() as transaction:
        principals.insert_principal(transaction, f"p{number}", "analyst", number.to_bytes(32), "t")
        transaction.commit()
        print(f"committed {number}", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace (apt-get install strace)")
def test_every_commit_on_sqlite_waits_for_the_disk(tmp_path: Path) -> None:
    """Between two commits' returns the write-ahead log was written and then synced."""
    trace, ledger = tmp_path / "trace", tmp_path / "ledger.sqlite3"
    calls = "trace=pwrite64,write,fsync,fdatasync"
    command = ["strace", "-f", "-y", "-e", calls, "-o", str(trace), sys.executable, "-c", PROGRAM]
    subprocess.run([*command, str(ledger), str(COMMITS)], check=True, capture_output=True, timeout=110)  # noqa: S603
    synced, written, commits = False, False, 0
    for line in trace.read_text().splitlines():
        if f"{ledger}-wal>" in line and "pwrite64(" in line:
            written, synced = True, False
        elif f"{ledger}-wal>" in line and "sync(" in line:
            synced = True
        elif '"committed ' in line:
            commits += 1
            if commits > 1:  # before the first is also what the migration wrote
                assert written, f"commit {commits} returned and had written nothing"
                assert synced, f"commit {commits} returned before what it wrote was on the disk"
            written = synced = False
    assert commits == COMMITS
