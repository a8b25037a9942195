"""The page on performance is made of the latest measurements, and `make bench` runs every benchmark."""

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
    for name in ("results", "runs"):
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
    measured = {"machine": machine, "runs": {"releases-sqlite": {"tables": tables}, "histograms": {"tables": [bins]}}}
    assert [row[1:] for row in results.compare(measured)] == [
        ("1,500 requests/s", "bare endpoint", "2,000 requests/s", "0.75 × its speed"),
        ("0.5 s", "numpy", "0.25 s", "0.50 × its speed"),
    ]
    assert "| Histograms of many bins: 10 bins | 0.5 s | numpy | 0.25 s | 0.50 × its speed |" in results.render_page(
        measured
    )
