"""Shows a benchmark's table, and keeps it for `make bench` where that asks for it."""

import json
import os
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

FOLDER = "BENCHMARK_TABLES"
"""The variable of the environment that names a folder for tables, one file each."""


def show(table: Table) -> None:
    """Print a table. If the environment names a folder, also write the table to a file there, as JSON."""
    Console().print(table)
    if FOLDER in os.environ:
        columns = [str(column.header) for column in table.columns]
        rows = [list(row) for row in zip(*(map(str, column.cells) for column in table.columns), strict=True)]
        path = Path(os.environ[FOLDER]) / f"{Path(sys.argv[0]).stem}.json"
        path.write_text(json.dumps({"columns": columns, "rows": rows}, ensure_ascii=False))
