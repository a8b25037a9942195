"""What a Parquet file's pages claim is known before Arrow makes room for it."""

import io
import struct
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_world import CATEGORY, INTEGER, as_parquet

from app.engines.errors import InvalidFile
from app.engines.ingest import page_sizes
from app.engines.ingest.page_sizes import examine_pages
from app.engines.ingest.thrift import Compact, MalformedError
from app.engines.storage.tables import Tables

NUMBERS = pa.table({"integer": list(range(5000)), "other": list(range(5000))})
TEXTS = pa.table({"category": pa.array([str(i) for i in range(5000)])})
I32 = 0x15  # the next field, a whole number


def varint(value: int) -> bytes:
    return bytes([value & 127 | 128]) + varint(value >> 7) if value > 127 else bytes([value])


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
        tables.ingest(io.BytesIO(content), columns, [])
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
    assert tables.ingest(file, [INTEGER], []).n == 5000
    monkeypatch.setattr(page_sizes, "MAX_PAGES", 49)
    assert "has too many pages" in refused(tables, file.getvalue(), INTEGER)


def test_columns_that_are_not_read_may_claim_what_they_like(tables: Tables) -> None:
    swapped = NUMBERS.select(["other", "integer"])
    content = lie(swapped, 0, 2**31 - 1, use_dictionary=False)
    assert tables.ingest(io.BytesIO(content), [INTEGER], []).n == 5000


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd"])
def test_honest_claims(compression: str, version: str) -> None:
    """Of one page a chunk: the chunk's sizes but the header's; with smaller pages as much less."""
    options = {"compression": compression, "data_page_version": version, "use_dictionary": False}
    file = as_parquet(NUMBERS, **options)
    chunk = pq.ParquetFile(file).metadata.row_group(0).column(0)
    both = chunk.total_uncompressed_size + chunk.total_compressed_size
    assert both - 200 < examine_pages(file, ["integer"]).most_bytes < both
    assert both < examine_pages(file, ["integer", "other"]).most_bytes < 2 * both
    assert examine_pages(file, []).most_bytes == 0
    small = as_parquet(NUMBERS, data_page_size=1000, write_batch_size=100, **options)
    assert 0 < examine_pages(small, ["integer"]).most_bytes < both / 10
    groups = as_parquet(NUMBERS, row_group_size=1000, **options)
    assert both / 10 < examine_pages(groups, ["integer"]).most_bytes < both / 4


def test_a_dictionary_counts_by_its_values() -> None:
    few, many = (as_parquet(pa.table({"category": [str(i % n) for i in range(5000)]})) for n in (2, 5000))
    assert examine_pages(many, ["category"]).most_bytes - examine_pages(few, ["category"]).most_bytes > 16 * 4998


def test_long_statistics_are_read_too() -> None:
    texts = pa.table({"category": [str(i) * 2000 for i in range(9)]})
    file = as_parquet(texts, data_page_version="2.0", write_statistics=True, write_page_index=False)
    assert examine_pages(file, ["category"]).most_bytes > 0


# One row group, of one chunk of the column x with one value, of which a page is far beyond the end.
FAR = b"\x49\x1c\x19\x1c\x3c\x39\x18\x01x\x26\x02\x46" + varint(2**66) + bytes(4)


@pytest.mark.parametrize("footer", [b"", b"\0", FAR, b"\x49" + b"\x19" * 5000, b"\x4c" + b"\x1c" * 5000])
def test_what_is_no_footer(footer: bytes) -> None:
    with pytest.raises(MalformedError):
        examine_pages(io.BytesIO(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1"), ["x"])


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1" + struct.pack("<I", 2**32 - 1) + b"PAR1"])
def test_what_has_no_footer(content: bytes) -> None:
    with pytest.raises(MalformedError):
        examine_pages(io.BytesIO(content), ["x"])


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
    reader = Compact(b"".join(fields) + b"more")
    assert reader.struct(shape) == {1: 300, 3: {1: -1}, 20: [{2: 2}, {2: 3}]}
    assert reader.place == sum(map(len, fields))
    for broken in (b"\x15\x02\x05\x02\x04\0", b"\x1b\0\0", b"\x15" + b"\xff" * 11):  # twice, a map, without an end
        with pytest.raises(MalformedError):
            Compact(broken).struct(shape)
    with pytest.raises(IndexError):
        Compact(b"\x18\x05ab").struct(shape)
