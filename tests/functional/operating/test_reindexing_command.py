"""`snapledger dataset reindex`: what an older version stored gets its sums, while the service answers."""

import secrets
from pathlib import Path

import pyarrow.parquet as pq
from command_line import refused, run
from lengths import ON_POSTGRES_SLOWLY
from service_world import X_COLUMNS, Table, numbers_csv, serving


@ON_POSTGRES_SLOWLY
def test_old_tables_are_reindexed_while_the_service_runs(tmp_path: Path, database_url: str) -> None:
    """Computes the codes and the sums of the stored tables again, and says so."""
    folder, secret = tmp_path / "home", secrets.token_hex(32)
    folder.mkdir()
    data = folder / "data"
    place = {"DATABASE_URL": database_url, "DATA_DIR": str(data), "SECRET": secret}
    with serving(folder, database_url, SECRET=secret) as service:
        made: list[Table] = [service.table(X_COLUMNS, numbers_csv(200)) for _ in range(2)]
        mean = {"kind": "mean", "column": "x"}
        tables = sorted(data.glob("*.parquet"))
        for path in tables:
            values = pq.read_table(path, columns=["c78"])
            path.with_suffix(".prepared").unlink()
            pq.write_table(values, path)
        made[0].fresh(mean, epsilon="0.1")
        scanned = service.scans()
        assert scanned
        first = run("dataset", "reindex", made[0].name, **place)
        assert (first.status, first.err) == (0, "")
        assert first.out == f"Dataset {made[0].name} is reindexed: 200 rows.\n"
        everything = run("dataset", "reindex", **place)
        assert [line.split()[1] for line in everything.out.splitlines()] == [each.name for each in made]
        assert all(path.with_suffix(".prepared").exists() for path in tables)
        made[1].fresh(mean, epsilon="0.1")
        assert service.scans() == scanned  # the first question to this table, and no scan
        assert made[0].owner.delete(f"/v1/datasets/{made[0].name}").status_code == 204
        refused(run("dataset", "reindex", made[0].name, **place), "the service has no data")
        refused(run("dataset", "reindex", "nobodys", **place), "there is no dataset nobodys")
        assert sorted(data.glob("*.prepared")) == [path.with_suffix(".prepared") for path in data.glob("*.parquet")]
