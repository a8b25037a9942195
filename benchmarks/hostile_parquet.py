"""Measures the worst Parquet files that we know: what becomes of an upload of each, its time and its memory.

Each is read in a process with the default limits of an upload. `--only NAME …` measures some of them.
"""

import argparse
import os
import resource
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests" / "support"))

from gmpy2 import mpq
from parquet_bombs import BOMBS

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile
from app.engines.ingest import batches_of
from app.engines.ingest.file_format import FileFormat
from app.engines.ingest.problems import Problems

MEMORY_BYTES = 2**29
COLUMNS = [Column("x", Kind.INTEGER, (mpq(0), mpq(9)))]


def read(content: bytes) -> str:
    """Read a file and return what became of it."""
    try:
        n = sum(batch.num_rows for batch in batches_of(BytesIO(content), FileFormat())(COLUMNS, Problems()))
    except InvalidFile as error:
        return f"the {error.problems[0].where} {error.problems[0].what}"
    except MemoryError:
        return "needs too much memory"
    return f"{n:,} rows are read"


def measure(content: bytes) -> tuple[str, float, float]:
    """Return what becomes of a file, the seconds of a processor, and the MiB that reading it adds at most."""
    outcome, told = os.pipe()
    process = os.fork()
    if process == 0:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (_status("VmData") + MEMORY_BYTES, hard))
        before = _status("VmRSS")
        os.write(told, f"{before} {read(content)}".encode())
        os._exit(0)
    os.close(told)
    with os.fdopen(outcome) as pipe:
        before, _, text = pipe.read().partition(" ")
    _, status, usage = os.wait4(process, 0)
    if status:
        before, text = "0", f"the process ends with {status}: a 422"
    return text, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024 - int(before) / 2**20


def _status(name: str) -> int:
    lines: Iterator[str] = iter(Path("/proc/self/status").read_text().splitlines())
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


def main() -> None:
    """Print a table of all files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=BOMBS, nargs="+", default=[*BOMBS])
    only = parser.parse_args().only
    print("| file | MiB | outcome | seconds | MiB of memory |\n|---|---:|---|---:|---:|")
    for name, build in BOMBS.items():
        if name in only:
            content = build()
            text, seconds, memory = measure(content)
            print(
                f"| {build.__doc__} | {len(content) / 2**20:.1f} | {text} | {seconds:.1f} | {memory:.0f} |", flush=True
            )


if __name__ == "__main__":
    main()
