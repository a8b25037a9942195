"""Runs the benchmarks in about ten minutes, prints one table beside the peers, and writes docs/performance.md.

Run: make bench, or python benchmarks/run.py [NAME …] for some of them; the page then keeps what the others measured.
With --long it runs those that have longer arguments with these, and keeps their figures beside the shorter ones.
"""

import argparse
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
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
PAGE = ROOT / "docs" / "performance.md"
MAX_SECONDS, MAX_SECONDS_LONG = 240, 1800  # of one benchmark
STOP_SECONDS = 60  # for an interrupted benchmark to stop its servers and delete its files


def run(each: Run, *, long: bool) -> dict[str, Any]:
    """Run one benchmark and return its tables, or what went wrong."""
    arguments = (each.long_arguments or ()) if long else each.arguments
    found: dict[str, Any] = {"commit": read_commit(), "at": _now(), "arguments": arguments}
    python = PEERS if each.in_environment_of_peers else Path(sys.executable)
    if not python.exists():
        return found | {"error": f"{python} is missing: run `make bench-setup`"}
    environment = os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "PYTHONWARNINGS": "ignore"}
    command = [str(python), str(HERE / each.script), *arguments]
    started, used = time.monotonic(), _processor_seconds()
    limit = MAX_SECONDS_LONG if long else MAX_SECONDS
    with subprocess.Popen(  # noqa: S603 - our own scripts
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            printed, complaint = process.communicate(timeout=limit)
        except BaseException as error:
            _stop(process)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise
            return found | {"error": f"it took more than {limit} seconds"}
    if process.returncode != 0:
        return found | {"error": (complaint.strip().splitlines() or ["it failed"])[-1]}
    found |= {"seconds": round(time.monotonic() - started), "processor_seconds": round(_processor_seconds() - used)}
    tables = results.read_tables(printed)
    return found | (
        {"tables": tables} if any(table["rows"] for table in tables) else {"error": "it printed no figures"}
    )


def _stop(process: subprocess.Popen[str]) -> None:
    """Interrupt a benchmark, so that it stops its servers, and kill it if it goes on."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _processor_seconds() -> float:
    """The processor time of all finished benchmarks and of the servers that they waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read_commit() -> str:
    """The commit, and whether anything but the figures differs from it."""
    figures = (f":!{results.PATH.relative_to(ROOT)}", f":!{PAGE.relative_to(ROOT)}")
    changed = _git("status", "--porcelain", "-uno", "--", ".", *figures)
    return _git("rev-parse", "--short=12", "HEAD") + (" with changes" if changed else "")


def describe_machine() -> dict[str, str]:
    """The commit and the machine of these measurements."""
    processor = Path("/proc/cpuinfo").read_text().partition("model name")[2].partition("\n")[0].lstrip("\t :")
    memory = int(Path("/proc/meminfo").read_text().split()[1]) / 2**20
    return {
        "commit": read_commit(),
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
    """Run the benchmarks one after the other, and keep what each has measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(each.name for each in RUNS))
    parser.add_argument("--long", action="store_true", help="run those with longer arguments, about an hour in all")
    asked = parser.parse_args()
    # A shell lets its background jobs ignore interrupts, and benchmarks would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if unknown := set(asked.names) - {each.name for each in RUNS}:
        parser.error(f"there is no benchmark {', '.join(sorted(unknown))}")
    chosen = [each for each in RUNS if (not asked.names or each.name in asked.names)]
    chosen = [each for each in chosen if each.long_arguments is not None or not asked.long]
    measured, started = results.load(), time.monotonic()
    measured["machine"] = machine = describe_machine()
    if float(machine["load"]) > 1:
        print(f"The load of this machine is {machine['load']}: figures of a busy machine say nothing.")
    for each in chosen:
        print(f"{each.name} …", end=" ", flush=True)
        found = run(each, long=asked.long)
        measured["runs"][f"{each.name}-long" if asked.long else each.name] = found
        print(found.get("error") or f"{found['seconds']} s", flush=True)
        results.save(measured)
        PAGE.write_text(results.render_page(measured), "utf-8")
    console = Console(width=max(120, Console().width))
    print_table(console, results.describe(machine), results.COMPARED, results.compare(measured))
    print_table(console, "What Snapledger aims at", results.JUDGED, results.judge(measured))
    print(f"This took {(time.monotonic() - started) / 60:.1f} minutes. The figures are in {PAGE.relative_to(ROOT)}.")
    failed = [name for name, found in measured["runs"].items() if "error" in found]
    if failed:
        sys.exit(f"These benchmarks failed: {', '.join(failed)}")


def print_table(console: Console, title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table that has rows."""
    if not rows:
        return
    table = Table(*columns, title=title)
    for row in rows:
        table.add_row(*row)
    console.print(table)


if __name__ == "__main__":
    main()
