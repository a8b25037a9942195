"""Excel workbooks: which sheet and which cells are read, how, and what their owners are told."""

import zipfile
from collections.abc import Sequence
from datetime import date, datetime
from io import BytesIO
from typing import Any

import pyarrow.parquet as pq
import pytest
from workbooks import MAIN, Cell, sheet_xml, workbook, workbook_of_xml

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile
from app.engines.ingest.file_format import PLAIN, FileFormat
from app.engines.storage.tables import Tables

X = Column("x", Kind.DECIMAL, scale=2)
WHO = Column("who", Kind.CATEGORY)
ROWS = [["x", "who"], [1.1, "a"], [2, "b"]]
HEAD = f'<worksheet xmlns="{MAIN}"><sheetData>'
TAIL = "</sheetData></worksheet>"


@pytest.fixture(scope="module")
def tables(shared_tables: Tables) -> Tables:
    """The same for all tests of this module: an engine takes longer to open than a small table to read."""
    return shared_tables


def stored(tables: Tables, content: bytes, *columns: Column, form: FileFormat = PLAIN) -> list[list[Any]]:
    ingested = tables.intake.ingest(BytesIO(content), columns, ["", "NA", "-"], form)
    return [column.to_pylist() for column in pq.read_table(tables._path(ingested.file_id)).columns]


def refused(tables: Tables, content: bytes, *columns: Column, form: FileFormat = PLAIN) -> list[str]:
    with pytest.raises(InvalidFile) as caught:
        tables.intake.ingest(BytesIO(content), columns, ["", "NA"], form)
    return [f"{problem.where}: {problem.what}" for problem in caught.value.problems]


@pytest.mark.parametrize(
    ("rows", "form"),
    [
        (ROWS, PLAIN),
        ([[], ["", None], *ROWS, [None, ""], []], PLAIN),
        ([["Prices of 2026"], [], *ROWS], FileFormat(header_row=3)),
        ([["x", "who", None], [1.1, "a", "", None], [None, None, None], ["2", "b"]], PLAIN),
        (ROWS[1:], FileFormat(column_names=("x", "who"))),
        ([["x", "who"], ["1,1", "a"], [2.0, "b"]], FileFormat(decimal=",")),
        ([["x", "who"], [1.1, "a"], ["2.000,00 ", "b"]], FileFormat(decimal=",", thousands=".")),
    ],
)
def test_rows_of_a_sheet(tables: Tables, rows: list[list[Cell]], form: FileFormat) -> None:
    found = stored(tables, workbook({"Données": rows}), X, WHO, form=form)
    assert found == [[110, 200_000 if form.thousands else 200], ["a", "b"]]


def test_which_sheet_is_read(tables: Tables) -> None:
    both = workbook({"Notes": [["x"], [9]], "People": ROWS})
    for sheet in ("People", 2):
        assert stored(tables, both, X, form=FileFormat(sheet=sheet)) == [[110, 200]]
    assert stored(tables, workbook({"Notes": [["x"], [9]], "People": ROWS}, hidden=["Notes"]), X) == [[110, 200]]
    told = "declare as `sheet` in `format`, or draft with --sheet, one of `Notes`, `People`"
    assert refused(tables, both, X) == [f"file: has 2 visible sheets: {told}"]
    for sheet in ("people", 3):
        assert refused(tables, both, X, form=FileFormat(sheet=sheet)) == [f"file: has no such sheet: {told}"]
    many = workbook({f"S{i}": [] for i in range(12)})
    assert refused(tables, many, X)[0].endswith("`S8`, `S9` and 2 more")


@pytest.mark.parametrize(
    ("column", "cells", "values"),
    [
        (Column("x", Kind.INTEGER), [2**53, -7, 3.0, None, "-", "12 "], [2**53, -7, 3, None, None, 12]),
        (X, [0.1 + 0.2, 12.34, 1.005e3, 9223372036854.75], [30, 1234, 100_500, 922337203685475]),
        (Column("x", Kind.REAL), [0.1 + 0.2, 1e-7, 1e22, "#N/A", "5e-324"], [0.3, 1e-7, 1e22, None, 5e-324]),
        (Column("x", Kind.BOOLEAN), [True, False, 1, 0, "TRUE"], [True, False, True, False, True]),
        (WHO, [7, "007", 1.5, True, date(2020, 2, 9)], ["7", "007", "1.5", "true", "2020-02-09"]),
        (Column("x", Kind.DATE), [date(1970, 1, 2), datetime(1970, 1, 3, 23, 59, 59), "1970-01-04"], [1, 2, 3]),  # noqa: DTZ001
        (Column("x", Kind.SECONDS, time_zone="UTC"), [datetime(2020, 1, 1, 7, 8, s) for s in range(60)],  # noqa: DTZ001
            [1577862480 + s for s in range(60)]),
    ],
)  # fmt: skip
def test_cells_of_every_type(tables: Tables, column: Column, cells: Sequence[Cell], values: list[Any]) -> None:
    rows = [["y", column.name], *([1, cell] for cell in cells)]
    assert stored(tables, workbook({"S": rows}), column) == [values]


def test_what_is_wrong_is_told_by_row(tables: Tables) -> None:
    rows = [[], ["x", "who"], [1.234, "a"], ["1,5", "b"], [1, "c", "d"], [2, "e"]]
    assert refused(tables, workbook({"S": rows}), X) == [
        "row 3, column x: has more than 2 decimals",
        "row 4, column x: is not a number: declare `decimal` or `thousands` in `format`",
        "row 5: has 3 fields where the header has 2",
    ]
    assert "has values where names are expected" in refused(tables, workbook({"S": [[1, "a"], [2, "b"]]}), X)[0]
    assert "did you mean 'X'?" in refused(tables, workbook({"S": [["X"], [1]]}), X)[0]
    assert (
        "`encoding` means nothing" in refused(tables, workbook({"S": ROWS}), X, form=FileFormat(encoding="latin-1"))[0]
    )
    assert "`sheet` means nothing" in refused(tables, b"x\n1\n2\n", X, form=FileFormat(sheet=1))[0]
    assert "file: has no header" in refused(tables, workbook({"S": []}), X)


def damaged(content: bytes, name: str, part: bytes) -> bytes:
    """Return a workbook with another part."""
    file = BytesIO()
    with zipfile.ZipFile(BytesIO(content)) as old, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new:
        for member in old.namelist():
            new.writestr(member, part if member == name else old.read(member))
    return file.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
LAUGHS = '<!DOCTYPE l [<!ENTITY a "ha">' + "".join(
    f'<!ENTITY {chr(98 + i)} "{f"&{chr(97 + i)};" * 10}">' for i in range(9)
) + f']>{HEAD}<row r="1"><c t="inlineStr"><is><t>&j;</t></is></c></row>{TAIL}'  # fmt: skip


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (workbook({"S": ROWS})[:-100], "is a damaged Excel workbook"),
        (damaged(workbook({"S": ROWS}), SHEET, b"<worksheet><sheetData><row>"), "is not a readable Excel workbook"),
        (damaged(workbook({"S": ROWS}), "xl/workbook.xml", b"<"), "is not a readable Excel workbook"),
        (damaged(workbook({"S": ROWS}), SHEET, LAUGHS.encode()), "is not a readable Excel workbook"),
        (workbook_of_xml({"S": [HEAD, *[" " * 2**20] * 64, TAIL]}), "bytes when it is decompressed: save it as CSV"),
        (workbook({f"S{i}": [] for i in range(10_001)}), "is a workbook of more than 10,000 files"),
    ],
    ids=["truncated", "cut off", "no list", "billion laughs", "bomb", "many sheets"],
)
def test_hostile_workbooks(tables: Tables, content: bytes, told: str) -> None:
    assert told in refused(tables, content, X)[0]


def test_empty_columns_take_no_memory(tables: Tables) -> None:
    """A style of empty cells up to the last column, as some programs write it."""
    rows = sheet_xml(ROWS).replace("</row>", '<c r="XFD1" s="1"/></row>')
    assert stored(tables, workbook_of_xml({"S": [rows]}), X, WHO) == [[110, 200], ["a", "b"]]
