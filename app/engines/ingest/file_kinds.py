"""Recognise by its first bytes what a file is, so that its owner is told how to make a CSV or Parquet file of it."""

from typing import BinaryIO, Final

_PARQUET: Final = b"PAR1", b"PARE"  # plain, encrypted

_SAVE_XLSX: Final = "save it as .xlsx without a password, and upload that"
_KINDS: Final = {
    b"\xd0\xcf\x11\xe0": f"is an old Excel workbook (.xls), or one with a password: {_SAVE_XLSX}",
    b"BZh": "is compressed with bzip2: decompress it, and upload the file inside",
    b"\xfd7zXZ": "is compressed with xz: decompress it, and upload the file inside",
    b"ARROW1": "is an Arrow file: write it as Parquet",
    b"ORC": "is an ORC file: write it as Parquet",
    b"Obj\x01": "is an Avro file: write it as Parquet",
    b"\x89HDF": "is an HDF5 file: write it as CSV or Parquet",
    b"$FL2": "is an SPSS file: write it as CSV or Parquet",
    b"<stata_dta>": "is a Stata file: write it as CSV or Parquet",
    b"SQLite format 3\0": "is an SQLite database: write its table as CSV or Parquet",
    b"%PDF": "is a PDF document: upload the table as CSV or Parquet",
    b"<!DOCTYPE": "is a web page: upload the table as CSV or Parquet",
    b"<html": "is a web page: upload the table as CSV or Parquet",
}
ZIP: Final = b"PK\x03\x04"
_MOST_BYTES: Final = max(map(len, _KINDS))


def peek(file: BinaryIO, size: int) -> bytes:
    """Return the first bytes of a file, and rewind it."""
    first = file.read(size)
    file.seek(0)
    return first


def is_parquet(file: BinaryIO) -> bool:
    """Return whether a file is a Parquet file. It is rewound."""
    return peek(file, 4) in _PARQUET


def describe_foreign_kind(file: BinaryIO) -> str | None:
    """Return what a file is if it is neither CSV nor Parquet, and what to do; None if it may be one. It is rewound."""
    first = peek(file, _MOST_BYTES)
    if first.startswith(ZIP):
        return _describe_zip(peek(file, 4_096))
    return next((told for magic, told in _KINDS.items() if first.startswith(magic)), None)


def _describe_zip(first: bytes) -> str:
    """Excel's and LibreOffice's files are ZIP archives. The first member's name is in the file's first bytes."""
    if b"[Content_Types].xml" in first or b"xl/" in first:
        return "is a damaged Excel workbook, or a document of another Office program"
    if b"opendocument.spreadsheet" in first:
        return f"is a LibreOffice spreadsheet: {_SAVE_XLSX}"
    return "is a ZIP archive: upload the CSV or Parquet file inside"
