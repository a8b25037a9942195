"""Parquet files of others: what is taken as it is meant, and what is refused."""

import decimal
import io
import math
import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_world import BOOLEAN, CATEGORY, INTEGER, REAL, as_parquet

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile, Problem
from app.engines.ingest import batches_of
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.parquet import footer, page_sizes, parquet_file
from app.engines.ingest.problems import Problems
from app.engines.storage.tables import Tables

MONEY = Column("money", Kind.DECIMAL, scale=2)
ID = Column("id", Kind.CATEGORY, categories=("00010203-0405-0607-0809-0a0b0c0d0e0f",))
TEXTS = Column("category", Kind.CATEGORY)  # without categories every text is kept
UNREADABLE = Problem("file", parquet_file._UNREADABLE)
UNITS = Column("category", Kind.CATEGORY)
D = decimal.Decimal
IDS = pa.array([bytes(range(16)), b"\xff" * 16, None], pa.binary(16))
UUIDS = ["00010203-0405-0607-0809-0a0b0c0d0e0f", "ffffffff-ffff-ffff-ffff-ffffffffffff", None]
WHOLE = [pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.int64(), pa.uint64()]


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def stored(tables: Tables, column: Column, array: pa.Array, **options: Any) -> list[object]:
    ingested = tables.intake.ingest(as_parquet(pa.table({column.name: array}), **options), [column], [])
    return pq.read_table(tables._path(ingested.file_id)).column(0).to_pylist()


def refused(tables: Tables, upload: bytes | io.BytesIO, *columns: Column) -> tuple[Problem, ...]:
    before = set(tables._directory.iterdir())
    with pytest.raises(InvalidFile) as caught:
        tables.intake.ingest(io.BytesIO(upload) if isinstance(upload, bytes) else upload, columns, [])
    assert set(tables._directory.iterdir()) == before
    return caught.value.problems


def as_decimals(texts: list[str | None], scale: int) -> Iterator[pa.Array]:
    """Decimals of every width: of one byte to 32 in a fixed-length binary, or in an integer."""
    for digits in (3, 7, 18, 19, 38, 39, 76):
        yield pa.array([text and D(text) for text in texts], pa.decimal256(digits, scale)).cast(
            pa.decimal128(digits, scale) if digits <= 38 else pa.decimal256(digits, scale)
        )


TAKEN: list[tuple[Column, pa.Array, list[Any]]] = [
    *((INTEGER, pa.array([0, 100, None], kind()), [0, 100, None]) for kind in (pa.int8, pa.uint8, pa.int16, pa.uint32)),
    (INTEGER, pa.array([2**63 - 1, None, 5], pa.uint64()), [2**63 - 1, None, 5]),
    (INTEGER, pa.array([-(2**63), 2**53 + 1]), [-(2**63), 2**53 + 1]),
    (INTEGER, pa.array([3750.0, -0.0, math.nan, None]), [3750, 0, None, None]),
    (INTEGER, pa.array([-(2.0**63), 1e18]), [-(2**63), 10**18]),
    (INTEGER, pa.array([1.0, 2.0], pa.float16()), [1, 2]),
    (INTEGER, pa.array([D("12.000"), D("-3.000")]), [12, -3]),
    (INTEGER, pa.array([5, 6, 5]).dictionary_encode(), [5, 6, 5]),
    (INTEGER, pa.nulls(2), [None, None]),
    (MONEY, pa.array([D("12.3400"), D("-0.0500"), None]), [1234, -5, None]),
    (MONEY, pa.array([12, -3, None]), [1200, -300, None]),
    (MONEY, pa.array([12.34, 0.1, -1e3, math.nan]), [1234, 10, -100_000, None]),
    (MONEY, pa.array([0.1, 12.34], pa.float32()), [10, 1234]),
    (MONEY, pa.array([2.0**55, 0.25]), [2**55 * 100, 25]),
    (MONEY, pa.array([D("92233720368547758.07"), D("0.1")], pa.decimal256(40, 5)), [2**63 - 1, 10]),
    (REAL, pa.array([1.5, math.inf, -0.0, 5e-324, None]), [1.5, math.inf, -0.0, 5e-324, None]),
    (REAL, pa.array([0.1, None], pa.float32()), [0.10000000149011612, None]),
    (REAL, pa.array([1.5, None], pa.float16()), [1.5, None]),
    (REAL, pa.array([2**53 + 1, 2**63 - 1]), [2.0**53, 2.0**63]),
    (REAL, pa.array([2**64 - 1, 1], pa.uint64()), [2.0**64, 1.0]),
    # Arrow's own conversion of these misses the nearest double.
    (REAL, pa.array([D("321695211092348.4"), None]), [321695211092348.4, None]),
    (REAL, pa.array([D("6300624.972227731"), D("0.1")]), [6300624.972227731, 0.1]),
    (BOOLEAN, pa.array([True, False, None]), [True, False, None]),
    (BOOLEAN, pa.array([1, 0, None]), [True, False, None]),
    (TEXTS, pa.array(["", " x ", None, "🐧"]), ["", " x ", None, "🐧"]),
    (TEXTS, pa.array(["NA", "b"], pa.large_string()), ["NA", "b"]),
    (TEXTS, pa.array(["a", "b"], pa.string_view()), ["a", "b"]),
    (TEXTS, pa.array(["a", None, "a"]).dictionary_encode(), ["a", None, "a"]),
    (TEXTS, pa.nulls(2), [None, None]),
    (Column("t", Kind.CATEGORY, categories=("é",)), pa.array([b"a", None, "é".encode()]), ["other", None, "é"]),
    (ID, pa.array(["other", None, UUIDS[0]]), ["other", None, UUIDS[0]]),
    (ID, pa.ExtensionArray.from_storage(pa.uuid(), IDS), [UUIDS[0], "other", None]),
    (ID, pa.array([b"a", b"\xc3\xa9", None], pa.large_binary()), ["other", "other", None]),
    (ID, pa.ExtensionArray.from_storage(pa.json_(), pa.array(["{}", None])), ["other", None]),
    *((UNITS, pa.array([0, 100, None], kind), ["0", "100", None]) for kind in WHOLE),
    (UNITS, pa.array([2**64 - 1, 2**63], pa.uint64()), [str(2**64 - 1), str(2**63)]),
    (UNITS, pa.array([D("7.00"), D("-9999999999999999999.25")]), ["7.00", "-9999999999999999999.25"]),
    (UNITS, pa.ExtensionArray.from_storage(pa.uuid(), IDS), UUIDS),
    (UNITS, IDS, ["000102030405060708090a0b0c0d0e0f", "ff" * 16, None]),
    (UNITS, pa.array([b"\xff\0", b"a", None]), ["ff00", "61", None]),
    (UNITS, pa.array([b"\xff", b"a", b"\xff"]).dictionary_encode(), ["ff", "61", "ff"]),
    (UNITS, pa.array([-1, 2**31 - 1, None], pa.date32()), ["-1", str(2**31 - 1), None]),
    (UNITS, pa.array([-(2**63), 5], pa.timestamp("ns", "UTC")), [str(-(2**63)), "5"]),
    *((INTEGER, array, [5, None, -6, 5]) for array in as_decimals(["5", None, "-6", "5"], 0)),
    *((MONEY, array, [500, None, -625, 500]) for array in as_decimals(["5", None, "-6.25", "5"], 2)),
]


@pytest.mark.parametrize(("column", "array", "values"), TAKEN)
def test_what_is_taken(tables: Tables, column: Column, array: pa.Array, values: list[Any]) -> None:
    assert list(map(repr, stored(tables, column, array))) == list(map(repr, values))


@pytest.mark.parametrize(
    ("column", "array", "values"),
    [pytest.param(*each, marks=[] if place % 3 == 0 else pytest.mark.slow) for place, each in enumerate(TAKEN)],
)
def test_what_other_writers_store(tables: Tables, column: Column, array: pa.Array, values: list[Any]) -> None:
    others = stored(tables, column, array, store_decimal_as_integer=True, store_schema=False)
    assert list(map(repr, others)) == list(map(repr, values))


@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_timestamps_of_96_bits_keep_all_years(tables: Tables, unit: str) -> None:
    at = [datetime(1, 1, 1), datetime(1677, 1, 1), datetime(1969, 12, 31, 23, 59, 59), None, datetime(9999, 12, 31)]  # noqa: DTZ001
    column, array = Column("at", Kind.SECONDS), pa.array(at, pa.timestamp(unit))
    seconds = [None if each is None else (each - datetime(1970, 1, 1)) // timedelta(seconds=1) for each in at]  # noqa: DTZ001
    assert stored(tables, column, array, use_deprecated_int96_timestamps=True) == seconds
    assert stored(tables, column, array, use_deprecated_int96_timestamps=True, store_schema=False) == seconds


@pytest.mark.parametrize("values", [["a", "b"], [5, 6], [D("1.5"), D("2.5")], [1.5, 2.5], [True, False]])
def test_dictionaries_with_missing_values(tables: Tables, values: list[Any]) -> None:
    array = pa.DictionaryArray.from_arrays(pa.array([0, None, 1, 0]), pa.array(values))
    kinds = {str: TEXTS, int: INTEGER, D: Column("d", Kind.DECIMAL, scale=1), float: REAL, bool: BOOLEAN}
    expected = [int(value * 10) if isinstance(value, D) else value for value in values]
    first, second = expected
    assert stored(tables, kinds[type(values[0])], array) == [first, None, second, first]


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_delta_encoded_texts_are_read(tables: Tables, encoding: str, version: str) -> None:
    values = [None, "x", "y", "xx"] * 5_000
    options = {"use_dictionary": False, "column_encoding": {"category": encoding}, "data_page_version": version}
    assert stored(tables, TEXTS, pa.array(values), **options) == values


def test_delta_encoded_texts_of_duckdb_are_read(tables: Tables, tmp_path: Path) -> None:
    query = "SELECT CASE WHEN i % 2 = 0 THEN 'x' ELSE 'y' || i END AS category FROM range(200_000) t(i)"
    duckdb.sql(f"COPY ({query}) TO '{tmp_path}/t.parquet' (PARQUET_VERSION V2)")
    assert "DELTA" in str(pq.ParquetFile(tmp_path / "t.parquet").metadata.row_group(0).column(0).encodings)
    with (tmp_path / "t.parquet").open("rb") as upload:
        assert tables.intake.ingest(upload, [TEXTS], []).n == 200_000


def test_a_page_that_does_not_match_its_checksum_is_refused(tables: Tables) -> None:
    upload = io.BytesIO()
    pq.write_table(
        pa.table({"integer": range(1_000)}), upload, compression="none", use_dictionary=False, write_page_checksum=True
    )
    damaged = bytearray(upload.getvalue())
    damaged[500] ^= 1
    assert refused(tables, bytes(damaged), INTEGER) == (UNREADABLE,)


BEYOND = "is beyond the range of 64-bit whole numbers"
BAD_VALUES: list[tuple[Column, pa.Array, str]] = [
    (CATEGORY, pa.array([b"a", b"\xff"]), "is not a text in UTF-8"),
    (CATEGORY, pa.array([b"x", b"x" * 10_001]), "has more than 10,000 bytes"),
    (UNITS, pa.array([b"x", b"x" * 10_001]), "has more than 10,000 bytes"),
    (INTEGER, pa.array([1, 2**63], pa.uint64()), BEYOND),
    (INTEGER, pa.array([1.0, 1.5]), "is not a whole number"),
    (INTEGER, pa.array([1.0, 2.0**63]), BEYOND),
    (INTEGER, pa.array([1.0, math.inf]), "is not a number"),
    (INTEGER, pa.array([D("1.0"), D("1.5")]), "is not a whole number"),
    (MONEY, pa.array([D("1.000"), D("1.005")]), "has more than 2 decimals"),
    (MONEY, pa.array([0.5, 0.1 + 0.2]), "has more than 2 decimals"),
    (MONEY, pa.array([1, 2**62]), BEYOND),
    (BOOLEAN, pa.array([1, 2]), "is not true, false, 1 or 0"),
    (CATEGORY, pa.array(["x", "x" * 10_001]), "has more than 10,000 characters"),
    (Column("integer", Kind.INTEGER, nullable=False), pa.array([1, None]), "is missing"),
    (Column("integer", Kind.INTEGER, nullable=False), pa.array([1.0, math.nan]), "is missing"),
    (Column("real", Kind.REAL, nullable=False), pa.array([1.0, math.nan]), "is missing"),
    (Column("category", Kind.CATEGORY, nullable=False), pa.array(["x", None]), "is missing"),
]


@pytest.mark.parametrize(("column", "array", "what"), BAD_VALUES)
def test_values_that_are_refused(tables: Tables, column: Column, array: pa.Array, what: str) -> None:
    problems = refused(tables, as_parquet(pa.table({column.name: array})), column)
    assert problems == (Problem(f"row 2, column {column.name}", what),)


BAD_TYPES: list[tuple[Column, pa.Array, str]] = [
    (INTEGER, pa.array(["1", "2"]), "must be of a numeric type"),
    (INTEGER, pa.array([True, False]), "must be of a numeric type"),
    (INTEGER, pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 2), "must be of a numeric type"),
    (INTEGER, pa.array([[1], [2]]), "must be of a numeric type"),
    (REAL, pa.array([{"a": 1.0}] * 2), "must be of a numeric type"),
    (REAL, pa.array(["1.5", "2"]).dictionary_encode(), "must be of a numeric type"),
    (MONEY, pa.array([b"1", b"2"]), "must be of a numeric type"),
    (BOOLEAN, pa.array([1.0, 0.0]), "must be of a boolean type"),
    (BOOLEAN, pa.array(["true", "false"]), "must be of a boolean type"),
    (CATEGORY, pa.array([1, 2]), "must be of a text type"),
    (CATEGORY, pa.array([1, 2], pa.date32()), "must be of a text type"),
    (CATEGORY, pa.array([1, 2], pa.duration("s")), "must be of a text type"),
    *(
        (UNITS, array, "must be of a text, whole-number, decimal, date or binary type")
        for array in (pa.array([1.5, 2.5]), pa.array([1, 2], pa.time32("s")), pa.array([[b"a"], [b"b"]]))
    ),
]


@pytest.mark.parametrize(("column", "array", "what"), BAD_TYPES)
def test_types_that_are_refused(tables: Tables, column: Column, array: pa.Array, what: str) -> None:
    problems = refused(tables, as_parquet(pa.table({column.name: array})), column)
    assert problems == (Problem(f"column {column.name}", what),)


def test_columns_missing_or_twice(tables: Tables) -> None:
    table = pa.table([pa.array([1, 2])] * 3, names=["real", "real", "other"])
    assert refused(tables, as_parquet(table), INTEGER, REAL) == (
        Problem("column integer", "is missing from the file"),
        Problem("column real", "is in the file more than once"),
    )


def test_dots_in_names_are_no_paths(tables: Tables) -> None:
    table = pa.table({"a.b": [1, 2], "a": [{"b": 3}, {"b": 4}], "a.b.c": [5, 6]})
    file_id = tables.intake.ingest(
        as_parquet(table), [Column("a.b", Kind.INTEGER), Column("a.b.c", Kind.INTEGER)], []
    ).file_id
    assert [c.to_pylist() for c in pq.read_table(tables._path(file_id)).columns] == [[1, 2], [5, 6]]


@pytest.mark.parametrize("rows", [0, 1])
def test_fewer_than_two_rows(tables: Tables, rows: int) -> None:
    table = pa.table({"integer": pa.array([1] * rows, pa.int64())})
    assert refused(tables, as_parquet(table), INTEGER) == (
        Problem("file", "has fewer than two rows, so no statistic could be released"),
    )


def test_rows_are_counted_through_batches_and_groups(tables: Tables) -> None:
    values = [1.0] * 40_000
    values[30_000] = values[39_999] = 0.5
    upload = as_parquet(pa.table({"integer": values}), row_group_size=7000)
    assert [problem.where for problem in refused(tables, upload, INTEGER)] == ["rows 30001 and 40000, column integer"]


def test_damaged_files(tables: Tables) -> None:
    whole = as_parquet(pa.table({"integer": [1, 2, 3]})).getvalue()
    for content in (b"PAR1", whole[:-1], whole[: len(whole) // 2], whole[:4] + whole[5:], b"PAR1" + b"\0" * 100):
        assert refused(tables, content, INTEGER) == (UNREADABLE,)
    # An encrypted file begins with another mark.
    assert refused(tables, b"PARE" + whole[4:-4] + b"PARE", INTEGER) == (UNREADABLE,)


def test_texts_that_are_not_utf_8(tables: Tables) -> None:
    offsets, content = pa.array([0, 1, 2], pa.int32()).buffers()[1], pa.py_buffer(b"a\xff")
    broken = pa.Array.from_buffers(pa.string(), 2, [None, offsets, content])
    for dictionary in (True, False):
        upload = as_parquet(pa.table({"category": broken}), use_dictionary=dictionary)
        assert refused(tables, upload, CATEGORY) == (UNREADABLE,)


def test_a_long_text_repeated_is_no_bomb(tables: Tables) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 200_000, pa.int32()), pa.array(["x" * 1_000_000]))
    before = pa.default_memory_pool().max_memory()
    problems = refused(tables, as_parquet(pa.table({"category": texts})), CATEGORY)
    assert problems[0].where == "100,000 rows, column category"
    assert problems[0].what == "has more than 10,000 characters (the first are rows 1, 2 and 3)"
    assert pa.default_memory_pool().max_memory() - before < 2**28


@pytest.mark.slow
def test_dictionaries_are_in_memory_for_one_row_group_at_a_time(tables: Tables) -> None:
    texts = [f"{i:08d}{'x' * 9_992}" for i in range(20_000)]
    upload = as_parquet(pa.table({"category": texts}), row_group_size=500, dictionary_pagesize_limit=2**30)
    del texts
    peak = 0
    for batch in batches_of(upload, FileFormat())([CATEGORY], Problems()):
        peak = max(peak, pa.total_allocated_bytes())
        del batch
    assert peak < 2**26


def test_small_row_groups_with_dictionaries_of_their_own(tables: Tables) -> None:
    values = [f"{i // 2}{'é' * (i % 50)}" for i in range(500)]
    assert stored(tables, TEXTS, pa.array(values), row_group_size=10) == values


def test_a_row_group_with_more_texts_than_a_batch_has_rows(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet_file, "MAX_ROWS_IN_BATCH", 10)
    values = [None if i % 7 == 0 else f"{i % 40}" for i in range(100)]
    assert stored(tables, TEXTS, pa.array(values)) == values


@pytest.mark.parametrize(
    ("module", "limit"),
    [
        *((parquet_file, limit) for limit in ("MAX_ROWS", "MAX_BYTES_IN_CHUNK", "MAX_BYTES_IN_PAGES")),
        *((footer, limit) for limit in ("MAX_BYTES_IN_FOOTER", "MAX_ELEMENTS_IN_FOOTER")),
        *((page_sizes, limit) for limit in ("MAX_PAGES", "MAX_BYTES_IN_HEADERS")),
    ],
)
def test_too_large_a_file(tables: Tables, monkeypatch: pytest.MonkeyPatch, module: ModuleType, limit: str) -> None:
    monkeypatch.setattr(module, limit, 0 if module is page_sizes else 2)
    (problem,) = refused(tables, as_parquet(pa.table({"integer": [1, 2, 3]})), INTEGER)
    assert problem.where == "file"
    assert problem != UNREADABLE


def test_files_damaged_at_random_are_read_or_refused(tables: Tables) -> None:
    columns = [REAL, INTEGER, MONEY, BOOLEAN, CATEGORY, ID, Column("at", Kind.SECONDS)]
    raw = pa.binary(16)
    table = pa.table({
        "id": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes([i % 7]) * 16 for i in range(300)], raw)),
        "at": pa.array(range(300), pa.timestamp("s")),
        "real": [i / 7 for i in range(300)],
        "integer": pa.array(range(300), pa.uint64()),
        "money": pa.array([D(i) / 100 for i in range(300)], pa.decimal128(12, 2)),
        "boolean": [i % 3 == 0 for i in range(300)],
        "category": ["ab"[i % 2] for i in range(300)],
    })  # fmt: skip
    options = {"compression": "zstd", "row_group_size": 100, "use_deprecated_int96_timestamps": True}
    whole = as_parquet(table, **options).getvalue()
    generator = random.Random(11)
    outcomes = set()
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(generator.choice([1, 2, 10])):
            damaged[generator.randrange(4, len(whole))] = generator.randrange(256)
        try:
            outcomes.add(tables.intake.ingest(io.BytesIO(damaged), columns, []).n > 0)
        except InvalidFile:
            outcomes.add("refused")
    assert outcomes == {True, "refused"}
