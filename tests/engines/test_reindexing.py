"""Tables that are stored anew have codes, and sums as exact as before, whoever reads them and whatever fails."""

import threading
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_world import COLUMNS, as_csv, worst_rows
from gmpy2 import mpq
from sources_world import all_needs

from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import ColumnSums, PairSums
from app.engines.errors import EngineFailure
from app.engines.prepared_sums import prepared_file
from app.engines.storage import prepared_tables
from app.engines.storage.tables import Tables
from app.engines.stored_columns import build_stored_schema, encode_code_name
from app.engines.stored_file import writer


def make_old(tables: Tables, file_id: str) -> None:
    """Store a table as versions without codes did."""
    path = tables._path(file_id)
    table = pq.read_table(path, columns=build_stored_schema(COLUMNS).names)
    prepared_file(path).unlink()
    pq.write_table(table, path, use_dictionary=False, write_statistics=False)


@pytest.fixture
def old(tables: Tables) -> str:
    file_id = tables.intake.ingest(BytesIO(as_csv(worst_rows())), COLUMNS, ["NA"]).file_id
    tables.mark_registered(file_id)
    make_old(tables, file_id)
    return file_id


def contents(tables: Tables) -> list[str]:
    return sorted(path.name for path in tables._directory.iterdir() if path != tables._engine.scratch)


def test_an_old_table_answers_as_before_and_gets_its_codes(tables: Tables, old: str) -> None:
    needs = [*all_needs()][::3]
    before = tables.count_once(old, needs)
    tables.reindex(old, COLUMNS, lambda _: True)
    assert contents(tables) == [f"{old}.parquet", f"{old}.prepared"]
    assert encode_code_name("real") in pq.read_schema(tables._path(old)).names
    assert list(tables._engine.scratch.iterdir()) == []
    assert tables.count_once(old, needs) == before
    tables.reindex(old, COLUMNS, lambda _: True)  # again: the same
    assert tables.count_once(old, needs) == before


def test_codes_that_earlier_versions_stored_are_left_out(tables: Tables, old: str) -> None:
    tables.reindex(old, COLUMNS, lambda _: True)
    path, name = tables._path(old), encode_code_name("integer")
    table = pq.read_table(path)
    codes = pa.array([7] * table.num_rows, pa.uint32())  # of a table that is not damaged, they would be right
    pq.write_table(table.append_column(name, codes), path, write_statistics=False)
    needs = [*all_needs()][::3]
    with_codes = tables.count_once(old, needs)
    tables.reindex(old, COLUMNS, lambda _: True)
    assert name not in pq.read_schema(path).names
    assert tables.count_once(old, needs) == with_codes


@pytest.mark.slow
@pytest.mark.parametrize("step", ["write_prepared", "exchange_table", "unlink", "rename"])
def test_whatever_fails_the_table_answers_as_before(
    tables: Tables, old: str, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    needs = [*all_needs()][::5]
    before = tables.count_once(old, needs)
    plain, calls = {"unlink": Path.unlink, "rename": Path.rename}, []

    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    def second_fails(self: Path, *arguments: object, **members: object) -> object:
        if self.suffix == ".prepared" and not self.name.startswith("."):
            calls.append(self)
            fail()
        return plain[step](self, *arguments, **members)  # type: ignore[operator]

    with monkeypatch.context() as patched:
        if step in plain:
            patched.setattr(Path, step, second_fails)
        elif step == "write_prepared":
            patched.setattr(writer, step, fail)
        else:
            patched.setattr("app.engines.storage.tables.exchange_table", fail)
        with pytest.raises((EngineFailure, OSError)):
            tables.reindex(old, COLUMNS, lambda _: True)
    assert tables.count_once(old, needs) == before
    tables._pending.clear(old)
    tables.reindex(old, COLUMNS, lambda _: True)
    assert tables.count_once(old, needs) == before


def test_a_table_that_is_dropped_meanwhile_stays_dropped(
    tables: Tables, old: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = prepared_tables.exchange_table

    def dropped_before(table: Path, other: Path) -> None:
        tables.drop(old)
        plain(table, other)

    monkeypatch.setattr("app.engines.storage.tables.exchange_table", dropped_before)
    with pytest.raises(EngineFailure):
        tables.reindex(old, COLUMNS, lambda _: False)
    assert contents(tables) == []


def test_a_table_that_is_dropped_just_before_the_exchange_is_dropped_again(tables: Tables, old: str) -> None:
    tables.reindex(old, COLUMNS, lambda _: False)
    assert contents(tables) == []


def test_two_cannot_do_the_same_at_once(tables: Tables, old: str) -> None:
    tables._pending.mark(old)
    with pytest.raises(EngineFailure):
        tables.reindex(old, COLUMNS, lambda _: True)
    tables._pending.clear(old)
    assert contents(tables) == [f"{old}.parquet"]


@pytest.mark.slow
def test_scans_during_an_exchange_read_one_table(tables: Tables, tmp_path: Path) -> None:
    columns = [Column(name, Kind.INTEGER, (mpq(0), mpq(100_000))) for name in "xy"]
    rows = b"x,y\n" + b"".join(b"%d,%d\n" % (i * 7919 % 100_003, i % 1000) for i in range(150_000))
    file_id = tables.intake.ingest(BytesIO(rows), columns, []).file_id
    tables.mark_registered(file_id)
    x, y = (codes_for(column, None) for column in columns)
    needs = [PairSums("x", x, "y", y), ColumnSums("x", codes_for(columns[0], (mpq(5), mpq(2) ** 40)))]
    expected = tables.count_once(file_id, needs)
    done = threading.Event()

    def ask() -> int:
        answered = 0
        while not done.is_set() or answered == 0:
            assert tables.count_once(file_id, needs) == expected
            answered += 1
        return answered

    other = Tables(tmp_path / "data", threads=1)  # another process would have its own
    with ThreadPoolExecutor(2) as pool:
        asking = [pool.submit(ask) for _ in range(2)]
        try:
            for _ in range(3):
                other.reindex(file_id, columns, lambda _: True)
        finally:
            done.set()
        assert all(each.result() for each in asking)
    other.close()
