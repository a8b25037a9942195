"""Write small Excel workbooks for tests, with the parts and attributes that Excel writes."""

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from typing import TypeAlias
from xml.sax.saxutils import escape

Cell: TypeAlias = str | int | float | bool | date | None

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_STYLES = (
    f'<styleSheet xmlns="{MAIN}"><fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="3">'
    '<xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="22" applyNumberFormat="1"/>'
    "</cellXfs></styleSheet>"
)


def workbook(sheets: Mapping[str, Sequence[Sequence[Cell]]], hidden: Iterable[str] = ()) -> bytes:
    """Return a workbook with these rows in its sheets."""
    return workbook_of_xml({name: map(sheet_xml, [rows]) for name, rows in sheets.items()}, hidden)


def sheet_xml(rows: Sequence[Sequence[Cell]]) -> str:
    """Return a sheet as XML."""
    lines = []
    for number, row in enumerate(rows, 1):
        cells = "".join(_cell(f"{_letters(place)}{number}", value) for place, value in enumerate(row))
        lines.append(f'<row r="{number}">{cells}</row>')
    return f'{_DECLARATION}<worksheet xmlns="{MAIN}"><sheetData>{"".join(lines)}</sheetData></worksheet>'


def workbook_of_xml(sheets: Mapping[str, Iterable[str]], hidden: Iterable[str] = ()) -> bytes:
    """Return a workbook with these sheets, each the pieces of its XML."""
    listed, related, typed = [], [], []
    for number, name in enumerate(sheets, 1):
        state = ' state="hidden"' if name in {*hidden} else ""
        listed.append(f'<sheet name="{escape(name)}" sheetId="{number}"{state} r:id="rId{number}"/>')
        related.append(
            f'<Relationship Id="rId{number}" Type="{_OFFICE}/worksheet" Target="worksheets/sheet{number}.xml"/>'
        )
        typed.append(f'<Override PartName="/xl/worksheets/sheet{number}.xml" ContentType="{_KIND}.worksheet+xml"/>')
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{_PACKAGE}/content-types"><Default Extension="rels" '
        'ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" '
        f'ContentType="{_KIND}.sheet.main+xml"/>{"".join(typed)}</Types>',
        "_rels/.rels": f'<Relationships xmlns="{_PACKAGE}/relationships"><Relationship Id="rId1" '
        f'Type="{_OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{_OFFICE}"><sheets>{"".join(listed)}</sheets>'
        "</workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{_PACKAGE}/relationships">{"".join(related)}'
        f'<Relationship Id="rIdS" Type="{_OFFICE}/styles" Target="styles.xml"/></Relationships>',
        "xl/styles.xml": _STYLES,
    }
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
        for number, pieces in enumerate(sheets.values(), 1):
            with archive.open(f"xl/worksheets/sheet{number}.xml", "w") as part:
                for piece in pieces:
                    part.write(piece.encode())
    return file.getvalue()


def _cell(place: str, value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return f'<c r="{place}" t="b"><v>{value:d}</v></c>'
    if isinstance(value, str):
        kind = "e" if value.startswith("#") else "inlineStr"
        content = f"<v>{value}</v>" if kind == "e" else f'<is><t xml:space="preserve">{escape(value)}</t></is>'
        return f'<c r="{place}" t="{kind}">{content}</c>'
    if isinstance(value, datetime):
        days = (value - datetime(1899, 12, 30)).total_seconds() / 86_400  # noqa: DTZ001
        return f'<c r="{place}" s="2"><v>{days!r}</v></c>'
    if isinstance(value, date):
        return f'<c r="{place}" s="1"><v>{(value - date(1899, 12, 30)).days}</v></c>'
    return f'<c r="{place}"><v>{value:.17g}</v></c>'  # as Excel writes it: 1.1 as 1.1000000000000001


def _letters(place: int) -> str:
    first, last = divmod(place, 26)
    return (_letters(first - 1) if first else "") + chr(ord("A") + last)
