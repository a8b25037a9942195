"""The page on performance is made of the latest measurements, and `make bench` runs every benchmark."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
APART = {"parquet_corpus", "scan_peers"}  # one compares sums instead of times, the other is a part of scan.py
PRINTED = """
  of a machine
┏━━━━━━━━┳━━━━━━━━━━━━━━━┳━━━━━━━━━━━━┓
┃ contest ┃ server        ┃ requests/s ┃
┡━━━━━━━━╇━━━━━━━━━━━━━━━╇━━━━━━━━━━━━┩
│ plans   │ bare endpoint │ 2,000      │
│ plans   │ snapledger    │ 1,500      │
└────────┴───────────────┴────────────┘
| file | seconds |
|---|---:|
| one | 0.5 |
"""


@pytest.fixture
def results(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import results  # noqa: PLC0415

    yield results
    for name in ("results", "runs", "goals", "run"):
        sys.modules.pop(name, None)


def test_the_page_is_not_stale(results: ModuleType) -> None:
    page = (ROOT / "docs" / "performance.md").read_text("utf-8")
    assert page == results.render_page(results.load()), "run python benchmarks/results.py"


def test_every_benchmark_is_run(results: ModuleType) -> None:
    folder = ROOT / "benchmarks"
    scripts = {path.stem for path in folder.glob("*.py") if "\n    main()\n" in path.read_text("utf-8")}
    assert {Path(each.script).stem for each in results.RUNS} == scripts - APART - {"run"}
    assert len({each.name for each in results.RUNS}) == len(results.RUNS)


def test_tables_are_read_and_compared(results: ModuleType) -> None:
    tables = results.read_tables(PRINTED)
    assert tables == [
        {
            "columns": ["contest", "server", "requests/s"],
            "rows": [["plans", "bare endpoint", "2,000"], ["plans", "snapledger", "1,500"]],
        },
        {"columns": ["file", "seconds"], "rows": [["one", "0.5"]]},
    ]
    bins = {"columns": ["bins", "first s", "numpy counts s"], "rows": [["10", "0.5", "0.25"], ["20", "0.5", "—"]]}
    machine = dict.fromkeys(("commit", "at", "processor", "memory", "system", "load"), "x")
    about = {"commit": "c0ffee", "at": "today", "seconds": 3, "arguments": ["--rows", "5"]}
    runs = {"releases-sqlite": about | {"tables": tables}, "histograms-long": about | {"error": "it failed"}}
    measured = {"machine": machine, "runs": runs | {"histograms": about | {"tables": [bins]}}}
    assert [row[1:] for row in results.compare(measured)] == [
        ("1,500 requests/s", "bare endpoint", "2,000 requests/s", "0.75 × its speed"),
        ("0.5 s", "numpy", "0.25 s", "0.50 × its speed"),
    ]
    page = results.render_page(measured)
    assert "| Histograms of many bins: 10 bins | 0.5 s | numpy | 0.25 s | 0.50 × its speed |" in page
    assert "python benchmarks/bulk.py --rows 5\n" in page
    assert "Measured at commit c0ffee, today, in 3 s." in page
    assert "It was not measured: it failed." in page


def test_goals_are_judged_by_the_longest_run(results: ModuleType) -> None:
    def of_sizes(*ratios: str) -> dict[str, object]:
        columns = ["stored releases", "plans against the first", "releases against the first"]
        return {"tables": [{"columns": columns, "rows": [["100", "1.0", ratio] for ratio in ratios]}]}

    measured = {"runs": {"growth": of_sizes("1.0", "1.1"), "growth-long": of_sizes("1.0", "1.05", "1.5")}}
    plans, releases = results.judge(measured)
    assert plans == ("Growth of plans, on SQLite", "at most 1.2", "1", "yes")
    assert releases == ("Growth of releases, on SQLite", "at most 1.2", "1.5", "no")
    measured["runs"]["growth-long"] = {"error": "it failed"}
    assert results.judge(measured)[1][2:] == ("1.1", "yes")
    names = {each.name for each in results.RUNS}
    assert {goal.run for goal in results.goals.GOALS} <= names


def test_a_benchmark_without_figures_has_failed(
    results: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import run  # noqa: PLC0415 - in the folder of the benchmarks
    from runs import Run  # noqa: PLC0415

    def outcome(script: str) -> dict[str, object]:
        path = tmp_path / "script.py"
        path.write_text(script, "utf-8")
        return run.run(Run("x", "x", str(path), "x"), long=False)

    header = '"┏━━━┓\\n┃ a ┃\\n└───┘"'
    assert outcome(f"print({header})")["error"] == "it printed no figures"
    assert outcome('print("| a |\\n|---|\\n| 1 |")')["tables"] == [{"columns": ["a"], "rows": [["1"]]}]
    assert outcome("raise SystemExit('no such file')")["error"] == "no such file"
    monkeypatch.setattr(run, "MAX_SECONDS", 0.01)
    monkeypatch.setattr(run, "STOP_SECONDS", 0.01)
    handler = signal.getsignal(signal.SIGINT)
    for inherited in (signal.default_int_handler, signal.SIG_IGN):
        signal.signal(signal.SIGINT, inherited)
        try:
            error = outcome("import threading\nthreading.Event().wait()")["error"]
        finally:
            signal.signal(signal.SIGINT, handler)
        assert error == "it took more than 0.01 seconds"
