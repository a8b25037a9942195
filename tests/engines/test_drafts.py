"""What `dataset suggest` drafts, an upload accepts once it is confirmed; the rest is left out with the reason."""

import codecs
import csv
import gc
import gzip
import io
import json
import os
import random
import time
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from workbooks import Cell, workbook

from app.api.json_codec import decode
from app.api.routers.datasets import to_registration
from app.api.schemas.base import validate
from app.api.schemas.datasets import DatasetRequest
from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile
from app.engines.ingest.drafting import draft_texts
from app.engines.ingest.drafting.draft import Draft, draft_file, draft_metadata
from app.engines.ingest.file_format import FileFormat
from app.engines.storage.tables import Tables
from app.services.planning.columns import decode_columns, encode_columns

NAMES = ["", " x ", "x", "sex", "a,b", 'say "x"', "ß", "x\ny", "n" * 300, "0", "'; DROP", "🐧", "\t", "x_1", "column0"]
CELLS = ["1", "2.5", "-3", "0x1F", "1e5", "", "NA", "true", "False", "yes", "2024-02-29", "12:30", "1,250", " 7", "+4"]
CELLS += ["1,5", "-0,25", "1.250,00", "6,718.5", "1\u00a0234", "12 %", "€ 5", "1.234 €", "$7", " no ", "ja", "-", "N/A"]
CELLS += ["31.12.2024", "01/02/2024", "3/31/2021 2:00 PM", "2.1.2024 09:30"]
CELLS += ["text", "9223372036854775808", "1_000", "inf", "nan", "1.", ".5", "2024-01-01 10:00:00", "x\ny", "t" * 300]

PEOPLE = "âge;ville\n".encode() + "".join(f"{i % 90};{('Tours', 'Orléans')[i % 2]}\n" for i in range(20_000)).encode()

ZSTD = pa.Codec("zstd")
SKIPPED = b"\x5a\x2a\x4d\x18" + (6).to_bytes(4, "little") + b"a name"  # a frame that is skipped


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def written(path: Path, rows: list[list[str]], encoding: str = "utf-8", **dialect: Any) -> Path:
    with path.open("w", newline="", encoding=encoding, errors="replace") as file:
        csv.writer(file, **dialect).writerows(rows)
    return path


def upload(tables: Tables, path: Path, draft: Draft) -> int:
    confirmed = {name: column | {"unconfirmed": []} for name, column in draft.columns.items()}
    metadata = {"name": "drafted", "epsilon_limit": "1"} | draft.metadata() | {"columns": confirmed}
    registration = to_registration(validate(DatasetRequest, decode(json.dumps(metadata).encode())))
    columns = decode_columns(encode_columns(registration.columns))
    file = io.BytesIO(path.read_bytes())
    return tables.intake.ingest(file, list(columns.values()), registration.null_values, registration.form).n


@pytest.mark.parametrize("seed", range(40))
def test_what_is_drafted_is_accepted(tables: Tables, tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    header = [rng.choice(NAMES) for _ in range(rng.randint(1, 6))]
    kinds = [rng.sample(CELLS, rng.randint(1, 4)) for _ in header]
    rows = [[rng.choice(kind) for kind in kinds] for _ in range(rng.randint(2, 30))]
    encoding = rng.choice(["utf-8", "utf-8-sig", "utf-16", "cp1252", "latin-1"])
    dialect = {"delimiter": rng.choice(",;\t|"), "lineterminator": rng.choice(["\n", "\r\n"])}
    path = written(tmp_path / "t.csv", [header, *rows], encoding, **dialect)
    known = FileFormat(header_row=rng.choice([None, 1]))
    try:
        draft = draft_metadata(path, known, has_header=known.header_row is not None or rng.random() < 0.7)
    except ValueError:  # such as a header of one blank name
        return
    if draft.columns:
        assert upload(tables, path, draft) >= 2


def test_exactly_this_file_is_drafted(tmp_path: Path) -> None:
    folder = tmp_path / "sex=F"
    folder.mkdir()
    written(folder / "a1.csv", [["x", "t"], ["1", "other"], ["2", "file"]])
    path = written(folder / "a[1]*.csv", [["x", "sex"], ["5", "m"], ["6", "f"]])
    assert draft_metadata(path).columns == {
        "x": {"kind": "integer", "bounds": ["5", "6"], "unconfirmed": ["bounds"]},
        "sex": {"kind": "category", "categories": ["f", "m"], "unconfirmed": ["categories"]},
    }
    pq.write_table(pa.table({"x": [1, 2]}), folder / "t[1].parquet")
    assert [*draft_metadata(folder / "t[1].parquet").columns] == ["x"]


def test_each_type_of_parquet_is_drafted_as_an_upload_reads_it(tables: Tables, tmp_path: Path) -> None:
    ids = pa.array([bytes(range(16)), b"\xff" * 16, None], pa.binary(16))
    columns = {
        "uuid": pa.ExtensionArray.from_storage(pa.uuid(), ids),
        "bytes": pa.array([b"a", "é".encode(), None]),
        "no texts": pa.array([b"a", b"\xff", None]),
        "dictionary": pa.DictionaryArray.from_arrays(pa.array([0, None, 1]), pa.array(["a", "b"])),
        "unsigned": pa.array([1, 2**63 - 1, None], pa.uint64()),
        "too large": pa.array([1, 2**64 - 1, None], pa.uint64()),
        "whole": pa.array([Decimal(-5), Decimal(7), None], pa.decimal128(38, 0)),
        "money": pa.array([Decimal("-5.25"), Decimal(7), None], pa.decimal128(38, 2)),
        "huge": pa.array([Decimal("-5.25"), Decimal(10**30), None], pa.decimal256(60, 2)),
        "half": pa.array([0.5, 2, None], pa.float16()),
        "month": pa.array([date(2020, 2, 1), date(2020, 3, 1), None], pa.date64()),
        "at": pa.array([0, 3_600 * 10**9, None], pa.timestamp("ns")),
        "duration": pa.array([1, 2, None], pa.duration("s")),
        "time": pa.array([1, 2, None], pa.time32("s")),
    }
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=True, store_decimal_as_integer=True)
    draft = draft_metadata(path)
    kinds = {name: column["kind"] for name, column in draft.columns.items()}
    assert kinds == {
        **dict.fromkeys(["uuid", "bytes", "dictionary"], "category"),
        **dict.fromkeys(["unsigned", "whole"], "integer"),
        **dict.fromkeys(["too large", "huge", "half"], "real"),
        "money": "decimal",
        "month": "date",
        "at": "timestamp",
    }
    assert draft.columns["uuid"]["categories"][0] == "00010203-0405-0607-0809-0a0b0c0d0e0f"
    assert draft.columns["bytes"]["categories"] == ["a", "é"]
    assert draft.columns["money"]["bounds"] == ["-5.25", "7.00"]
    assert draft.left_out == {
        "no texts": "row 2 is not a text in UTF-8, which an upload would refuse",
        "duration": "must be of a numeric type: an upload would refuse it",
        "time": "looks like names, remarks, times or a constant",
    }
    assert upload(tables, path, draft) == 3


def test_why_columns_are_left_out(tmp_path: Path) -> None:
    header = ["", " x ", "twice", "twice", "hex", "constant", "a\tb"]
    path = written(
        tmp_path / "t.csv", [header, *([str(i), str(i), "1", "2", f"0x{i}F", "7", str(i)] for i in range(9))]
    )
    draft = draft_metadata(path)
    assert [*draft.columns] == [" x ", "hex"]
    assert draft.left_out == {
        "column 1": "has no name that can be declared",
        "twice": "is in the header more than once",
        "constant": "looks like names, remarks, times or a constant",
        "a\tb": "has no name that can be declared",
    }


@pytest.mark.parametrize(
    "content",
    [
        gzip.compress(PEOPLE),
        gzip.compress(PEOPLE[:400]) + bytes(600) + gzip.compress(PEOPLE[400:]) + bytes(10_240),
        SKIPPED + ZSTD.compress(PEOPLE[:400], asbytes=True) + SKIPPED + ZSTD.compress(PEOPLE[400:], asbytes=True),
        PEOPLE.decode().encode("utf-16"),
        codecs.BOM_UTF16_BE + PEOPLE.decode().encode("utf-16-be"),
        gzip.compress(PEOPLE.decode().encode("utf-16")),
    ],
)
def test_compressed_files_and_utf_16_are_read(tables: Tables, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t.csv").write_bytes(content)
    draft = draft_metadata(tmp_path / "t.csv")
    assert draft.columns["ville"]["categories"] == ["Orléans", "Tours"]
    assert upload(tables, tmp_path / "t.csv", draft) == 20_000


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"PK\x03\x04" + b"\0" * 26 + b"[Content_Types].xml", "is a damaged Excel workbook"),
        (b"PK\x03\x04" + b"\0" * 26 + b"t.csv", "is a ZIP archive"),
        (gzip.compress(b"PAR1" + b"\0" * 100, mtime=0), "is a Parquet file in a compressed one"),
        (gzip.compress(b"PK\x03\x04" + b"\0" * 100, mtime=0), "is a workbook or an archive in a compressed file"),
        (gzip.compress(gzip.compress(b"x\n1\n", mtime=0), mtime=0), "is compressed twice: decompress it once"),
        (gzip.compress(b"x\n1\n2\n" * 100, mtime=0)[:-5], "is damaged or truncated"),
        (gzip.compress(b"x\n1\n2\n", mtime=0) + b"more", "is damaged or truncated"),
        (ZSTD.compress(b"x\n1\n2\n", asbytes=True) + bytes(9), "is damaged or truncated"),
        (codecs.BOM_UTF16_LE + b"x\0\n\0" + b"\0\xd8", "is not valid UTF-16"),
        (codecs.BOM_UTF32_LE + b"x\0\0\0", "is in UTF-32: save it as UTF-8"),
        (b"BZh9" + b"\0" * 100, "is compressed with bzip2: decompress it"),
        (b"SQLite format 3\0" + b"\0" * 100, "is an SQLite database"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",  # the same in every process
)
def test_other_kinds_of_files_are_named(tables: Tables, tmp_path: Path, content: bytes, told: str) -> None:
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(ValueError, match=told):
        draft_metadata(tmp_path / "t")
    with pytest.raises(InvalidFile, match=told):
        tables.intake.ingest(io.BytesIO(content), [Column("x", Kind.INTEGER)], [])


@pytest.mark.parametrize(
    ("cells", "order", "kind"),
    [
        (["31.12.2024", "1.2.2024"], "day-month-year", "date"),
        (["01.02.2024", "02.03.2024"], "day-month-year", "date"),
        (["12/31/2024", "1/2/2024"], "month-day-year", "date"),
        (["3/31/2024 12:00 AM", "1/2/2024 2:30 PM"], "month-day-year", "timestamp"),
        (["01/02/2024", "02/03/2024"], None, None),
        (["31/12/2024", "12/31/2024"], None, "category"),
        (["31.02.2024", "1.2.2024"], None, "category"),
        (["13/1/2024 13:00 PM", "1/2/2024 2:30 PM"], None, "category"),
    ],
)
def test_the_order_of_dates_is_detected_if_it_is_sure(
    tables: Tables, tmp_path: Path, cells: list[str], order: str | None, kind: str | None
) -> None:
    path = written(tmp_path / "t.csv", [["on", "sex"], [cells[0], "f"], [cells[1], "m"]])
    draft = draft_metadata(path)
    assert draft.form.date_order == order
    assert draft.columns.get("on", {}).get("kind") == kind
    if kind is None:
        assert "cannot be told apart" in draft.left_out["on"]
        draft = draft_metadata(path, FileFormat(date_order="day-month-year"))
        assert draft.columns["on"]["bounds"] == ["2024-02-01", "2024-03-02"]
    assert upload(tables, path, draft) == 2


def test_a_workbook_is_drafted(tables: Tables, tmp_path: Path) -> None:
    rows: list[list[Cell]] = [["Preise", None], ["größe", "am", "ja", "stadt"]]
    rows += [[i + 0.5, date(2024, 1, i), i % 2 == 0, ("Köln", "#N/A")[i % 2]] for i in range(1, 20)]
    (tmp_path / "t.xlsx").write_bytes(workbook({"Notes": [["x"]], "Preise": rows}))
    with pytest.raises(ValueError, match="has 2 visible sheets: declare as `sheet`"):
        draft_metadata(tmp_path / "t.xlsx")
    draft = draft_metadata(tmp_path / "t.xlsx", FileFormat(sheet="Preise", header_row=2))
    assert draft.metadata() == {
        "format": {"header_row": 2, "sheet": "Preise"},
        "columns": {
            "größe": {"kind": "real", "bounds": ["1.5", "19.5"], "unconfirmed": ["bounds"]},
            "am": {"kind": "date", "bounds": ["2024-01-01", "2024-01-19"], "unconfirmed": ["bounds"]},
            "ja": {"kind": "boolean"},
            "stadt": {"kind": "category", "categories": ["Köln"], "unconfirmed": ["categories"]},
        },
    }
    assert upload(tables, tmp_path / "t.xlsx", draft) == 19


def test_the_content_of_a_compressed_file_is_limited(tables: Tables) -> None:
    bomb = gzip.compress(b"x,y\n" + (b"1," + b" " * 4_094 + b"\n") * 2**13)  # long rows, since few are soon read
    with pytest.raises(InvalidFile, match="bytes when it is decompressed"):
        tables.intake.ingest(io.BytesIO(bomb), [Column("x", Kind.INTEGER)], [""])


def test_what_comes_through_a_pipe_is_drafted(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1, 2]}), tmp_path / "t.parquet")
    for content in (b"x\n1\n2\n", (tmp_path / "t.parquet").read_bytes()):
        end, start = os.pipe()
        os.write(start, content)
        os.close(start)
        assert draft_metadata(Path(f"/dev/fd/{end}")).columns["x"]["bounds"] == ["1", "2"]
        os.close(end)


def wide(path: Path, kind: str, width: int) -> Path:
    """Write a small table with so many columns."""
    if kind == "csv":
        rows = [[f"c{i}" for i in range(width)], ["1"] * width, ["2"] * width]
        return written(path, rows)
    columns = {
        "numbers": pa.array([1, 2]),
        "texts": pa.array(["a", "b"]),
        "dates": pa.array([0, 3_600], pa.timestamp("s")),
        "unsuitable": pa.array([1, 2], pa.duration("s")),
    }
    pq.write_table(pa.table({f"c{i}": columns[kind] for i in range(width)}), path)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "width"), [("csv", 2_000), *((each, 150) for each in ("numbers", "texts", "dates", "unsuitable"))]
)
def test_the_time_of_a_draft_is_linear_in_the_number_of_columns(tmp_path: Path, kind: str, width: int) -> None:
    """A count of calls would miss what is quadratic within one call, of a list or of DuckDB."""
    paths = {factor: wide(tmp_path / f"t{factor}", kind, factor * width) for factor in (1, 8)}
    draft_metadata(wide(tmp_path / "first", kind, 1))  # what is done once in a process

    def seconds(factor: int) -> float:
        gc.disable()  # or it looks through all when it likes
        try:
            started = time.process_time()
            draft = draft_metadata(paths[factor])
            ended = time.process_time()
        finally:
            gc.enable()
        assert len(draft.left_out if kind == "unsuitable" else draft.columns) == factor * width
        return ended - started

    # 8 if it is linear, 64 if it is quadratic; again, since other processes may disturb one that is short.
    assert any(seconds(8) < 24 * seconds(1) for _ in range(3))


@pytest.mark.parametrize("kind", ["csv", "numbers"])
def test_too_many_columns_are_refused_before_any_is_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = wide(tmp_path / "t", kind, 200)
    with path.open("rb") as file:
        assert len(draft_file(file, path, max_bytes=200 * 100).columns) == 200
        monkeypatch.delattr(draft_texts, "TextProfile")
        with pytest.raises(InvalidFile, match="too many columns to be drafted"):
            draft_file(file, path, max_bytes=200 * 20)


def test_nested_columns_are_counted_once(tmp_path: Path) -> None:
    pairs = pa.array([{f"part_of_the_pair_{i}": i for i in range(50)}] * 2)
    pq.write_table(pa.table({"pairs": pairs, "lists": pa.array([[1], [2]]), "x": [1, 2]}), tmp_path / "t")
    with (tmp_path / "t").open("rb") as file:
        assert [*draft_file(file, tmp_path / "t", max_bytes=200).columns] == ["x"]


def test_columns_that_do_not_fit_into_memory_together_are_drafted_one_by_one(tmp_path: Path) -> None:
    texts = {f"c{i}": [chr(97 + i) * 3_000_000, "b"] for i in range(12)}
    pq.write_table(pa.table({**texts, "x": [1, 2]}), tmp_path / "t", use_dictionary=False)
    with (tmp_path / "t").open("rb") as file:
        draft = draft_file(file, tmp_path / "t", settings={"memory_limit": "30MB", "threads": 1})
    assert [*draft.columns] == ["x"]
    assert {*draft.left_out.values()} == {"looks like names, remarks, times or a constant"}
