"""Runs the benchmarks in about ten minutes, prints one table beside the peers, and writes docs/performance.md.

Run: make bench, or python benchmarks/run.py [NAME …] for some of them; the page then keeps what the others measured.
"""

import argparse
import os
import platform
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import results
from rich.console import Console
from rich.table import Table
from runs import RUNS, Run

HERE = Path(__file__).parent
ROOT = HERE.parent
PEERS = ROOT / ".venv-bench" / "bin" / "python"
MAX_SECONDS = 300  # of one benchmark


def run(each: Run) -> dict[str, Any]:
    """Run one benchmark and return its tables, or what went wrong."""
    python = PEERS if each.in_environment_of_peers else Path(sys.executable)
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "PYTHONWARNINGS": "ignore"}
    command = [str(python), str(HERE / each.script), *each.arguments]
    started = time.monotonic()
    try:
        done = subprocess.run(  # noqa: S603 - our own scripts
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=MAX_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return {"error": f"it took more than {MAX_SECONDS} seconds"}
    except FileNotFoundError:
        return {"error": f"{python} is missing: run `make bench-setup`"}
    if done.returncode != 0:
        return {"error": (done.stderr.strip().splitlines() or ["it failed"])[-1]}
    tables = results.read_tables(done.stdout)
    return {"at": _now(), "seconds": round(time.monotonic() - started), "tables": tables}


def describe_machine() -> dict[str, str]:
    """The commit and the machine of these measurements."""
    processor = Path("/proc/cpuinfo").read_text().partition("model name")[2].partition("\n")[0].lstrip("\t :")
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    return {
        "commit": _git("rev-parse", "--short=12", "HEAD")
        + (" with changes" if _git("status", "--porcelain", "-uno") else ""),
        "at": _now(),
        "processor": f"{len(os.sched_getaffinity(0))} cores of {processor or platform.machine()}",
        "memory": f"{memory:.0f} GiB",
        "system": f"{platform.system()} {platform.release()}, Python {platform.python_version()}",
        "load": f"{os.getloadavg()[0]:.1f}",
    }


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()  # noqa: S603, S607


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def main() -> None:
    """Run the benchmarks one after the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(each.name for each in RUNS))
    asked = parser.parse_args()
    if unknown := set(asked.names) - {each.name for each in RUNS}:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    measured = results.load()
    measured["machine"] = describe_machine()
    for each in RUNS:
        if asked.names and each.name not in asked.names:
            continue
        print(f"{each.name} …", end=" ", flush=True)
        found = measured["runs"][each.name] = run(each)
        print(found.get("error") or f"{found['seconds']} s", flush=True)
    results.save(measured)
    (ROOT / "docs" / "performance.md").write_text(results.render_page(measured), "utf-8")
    table = Table(*results.COMPARED, title=results.describe(measured["machine"]))
    for row in results.compare(measured):
        table.add_row(*row)
    Console(width=max(100, Console().width)).print(table)
    failed = [name for name, found in measured["runs"].items() if "error" in found]
    if failed:
        sys.exit(f"These benchmarks failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
