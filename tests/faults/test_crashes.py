"""A crash of Postgres loses no debit that was acknowledged, though the server is set not to wait for its disk."""

import tempfile
from pathlib import Path

import pytest
from postgres_machine import Machine
from service_world import X_COLUMNS, numbers_csv, serving

DEBITS = 5  # of ε = 0.5 each
CARELESS = {"synchronous_commit": "off", "wal_writer_delay": "10s"}
"""A commit is acknowledged at once, and on disk up to 30 seconds later."""


@pytest.mark.slow
def test_what_was_acknowledged_outlives_a_crash_of_a_careless_server(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="snapledger-crash-") as folder:
        machine = Machine(Path(folder), **CARELESS)
        try:
            with serving(tmp_path, machine.url) as service:
                columns = X_COLUMNS
                table = service.table(columns, numbers_csv(50), limit="1000", allowance="1000")
                mean = {"kind": "mean", "column": "x"}
                machine.checkpoint()  # so that the table is on disk, whatever the service does
                answers = [table.release(mean, key=f"k-{i}", epsilon="0.5", reuse=False) for i in range(DEBITS)]
                assert [answer.status_code for answer in answers] == [201] * DEBITS
                with machine.killed():
                    pass
                assert table.budget()["epsilon_spent"] == "2.5"
                again = [table.release(mean, key=f"k-{i}", epsilon="0.5", reuse=False) for i in range(DEBITS)]
                assert [answer.content for answer in again] == [answer.content for answer in answers]
                assert table.owner.get(f"{table.path}/ledger/verification").json()["valid"] is True
        finally:
            machine.close()
