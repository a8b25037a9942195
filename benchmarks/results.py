"""Reads the tables that benchmarks print, keeps them in results.json, and renders docs/performance.md from them."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import goals
from runs import RUNS, Peers, Run

PATH = Path(__file__).with_name("results.json")
COMPARED = ("what", "Snapledger", "peer", "its figure", "ratio")
JUDGED = ("what", "goal", "measured", "met")
_WIDTH = 100


def load() -> dict[str, Any]:
    """The latest measurements."""
    if not PATH.exists():
        return {"machine": {}, "runs": {}}
    loaded: dict[str, Any] = json.loads(PATH.read_text("utf-8"))
    return loaded


def save(measured: dict[str, Any]) -> None:
    """Keep the measurements, of present benchmarks only."""
    names = [name for each in RUNS for name in (each.name, f"{each.name}-long")]
    measured["runs"] = {name: measured["runs"][name] for name in names if name in measured["runs"]}
    PATH.write_text(json.dumps(measured, ensure_ascii=False, indent=1) + "\n", "utf-8")


def read_tables(printed: str) -> list[dict[str, Any]]:
    """The tables in the output of a benchmark, as `rich` or Markdown has them: the columns and the rows of texts."""
    tables: list[dict[str, Any]] = []
    for printed_line, following in pairwise([*printed.splitlines(), ""]):
        line = printed_line.replace("|", "┃" if following.startswith("|---") else "│")
        if line.startswith("│---"):
            continue
        cells = [cell.strip() for cell in line.strip()[1:-1].replace("┃", "│").split("│")]
        if line.lstrip().startswith("┃"):
            tables.append({"columns": cells, "rows": []})
        elif line.lstrip().startswith("│") and tables:
            tables[-1]["rows"].append(cells)
    return tables


def compare(measured: dict[str, Any]) -> list[tuple[str, str, str, str, str]]:
    """One row for each figure that has a peer: what was measured, ours, the peer, its figure, and the ratio."""
    rows = []
    for each in RUNS:
        for table in measured["runs"].get(each.name, {}).get("tables", ()):
            for peers in each.peers:
                if (peers.figure or peers.ours) in table["columns"]:
                    rows += _compare_table(each.title, table, peers)
    return rows


def judge(measured: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    """One row for each goal that was measured: what, the goal, the figure, and whether it is met."""
    return goals.judge(measured["runs"])


def _compare_table(title: str, table: dict[str, Any], peers: Peers) -> Iterator[tuple[str, str, str, str, str]]:
    rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
    if not peers.server:
        for row in rows:
            for column, name in peers.theirs:
                if column in row:
                    yield from _row(title, row, row.get(peers.ours, ""), name, row[column], peers)
        return
    for row in rows:
        if row[peers.server] != peers.ours:
            same = [other for other in rows if all(other[case] == row[case] for case in peers.cases)]
            ours = next(other for other in same if other[peers.server] == peers.ours)
            yield from _row(title, row, ours[peers.figure], row[peers.server], row[peers.figure], peers)


def _row(
    title: str, row: dict[str, str], ours: str, name: str, theirs: str, peers: Peers
) -> Iterator[tuple[str, str, str, str, str]]:
    one, other = _number(ours), _number(theirs)
    if one is None or other is None or not one or not other:
        return
    ratio = one / other if peers.better == "higher" else other / one
    case = ", ".join(f"{row[case]} {case}" if row[case][:1].isdigit() else row[case] for case in peers.cases)
    yield f"{title}: {case}", f"{ours} {peers.unit}", name, f"{theirs} {peers.unit}", f"{ratio:.2f} × its speed"


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def describe(machine: dict[str, str]) -> str:
    """The commit and the machine in one line."""
    return (
        f"Commit {machine['commit']}, {machine['at']}: {machine['processor']}, {machine['memory']}, {machine['system']}"
    )


def render_page(measured: dict[str, Any]) -> str:
    """The page of the guide."""
    parts = [_HEAD]
    if not measured["runs"]:
        parts.append("Nothing has been measured on this commit yet: run `make bench`.")
    else:
        machine = measured["machine"]
        parts += [
            "## Beside others",
            "\n".join(
                f"* {name}: {machine[key]}"
                for name, key in (
                    ("Commit", "commit"),
                    ("Time", "at"),
                    ("Machine", "processor"),
                    ("Memory", "memory"),
                    ("System", "system"),
                    ("Load of the machine when it began", "load"),
                )
            ),
        ]
        if compared := compare(measured):
            parts.append(_markdown(COMPARED, compared))
        if judged := judge(measured):
            parts += ["## What we aim at", _wrap(_GOALS), _markdown(JUDGED, judged)]
    for each in RUNS:
        found = [measured["runs"][name] for name in (each.name, f"{each.name}-long") if name in measured["runs"]]
        if found:
            parts += [f"## {each.title}", _wrap(each.how_to_read)]
            parts += [part for one in found for part in _render_run(each, one)]
    return "\n\n".join(parts) + "\n"


def _render_run(each: Run, found: dict[str, Any]) -> Iterator[str]:
    command = " ".join(["python", f"benchmarks/{each.script}", *found["arguments"]])
    yield f"```sh\n{command}\n```"
    if "error" in found:
        yield _wrap(f"It was not measured: {found['error']}.")
        return
    for table in found["tables"]:
        yield _markdown(table["columns"], table["rows"])
    yield _wrap(f"Measured at commit {found['commit']}, {found['at']}, in {found['seconds']} s.")


def _markdown(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [columns, ["---", *["---:"] * (len(columns) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _wrap(text: str) -> str:
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + 1 + len(word) > _WIDTH:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


_GOALS = (
    "A goal is judged by the longest run that was measured. The goals of registration, growth and memory compare "
    "Snapledger with itself; all other ratios compare it with the peer of the same run."
)
_HEAD = """# Performance

`make bench` measures all of this in about ten minutes and writes this page. Use an idle machine:
the figures of a busy one say nothing. Compare only figures of one run. `make bench-long` measures
larger tables, longer ledgers and more requests in about an hour, and adds its figures here.

* **The ratio is what to read.** The service and its peer are measured in turn, on the same machine
  and in the same run, so their ratio says more than either figure. Above 1, Snapledger is faster.
* The load generator, the service and the database share the machine's cores.
* p50 and p99 are the median and the 99th percentile of the latency.
* numpy and DuckDB compute the plain answer, without privacy. A bare endpoint computes nothing.
* OpenDP and diffprivlib draw noise, but keep no ledger.
* Lomas, the most similar service, is not measured. `lomas-server` 0.4.1 is on PyPI, and pip finds
  versions of all packages that it needs, but they are several gigabytes, with PyTorch and its
  libraries for graphics cards."""


if __name__ == "__main__":
    Path(__file__).parents[1].joinpath("docs", "performance.md").write_text(render_page(load()), "utf-8")
