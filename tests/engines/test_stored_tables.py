"""Tables come and go whole; whatever fails says one constant thing and leaves nothing behind."""

import logging
import math
import os
import stat
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from pathlib import Path
from typing import BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_world import CATEGORY, INTEGER, REAL, as_parquet, take_in
from gmpy2 import mpq

from app.dp.table.bins import CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.sums import BinCounts, ColumnSums, Moments, Needs
from app.engines import atomic_files
from app.engines.errors import EngineFailure, InvalidFile
from app.engines.prepared_sums import prepared_file
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_name

SUMS = ColumnSums("integer", codes_for(INTEGER, (mpq(0), mpq(100))))
SECRET = b"integer\n123456789\n987654321\n"


def contents(tables: Tables) -> list[str]:
    """What is in the data directory, but for the engine's scratch directory."""
    return sorted(path.name for path in tables._directory.iterdir() if path != tables._engine.scratch)


def failure_of(call: Callable[[], object]) -> EngineFailure:
    with pytest.raises(EngineFailure) as caught:
        call()
    failure = caught.value
    assert str(failure) == "the data engine could not answer"
    assert failure.__cause__ is None
    assert failure.__context__ is None
    return failure


def test_a_file_is_private_typed_and_tells_no_values_by_its_footer(tables: Tables) -> None:
    ingested = tables.intake.ingest(BytesIO(b"integer,other,real\n5,x,1\n7,y,2\n"), [INTEGER, REAL], [])
    tables.mark_registered(ingested.file_id)
    path = tables._path(ingested.file_id)
    assert contents(tables) == [path.name, prepared_file(path).name]
    assert [stat.S_IMODE(each.stat().st_mode) for each in (path, prepared_file(path))] == [0o600] * 2
    metadata = pq.read_metadata(path)
    assert (metadata.num_rows, metadata.num_columns, ingested.n) == (2, 3, 2)
    assert not any(metadata.row_group(0).column(i).is_stats_set for i in range(3))
    assert pq.read_table(path).column(0).to_pylist() == [5, 7]


def test_dropped_tables_are_gone_with_their_sums(tables: Tables) -> None:
    file_id = take_in(tables, INTEGER, [1, 2])
    other = take_in(tables, INTEGER, [3, 4])
    assert tables.sums(file_id, SUMS) == Moments(2, 3, 5)
    tables.drop(file_id)
    tables.drop(file_id)
    failure_of(lambda: tables.sums(file_id, SUMS))
    assert tables.sums(other, SUMS) == Moments(2, 7, 25)
    assert contents(tables) == [f"{other}.parquet", f"{other}.prepared", f"{other}.sums"]


def test_known_sums_cost_no_scan(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    file_id = take_in(tables, INTEGER, [1, 2])
    first = tables.sums(file_id, SUMS)
    monkeypatch.setattr(tables._engine, "compute", None)
    again = ColumnSums("integer", codes_for(INTEGER, (mpq(0), mpq(100))))
    assert tables.sums(file_id, again) is first


def test_many_threads_at_once(tables: Tables) -> None:
    file_id = take_in(tables, REAL, [30.0 + i / 100 for i in range(3000)])
    needs: list[Needs] = [ColumnSums("real", codes_for(REAL, (mpq(30), mpq(40 + i)))) for i in range(20)]
    needs += [BinCounts("real", bins_by_number(REAL, 200 + i, None)) for i in range(20)]
    alone = [tables._engine.compute(tables._path(file_id), [each])[0] for each in needs]
    barrier = threading.Barrier(40)

    def ask(each: Needs) -> object:
        barrier.wait()
        return tables.sums(file_id, each)

    with ThreadPoolExecutor(40) as pool:
        assert list(pool.map(ask, needs)) == alone


@pytest.mark.parametrize("content", [b"", b"PAR1", b"garbage" * 1000])
def test_engine_errors_say_one_constant_thing(tables: Tables, content: bytes, caplog: pytest.LogCaptureFixture) -> None:
    tables._path("broken").write_bytes(content)
    with caplog.at_level(logging.DEBUG):
        failure_of(lambda: tables.sums("broken", SUMS))
        failure_of(lambda: tables.sums("absent", SUMS))
    assert all("garbage" not in record.getMessage() and record.exc_info is None for record in caplog.records)
    assert [record.levelname for record in caplog.records] == ["ERROR"] * 2


def test_engine_errors_carry_no_value(tables: Tables, caplog: pytest.LogCaptureFixture) -> None:
    # A column of another type than declared: DuckDB's own message has the value in it.
    tables._path("texts").write_bytes(as_parquet(pa.table({encode_name("real"): ["secret", "secret"]})).getvalue())
    failure_of(lambda: tables.sums("texts", ColumnSums("real", codes_for(REAL, None))))
    failure_of(lambda: tables.sums("texts", BinCounts("real", CategoryBins(("\ud800",), missing=True))))
    assert "ConversionException" in caplog.text
    assert "secret" not in caplog.text


def test_the_engine_reads_its_directory_and_nothing_else(tables: Tables, tmp_path: Path) -> None:
    content = as_parquet(pa.table({encode_name("integer"): [1, 2]})).getvalue()
    inside, outside = tables._path("inside"), tmp_path / "outside.parquet"
    inside.write_bytes(content)
    outside.write_bytes(content)
    assert tables._engine.compute(inside, [SUMS]) == [Moments(2, 3, 5)]
    failure_of(lambda: tables._engine.compute(outside, [SUMS]))
    failure_of(lambda: tables.sums("../outside", SUMS))


def test_a_directory_named_like_a_pattern(tmp_path: Path) -> None:
    for name in ("a[b]*?", "year=2026"):
        opened = Tables(tmp_path / name)
        assert opened.sums(take_in(opened, INTEGER, [1, 2]), SUMS) == Moments(2, 3, 5)
        opened.close()


@pytest.mark.parametrize("step", ["fsync", "rename", "write"])
def test_a_failing_disk_leaves_nothing_behind(tables: Tables, monkeypatch: pytest.MonkeyPatch, step: str) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    targets = {"fsync": (os, "fsync"), "rename": (Path, "rename"), "write": (pq.ParquetWriter, "write_table")}
    monkeypatch.setattr(*targets[step], full)
    failure_of(lambda: tables.intake.ingest(BytesIO(SECRET), [INTEGER], []))
    assert contents(tables) == []


def test_a_directory_that_cannot_be_synced_keeps_nothing(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Path) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(atomic_files, "sync_directory", broken)
    failure_of(lambda: tables.intake.ingest(BytesIO(SECRET), [INTEGER], []))
    assert contents(tables) == []


def test_refused_files_leave_nothing_behind(tables: Tables) -> None:
    bad = "".join(f"{i}\n" for i in range(200_000))
    for upload in (
        b"integer\n1\n",
        b"integer\n1\nx\n",
        f"integer\n{bad}x\n".encode(),
        as_parquet(pa.table({"x": [1]})),
    ):
        with pytest.raises(InvalidFile):
            tables.intake.ingest(BytesIO(upload) if isinstance(upload, bytes) else upload, [INTEGER], [])
    assert contents(tables) == []


def test_an_upload_that_breaks_off_leaves_nothing_behind(tables: Tables) -> None:
    class Breaking(BytesIO):
        def readline(self, size: int | None = -1, /) -> bytes:
            if self.tell() > 1000:
                raise OSError("connection lost")
            return super().readline(size)

    upload: BinaryIO = Breaking(b"integer\n" + b"1\n" * 10_000)
    failure_of(lambda: tables.intake.ingest(upload, [INTEGER], []))
    assert contents(tables) == []


def test_what_a_killed_process_left_is_removed_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    (tmp_path / ".dead.parquet.partial").write_bytes(b"half")
    abandoned = tmp_path / ".0123.partial"
    abandoned.mkdir()
    (abandoned / "spilled").write_bytes(b"values")
    with atomic_files.write_atomically(tmp_path / "living.parquet") as file:
        opened = Tables(tmp_path)
        second = Tables(tmp_path)
        (living,) = [path.name for path in tmp_path.iterdir() if path.is_file()]
        assert living.startswith(".living.parquet.")
        assert not abandoned.exists()
        file.write(b"whole")
    second.close()
    assert opened.sums(take_in(opened, INTEGER, [1, 2]), SUMS) == Moments(2, 3, 5)
    opened.close()
    assert (tmp_path / "living.parquet").read_bytes() == b"whole"
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".partial")]


def test_a_large_histogram_fits_into_little_memory(tmp_path: Path) -> None:
    opened = Tables(tmp_path, threads=2, memory_limit="100MB")
    values = pa.array([math.sin(i) for i in range(100_000)] * 20)
    file_id = opened.intake.ingest(as_parquet(pa.table({"real": values})), [REAL], []).file_id
    bins = bins_by_number(REAL, 1000, (mpq(-1), mpq(1)))
    assert sum(opened.sums(file_id, BinCounts("real", bins))) == 2_000_000
    opened.close()


def test_columns_of_every_kind_with_nothing_in_them(tables: Tables) -> None:
    declared = [REAL, INTEGER, Column("boolean", Kind.BOOLEAN), CATEGORY]
    upload = BytesIO(b"real,integer,boolean,category\n" + b"NA,NA,NA,NA\n" * 3)
    file_id = tables.intake.ingest(upload, declared, ["NA"]).file_id
    for column in declared[:3]:
        codes = codes_for(column, None)
        q = codes.null_code
        assert tables.sums(file_id, ColumnSums(column.name, codes)) == Moments(3, 3 * q, 3 * q * q)
    assert tables.sums(file_id, BinCounts("category", CategoryBins(("a",), missing=True))) == (0, 0, 3)


def as_csv_of_texts(texts: list[str]) -> BytesIO:
    return BytesIO("".join(f"{text}\n" for text in ["c", *texts]).encode())


def as_parquet_of_texts(texts: list[str]) -> BytesIO:
    return as_parquet(pa.table({"c": texts}))


@pytest.mark.parametrize("as_file", [as_csv_of_texts, as_parquet_of_texts])
def test_undeclared_texts_are_not_stored(tables: Tables, as_file: Callable[[list[str]], BytesIO]) -> None:
    """What nobody can ask for is not kept, so neither time nor size tells how many of these texts differ."""
    column = Column("c", Kind.CATEGORY, categories=("a", "other"))
    sizes = set()
    for texts in (["secret 1"] * 200, [f"secret {i}" for i in range(200)]):
        file_id = tables.intake.ingest(as_file(["a", "other", *texts]), [column], [""]).file_id
        content = tables._path(file_id).read_bytes()
        assert b"secret" not in content
        assert tables.sums(file_id, BinCounts("c", CategoryBins(column.categories, missing=True))) == (1, 1, 200, 0)
        sizes.add(len(content))
    assert len(sizes) == 1
