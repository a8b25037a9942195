"""CSV files: what is read, and what their owners are told."""

import csv
import io
import random
import tracemalloc
from io import BytesIO

import pyarrow.parquet as pq
import pytest
from engine_world import BOOLEAN, CATEGORY, INTEGER, REAL

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile, Problem
from app.engines.ingest import csv_file, csv_rows
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_name

NULLS = ["", "NA", "NaN", "null"]
ALL_PRESENT = Column("integer", Kind.INTEGER, INTEGER.bounds, nullable=False)
REAL_PRESENT = Column("real", Kind.REAL, REAL.bounds, nullable=False)
TEXTS = Column("category", Kind.CATEGORY)  # without categories every text is kept
TEXTS_OF_WHO = Column("who", Kind.CATEGORY)
HEAD = b"integer,category\n"


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def stored(
    tables: Tables, content: bytes, *columns: Column, nulls: list[str] = NULLS, form: FileFormat = PLAIN
) -> list[list[object]]:
    ingested = tables.intake.ingest(BytesIO(content), columns, nulls, form)
    table = pq.read_table(tables._path(ingested.file_id), columns=[encode_name(each.name) for each in columns])
    assert table.num_rows == ingested.n
    return [column.to_pylist() for column in table.columns]


def refused(tables: Tables, content: bytes, *columns: Column, form: FileFormat = PLAIN) -> tuple[Problem, ...]:
    before = set(tables._directory.iterdir())
    with pytest.raises(InvalidFile) as caught:
        tables.intake.ingest(BytesIO(content), columns, NULLS, form)
    assert set(tables._directory.iterdir()) == before
    return caught.value.problems


def test_quotes_line_ends_and_a_mark(tables: Tables) -> None:
    content = (
        b'\xef\xbb\xbf"integer",category,unused\r\n1,"a ""b"", c",x\r\n2,"line\r\nbreak",\r\n3,\xf0\x9f\x90\xa7,"y"'
    )
    assert stored(tables, content, TEXTS, INTEGER) == [['a "b", c', "line\r\nbreak", "🐧"], [1, 2, 3]]


def test_blank_lines(tables: Tables) -> None:
    assert stored(tables, HEAD + b"\n1,a\n\n\r\n2,b\n\n", INTEGER, TEXTS) == [[1, 2], ["a", "b"]]
    # In a table of one column a blank line is a row without a value.
    assert stored(tables, b"integer\n1\n\n2\n", INTEGER) == [[1, None, 2]]


def test_null_texts_are_the_owners(tables: Tables) -> None:
    content = HEAD + b"-999,NA\n5,\n"
    assert stored(tables, content, INTEGER, TEXTS, nulls=["-999"]) == [[None, 5], ["NA", ""]]
    assert stored(tables, content, INTEGER, TEXTS) == [[-999, 5], [None, None]]


def test_columns_that_are_not_declared_are_not_read(tables: Tables) -> None:
    assert stored(tables, b"x,integer,x,y\nfree text,1,,\n?,2,,\n", INTEGER) == [[1, 2]]


ASKED = (
    "If the file has no header, list the names of all its columns in `column_names` in `format`, as they are in order; "
    "if this is the header, declare its line as `header_row` in `format`"
)
NO_HEADER = f"its first line has values where names are expected. {ASKED}"
LIKE_A_VALUE = f"the names in its first line look like values. {ASKED}"
NOT_UTF_8 = "is not UTF-8: save the file as UTF-8, or declare its encoding in `format`, probably `windows-1252`"
NO_BOOLEAN = "is not true, false, 1 or 0: declare other texts as `true_values` and `false_values`"

REFUSALS: list[tuple[bytes, tuple[Column, ...], list[Problem]]] = [
    (b"", (INTEGER,), [Problem("file", "has no header")]),
    (b"\n\n", (INTEGER,), [Problem("file", "has no header")]),
    (b"\n1\n2\n", (INTEGER,), [Problem("file", NO_HEADER)]),
    (b"1,integer\n1,2\n", (INTEGER, REAL), [Problem("file", NO_HEADER)]),
    (b"7,integer\n1,2\n", (Column("7", Kind.INTEGER),), [Problem("file", LIKE_A_VALUE)]),
    (b"F,integer\nM,2\n", (Column("F", Kind.CATEGORY, categories=("F", "M")),), [Problem("file", LIKE_A_VALUE)]),
    (b"integer\n", (INTEGER,), [Problem("file", "has fewer than two rows, so no statistic could be released")]),
    (b"integer\n1\n", (INTEGER,), [Problem("file", "has fewer than two rows, so no statistic could be released")]),
    (b"Integer\n1\n2\n", (INTEGER,),
        [Problem("column integer", "is missing from the header; did you mean 'Integer'?")]),
    (b"integer,integer\n1,2\n1,2\n", (INTEGER,), [Problem("column integer", "is in the header more than once")]),
    (HEAD + b"1,a\n2\n3,c\n", (INTEGER,), [Problem("line 3", "has 1 fields where the header has 2")]),
    (HEAD + b"1,a\n2,b,\n", (INTEGER,), [Problem("line 3", "has 3 fields where the header has 2")]),
    (HEAD + b'1,"a\n\nb"\nx,c\n', (INTEGER,), [Problem("line 5, column integer", "is not a number")]),
    (HEAD + b"1,a\n2.5,b\n", (INTEGER,), [Problem("line 3, column integer", "is not a whole number")]),
    (HEAD + b"1,a\n2,\xff\n", (INTEGER,), [Problem("line 3", NOT_UTF_8)]),
    (HEAD + b"1,a\n2,\xed\xa0\x80\n", (CATEGORY,), [Problem("line 3", NOT_UTF_8)]),
    (b"integer,real\n1,2\nNA,\n", (ALL_PRESENT, REAL_PRESENT), [
        Problem("line 3, column integer", "is missing"), Problem("line 3, column real", "is missing")]),
    (b"real\n1\nnan\n", (REAL_PRESENT,), [Problem("line 3, column real", "is missing")]),
    (b"integer\n1\nx\n", (ALL_PRESENT,), [Problem("line 3, column integer", "is not a number")]),
    (b"boolean\nyes\n1\n", (BOOLEAN,), [Problem("line 2, column boolean", NO_BOOLEAN)]),
]  # fmt: skip


@pytest.mark.parametrize(("content", "columns", "problems"), REFUSALS)
def test_refusals(tables: Tables, content: bytes, columns: tuple[Column, ...], problems: list[Problem]) -> None:
    assert list(refused(tables, content, *columns)) == problems


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (HEAD + b'1,"a\n2,b\n3,c\n', "a quote is not closed"),
        (HEAD + b'1,"a"b\n2,c\n', "a quote is inside a field"),
        (HEAD + b"1,a\rb\n2,c\n", "a carriage return (CR) is inside a line"),
        (HEAD + b"1," + b"x" * 200_000 + b"\n2,c\n", "a field has more than 131,072 characters"),
        (b'"' + b"x" * 200_000, "a field has more than 131,072 characters"),
    ],
)
def test_malformed_rows(tables: Tables, content: bytes, what: str) -> None:
    (problem,) = refused(tables, content, INTEGER)
    assert problem.where == ("line 2" if content.startswith(HEAD) else "line 1")
    assert problem.what.startswith(f"is malformed from here on: {what}")


POUNDS = Column("price £", Kind.DECIMAL, scale=2, symbols=("£",))
LATIN = "price £;who\n£1.5;é\n2 £;\u201c\n"


@pytest.mark.parametrize(
    ("content", "form"),
    [
        (LATIN.encode("cp1252"), FileFormat(encoding="windows-1252")),
        (LATIN.replace("\u201c", "\x93").encode("latin-1"), FileFormat(encoding="windows-1252")),
        (LATIN.encode("utf-8-sig"), FileFormat(encoding="windows-1252")),  # the mark says UTF-8
        (LATIN.replace("\n", "\r").encode(), FileFormat()),
        (LATIN.replace("\n", "\r").encode("utf-16"), FileFormat()),
        (("sep=;\r\n" + LATIN.replace("\n", "\r\n")).encode("utf-8-sig"), FileFormat()),
        (('"SEP=;"\n\n' + LATIN).encode(), FileFormat(delimiter=";")),
        (LATIN.replace(";", "|").encode(), FileFormat()),
        (("A table of prices\nof 2026;;\n\n" + LATIN).encode(), FileFormat(header_row=3)),
        (LATIN[12:].encode(), FileFormat(column_names=("price £", "who"))),
        (LATIN[12:].replace("1.5", "1,5").encode(), FileFormat(column_names=("price £", "who"), decimal=",")),
    ],
)
def test_formats(tables: Tables, content: bytes, form: FileFormat) -> None:
    assert stored(tables, content, POUNDS, TEXTS_OF_WHO, form=form) == [[150, 200], ["é", "\u201c"]]


def test_an_encoding_that_lacks_a_byte_is_refused(tables: Tables) -> None:
    (problem,) = refused(tables, HEAD + b"1,\x81\n2,b\n", INTEGER, form=FileFormat(encoding="windows-1252"))
    assert problem == Problem("file", "has bytes that windows-1252 does not define: it is in another encoding")
    assert "probably `latin-1`" in refused(tables, HEAD + b"1,\x81\n2,b\n", INTEGER)[0].what


def test_utf_8_is_not_taken_for_another_encoding(tables: Tables) -> None:
    """Otherwise a declared `Köln` would be counted as an undeclared text."""
    (problem,) = refused(tables, LATIN.encode(), POUNDS, form=FileFormat(encoding="latin-1"))
    assert problem == Problem("file", "is in UTF-8, and not in latin-1: leave `encoding` out")
    stored(tables, b"x\n1\n2\n\xe9", Column("x", Kind.CATEGORY), form=FileFormat(encoding="latin-1"))


def test_problems_stand_in_the_order_of_their_first_lines(tables: Tables) -> None:
    rows = [b"x,1", b"1,y", b"1,1", b"z,z", b"1", *[b"?,?"] * 20_000]
    problems = refused(tables, b"integer,real\n" + b"\n".join(rows), REAL, INTEGER)
    assert problems == (
        Problem("20,002 lines, column integer", "is not a number (the first are lines 2, 5 and 7)"),
        Problem("20,002 lines, column real", "is not a number (the first are lines 3, 5 and 7)"),
        Problem("line 6", "has 1 fields where the header has 2"),
    )


def test_ten_causes_end_the_reading(tables: Tables) -> None:
    rows = b"".join(b"1," * width + b"1\n" for width in range(1, 20))
    assert len(refused(tables, b"integer\n" + rows, INTEGER)) == 10


def test_many_problems_end_the_reading(tables: Tables) -> None:
    problems = refused(tables, b"integer\n" + b"x\n" * 200_000 + b"\xff\n", INTEGER)
    assert [problem.where for problem in problems] == ["100,000 lines, column integer", "file"]
    assert "100,000 problems" in problems[1].what


def test_problems_before_an_unreadable_line_are_told_too(tables: Tables) -> None:
    problems = refused(tables, b"integer\nx\n" + b"1\n" * 10_000 + b"\xff\n", INTEGER)
    assert [problem.where for problem in problems] == ["line 2, column integer", "line 10003"]


def test_problems_never_echo_the_file(tables: Tables) -> None:
    for content in (b"integer\nsecret\nsecret\n", b"secret\n1\n2\n", b"integer\n1,secret\n2\n", b'integer\n"secret\n'):
        assert "secret" not in str(refused(tables, content, INTEGER))


def test_five_thousand_columns(tables: Tables) -> None:
    names = [f"column {i}" for i in range(5000)]
    columns = [Column(name, Kind.INTEGER) for name in names]
    row = ",".join(map(str, range(5000)))
    content = "\n".join([",".join(names), *[row] * 20]).encode()
    assert stored(tables, content, *columns)[4999] == [4999] * 20


@pytest.mark.parametrize(("unit", "times"), [(b",", 2**18), (b"x", 2**18), (b'"\n",', 2**16), (b"\n,", 2**15)])
def test_memory_is_bounded_whatever_is_sent(
    tables: Tables, unit: bytes, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The limits are scaled down with the file, for tracing allocations is slow.
    monkeypatch.setattr(csv_rows, "MAX_IN_ROW", 2**13)
    monkeypatch.setattr(csv_file, "MAX_BYTES_IN_BATCH", 2**13)
    content = b"integer," + unit * times + b"x,y,z"
    tracemalloc.start()
    refused(tables, content, INTEGER)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * 2**19


def test_random_texts_are_read_or_refused(tables: Tables) -> None:
    generator = random.Random(7)
    alphabet = ['"', ",", "\n", "\r\n", "\r", "1", "x", " ", "\0", "é", "\ufeff", "NA", '""']
    for _ in range(300):
        content = HEAD + "".join(generator.choices(alphabet, k=generator.randrange(40))).encode()
        try:
            expected = [row for row in csv.reader(io.StringIO(content.decode(), newline=""), strict=True) if row][1:]
            found = stored(tables, content, TEXTS)
        except (InvalidFile, csv.Error):
            continue
        assert found[0] == [None if row[1] in NULLS else row[1] for row in expected]
