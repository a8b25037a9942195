"""What a Parquet file's pages claim is known before Arrow makes room for it."""

import io
import struct
from pathlib import Path
from typing import Any

import parquet_bombs
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_world import CATEGORY, INTEGER, as_parquet

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile
from app.engines.ingest.drafting.draft import draft_metadata
from app.engines.ingest.parquet import footer, page_sizes
from app.engines.ingest.parquet.footer import TooLargeError, read_row_groups
from app.engines.ingest.parquet.page_sizes import Pages, examine_pages
from app.engines.ingest.parquet.thrift import Compact, MalformedError, TooManyElementsError
from app.engines.storage.tables import Tables

NUMBERS = pa.table({"integer": list(range(5000)), "other": list(range(5000))})
TEXTS = pa.table({"category": pa.array([str(i) for i in range(5000)])})
X = Column("x", Kind.INTEGER)
I32 = 0x15  # the next field, a whole number


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


def examined(file: io.BytesIO, names: list[str]) -> Pages:
    return examine_pages(file, read_row_groups(file), names)


def lie(table: pa.Table, place: int, claim: int, **options: Any) -> bytes:
    """A file whose first page claims another number: its size (0), its compressed size (1).

    What the header grows by is taken from the checksum, which nobody verifies, so that all else stays where it is.
    """
    whole = as_parquet(table, compression="snappy", write_page_checksum=True, **options).getvalue()
    at, fields = 4, []
    for _ in range(4):  # the page's kind, both sizes, the checksum
        assert whole[at] == I32
        end = at + 1
        while whole[end] > 127:
            end += 1
        fields.append(whole[at + 1 : end + 1])
        at = end + 1
    size = sum(map(len, fields))
    fields[1 + place] = varint(2 * claim)
    fields[3] = b"\x80" * (size - sum(map(len, fields[:3])) - 1) + b"\x01"
    assert sum(map(len, fields)) == size
    lying = whole[:4] + b"".join(bytes([I32]) + field for field in fields) + whole[at:]
    assert len(lying) == len(whole)
    return lying


def refused(tables: Tables, content: bytes, *columns: Any) -> str:
    with pytest.raises(InvalidFile) as caught:
        tables.intake.ingest(io.BytesIO(content), columns, [])
    return str(caught.value)


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize(
    ("table", "column", "options"),
    [
        (NUMBERS, INTEGER, {"use_dictionary": False}),
        (NUMBERS, INTEGER, {"use_dictionary": False, "data_page_version": "2.0"}),
        (TEXTS, CATEGORY, {}),  # the first page is the dictionary
    ],
)
def test_a_page_that_claims_two_gibibytes(
    tables: Tables, table: pa.Table, column: Any, options: dict[str, Any], place: int
) -> None:
    before = pa.default_memory_pool().max_memory()
    told = refused(tables, lie(table, place, 2**31 - 1, **options), column)
    assert told.startswith("file: ")
    assert "too large" in told or "not a readable Parquet file" in told
    assert pa.default_memory_pool().max_memory() - before < 2**26


def test_the_limit_is_told(tables: Tables) -> None:
    assert "has pages that are too large" in refused(tables, lie(NUMBERS, 0, 2**30, use_dictionary=False), INTEGER)


def test_a_file_of_countless_pages(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = {"data_page_size": 1, "write_batch_size": 100, "max_rows_per_page": 100, "use_dictionary": False}
    file = as_parquet(NUMBERS, row_group_size=1000, **pages)  # 50 pages in five groups
    monkeypatch.setattr(page_sizes, "MAX_PAGES", 50)
    assert tables.intake.ingest(file, [INTEGER], []).n == 5000
    monkeypatch.setattr(page_sizes, "MAX_PAGES", 49)
    assert "has too many pages" in refused(tables, file.getvalue(), INTEGER)


def test_columns_that_are_not_read_may_claim_what_they_like(tables: Tables) -> None:
    swapped = NUMBERS.select(["other", "integer"])
    content = lie(swapped, 0, 2**31 - 1, use_dictionary=False)
    assert tables.intake.ingest(io.BytesIO(content), [INTEGER], []).n == 5000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_honest_claims(compression: str, version: str) -> None:
    """Of one page a chunk: the chunk's sizes but the header's; with smaller pages as much less."""
    options = {"compression": compression, "data_page_version": version, "use_dictionary": False}
    file = as_parquet(NUMBERS, **options)
    chunk = pq.ParquetFile(file).metadata.row_group(0).column(0)
    both = chunk.total_uncompressed_size + chunk.total_compressed_size
    assert both - 200 < examined(file, ["integer"]).most_bytes < both
    assert both < examined(file, ["integer", "other"]).most_bytes < 2 * both
    assert examined(file, []).most_bytes == 0
    small = as_parquet(NUMBERS, data_page_size=1000, write_batch_size=100, **options)
    assert 0 < examined(small, ["integer"]).most_bytes < both / 10
    groups = as_parquet(NUMBERS, row_group_size=1000, **options)
    assert both / 10 < examined(groups, ["integer"]).most_bytes < both / 4


def test_a_dictionary_counts_by_its_values() -> None:
    few, many = (as_parquet(pa.table({"category": [str(i % n) for i in range(5000)]})) for n in (2, 5000))
    assert examined(many, ["category"]).most_bytes - examined(few, ["category"]).most_bytes > 16 * 4998


def test_long_statistics_are_read_too() -> None:
    texts = pa.table({"category": [str(i) * 2000 for i in range(9)]})
    file = as_parquet(texts, data_page_version="2.0", write_statistics=True, write_page_index=False)
    assert examined(file, ["category"]).most_bytes > 0


# One row group, of one chunk of the column x with one value, of which a page is far beyond the end.
FAR = b"\x49\x1c\x19\x1c\x3c\x39\x18\x01x\x26\x02\x46" + varint(2**66) + bytes(4)


@pytest.mark.parametrize("content", [b"", b"\0", FAR, b"\x49" + b"\x19" * 5000, b"\x4c" + b"\x1c" * 5000])
def test_what_is_no_footer(content: bytes) -> None:
    with pytest.raises(MalformedError):
        examined(io.BytesIO(b"PAR1" + content + struct.pack("<I", len(content)) + b"PAR1"), ["x"])


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + struct.pack("<I", 2**32 - 1) + b"PAR1"])
def test_what_has_no_footer(content: bytes) -> None:
    with pytest.raises(MalformedError):
        examined(io.BytesIO(content), ["x"])


def test_the_protocol() -> None:
    shape = {1: None, 3: {1: None}, 20: {2: None}}
    fields = [
        b"\x15" + varint(2 * 300),  # 1: 300
        b"\x11",  # 2: true, skipped
        b"\x1c" + b"\x15\x01" + b"\x18\x02ab" + b"\0",  # 3: a struct of -1 and a text, which is skipped
        b"\x17" + bytes(8),  # 4: a double, skipped
        b"\x09" + varint(2 * 20) + b"\x2c" + b"\x25\x04\0" + b"\x25\x06\0",  # 20: two structs, by a long id
        b"\0",
    ]
    reader = Compact(b"".join(fields) + b"more", most_elements=2)
    assert reader.struct(shape) == {1: 300, 3: {1: -1}, 20: [{2: 2}, {2: 3}]}
    assert reader.place == sum(map(len, fields))
    for broken in (b"\x15\x02\x05\x02\x04\0", b"\x1b\0\0", b"\x15" + b"\xff" * 11):  # twice, a map, without an end
        with pytest.raises(MalformedError):
            Compact(broken).struct(shape)
    with pytest.raises(IndexError):
        Compact(b"\x18\x05ab").struct(shape)


def test_what_is_skipped() -> None:
    """Every kind of value, in a field, in a list and in a struct in a list, and nothing of what Parquet never has."""
    long = varint(200) + bytes(200)
    values = {5: [b"\0", b"\x80\x01"], 6: [b"\x02"], 8: [b"\0", b"\1a", long], 7: [bytes(8)], 3: [b"a"], 1: [b"\1"]}
    lists = [bytes([len(each) << 4 | kind]) + b"".join(each) for kind, each in values.items()]
    lists += [b"\xf8" + varint(20) + b"\0" * 20, b"\x3c" + b"\x11\0" + b"\0" + b"\x15\2\x19\x15\2\0", b"\x05"]
    fields = [bytes([16 | kind]) + value for kind, each in values.items() if kind != 1 for value in each]
    fields += [b"\x11", b"\x05\xc8\x01\2", *(b"\x19" + each for each in lists)]
    content = b"".join(fields)
    for skipped in (content + b"\0", b"\x1c" + content + b"\0\0", b"\x19\x2c" + (content + b"\0") * 2 + b"\0"):
        reader = Compact(skipped + b"more")
        assert reader.struct({}) == {}
        assert reader.place == len(skipped)
        for end in range(len(skipped)):
            with pytest.raises(IndexError):
                Compact(skipped[:end]).struct({})
    for never in (b"\x19\x1b\0\0", b"\x19\x19\x15\2\0", b"\x1d\0", b"\x1c" * 20, b"\x19\x1c" * 20):
        with pytest.raises(MalformedError):
            Compact(never).struct({})


def test_a_footer_has_only_so_many_elements() -> None:
    shape = {1: {1: {1: None}}}
    struct = b"\x19\x2c\0\0\0"
    content = b"\x19\x2c" + struct * 2 + b"\0"
    assert Compact(content, most_elements=6).struct(shape) == {1: [{1: [{}, {}]}] * 2}
    with pytest.raises(TooManyElementsError):
        Compact(content, most_elements=5).struct(shape)


def test_headers_that_are_read_again_count_again(monkeypatch: pytest.MonkeyPatch) -> None:
    content = io.BytesIO(parquet_bombs.shared_long_statistics(groups=4, size=300))
    size = 256 + 600
    monkeypatch.setattr(page_sizes, "MAX_BYTES_IN_HEADERS", 4 * (size + 50))
    assert examined(content, ["x"]).most_bytes == 16
    monkeypatch.setattr(page_sizes, "MAX_BYTES_IN_HEADERS", 4 * size)
    with pytest.raises(TooLargeError, match="headers of pages that are too large"):
        examined(content, ["x"])


def test_a_file_of_countless_row_groups(tables: Tables, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(footer, "MAX_ROW_GROUPS", 3)
    assert tables.intake.ingest(io.BytesIO(parquet_bombs.row_groups_of_one_row(3)), [X], []).n == 3
    assert "has more than 3 row groups" in refused(tables, parquet_bombs.row_groups_of_one_row(4), X)
    (tmp_path / "t").write_bytes(parquet_bombs.row_groups_of_one_row(4))
    with pytest.raises(ValueError, match="has more than 3 row groups"):
        draft_metadata(tmp_path / "t")


def test_a_deep_schema(tables: Tables) -> None:
    assert "fewer than two rows" in refused(tables, parquet_bombs.deep_schema(98), X)
    assert "has groups of columns in more than 100 others" in refused(tables, parquet_bombs.deep_schema(99), X)


@pytest.mark.slow
@pytest.mark.parametrize("bomb", parquet_bombs.BOMBS)
def test_the_worst_files(tables: Tables, bomb: str) -> None:
    """They are read or refused in a sentence. benchmarks/hostile_parquet.py measures the time and the memory."""
    try:
        assert tables.intake.ingest(io.BytesIO(parquet_bombs.BOMBS[bomb]()), [X], []).n >= 2
    except InvalidFile as error:
        assert "file: has " in str(error) or "not a readable Parquet file" in str(error)  # noqa: PT017
