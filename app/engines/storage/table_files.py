"""The files of tables: what their names say of a table."""

from pathlib import Path

LIVE = "live-"
WATCHED = "watched-"
"""A copy of files that must stay as they are; a file beside it says which."""


def data_files(directory: Path, file_id: str) -> list[Path]:
    """Return the paths of a table's files: the rows of a stored table, the description of a live one, or both."""
    rows, description = directory / f"{file_id}.parquet", directory / f"{file_id}.json"
    if file_id.startswith(WATCHED):
        return [rows, description]
    return [description if file_id.startswith(LIVE) else rows]
