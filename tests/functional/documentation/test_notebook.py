"""The guide's notebook runs from its first cell to its last, and every cell shows its answer."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from client_world import PENGUINS
from service_world import Service

from snapledger_client import Client

NOTEBOOK = Path(__file__).parents[3] / "docs" / "notebooks" / "penguins.ipynb"
COLUMNS: dict[str, Any] = {
    "body_mass_g": {"kind": "integer", "bounds": [2000, 7000], "label": "Body mass", "unit": "g"},
    "bill_length_mm": {"kind": "real", "bounds": [30, 65], "label": "Bill length", "unit": "mm"},
    "flipper_length_mm": {"kind": "integer", "bounds": [170, 235], "unit": "mm"},
    "species": {"kind": "category", "categories": ["Adelie", "Chinstrap", "Gentoo"], "nullable": False},
    "island": {"kind": "category", "categories": ["Biscoe", "Dream", "Torgersen"], "nullable": False},
}
CHART, TABLE, IMAGE = "<svg", "<table", "image/png"
# What each code cell's output has, by the beginning of its last line.
EXPECTED: dict[str, tuple[str, ...]] = {
    "client.me()": ("ada, analyst", TABLE, "penguins"),
    "client.datasets()": (TABLE, "penguins", "344"),
    "penguins.describe()": (TABLE, "Body mass", "2000 to 7000", "Adelie, Chinstrap, Gentoo"),
    "penguins.budget()": ("your allowance: ε = 0 of 20 spent", CHART),
    "penguins.plan(": ("± 50 g (95 %)", "ε = 0.872", CHART, "error (g)"),
    "penguins.plan_derived(": (TABLE, "covariance", "variance_x", "ε = 1"),
    "rehearsal.mean(": ("Rehearsal with made-up data", "nothing paid", CHART),
    "mass": (" g (95 %)", CHART, "interval: ", "ε = 0.872 paid", "Body mass (g)"),
    "float(mass), mass.interval": ("text/plain",),
    "mass.plot()": (IMAGE,),
    "penguins.variance(": (" mm² (95 %)", CHART),
    "penguins.covariance(": (" mm·g (95 %)", CHART),
    "penguins.count(": ("count where body_mass_g at least 5000 and species in Gentoo", CHART),
    "penguins.missing(": ("missing of body_mass_g", CHART),
    "penguins.sum(": ("sum of body_mass_g where species in Adelie", " g (95 %)"),
    "masses": (CHART, TABLE, "21 rows", "Body mass (g)", ">rows<", ">missing<"),
    "masses.plot()": (IMAGE,),
    "penguins.histogram(": (CHART, TABLE, "Adelie", "interval"),
    "species_by_island": (TABLE, "species × island", "Torgersen"),
    "species_by_island.plot()": (IMAGE,),
    "penguins.counts(": (CHART, TABLE, "count by species where body_mass_g at least 4500"),
    "penguins.sums(": (CHART, TABLE, "sum (g)", "Biscoe"),
    "penguins.mean(": ("mean of body_mass_g where species in Gentoo", CHART, "from sum, count"),
    "by_species": (CHART, TABLE, "mean (g)", "Chinstrap"),
    "by_species.plot()": (IMAGE,),
    "penguins.std(": ("standard deviation of bill_length_mm", " mm (", CHART),
    "penguins.proportion(": ("proportion of species = Gentoo", CHART),
    "penguins.median(": ("median of body_mass_g", " g (", CHART),
    "penguins.quantile(": (CHART, "<polygon", TABLE, "probability", "Body mass (g)"),
    "penguins.cumulative(": (CHART, "<polygon", TABLE, "rows below"),
    "penguins.correlation(": ("correlation of flipper_length_mm and body_mass_g", CHART),
    "penguins.regression(": ("regression of body_mass_g on flipper_length_mm", TABLE, "g/mm", CHART),
    "penguins.plan_batch(": (TABLE, "histogram of island", "answered by"),
    "batch": (TABLE, "3 releases together", CHART),
    "batch.to_frame()": (TABLE, "statistic", "Torgersen"),
    'penguins.mean("body_mass_g", epsilom=1)': ("did you mean `epsilon`",),
    'penguins.mean("body_mas_g"': ("did you mean 'body_mass_g'",),
    "penguins.avg(": ("did you mean `mean`",),
    "client.releases().to_frame()": (TABLE, "statistic"),
    "penguins.releases()": (TABLE, "mean of body_mass_g", "released at"),
}
RAW = re.compile(r"object at 0x|<generator|\b(Estimate|Histogram|Derived|Batch|Plan|DatasetFacts|Me)\(")


def describe_outputs(cell: Any) -> str:
    """All that a cell shows, as one text with the names of its formats."""
    parts = []
    for output in cell.outputs:
        if output.output_type == "error":
            parts.append(f"{output.ename}: {output.evalue}")
        for name, content in output.get("data", {}).items():
            parts += [name, content]
        parts.append(output.get("text", ""))
    return "\n".join(parts)


def find_expected(statement: str) -> tuple[str, ...]:
    """What the output of a statement has: that of the longest beginning."""
    return EXPECTED[max((each for each in EXPECTED if statement.startswith(each)), key=len)]


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.filterwarnings("default")  # those of Jupyter's packages
def test_the_notebook(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    import nbclient  # noqa: PLC0415 - a second that no other test needs
    import nbformat  # noqa: PLC0415

    with Client(service.url, service.admin_key) as admin:
        station, ada = (admin.create_principal(*who).key for who in (("station", "owner"), ("ada", "analyst")))
    with Client(service.url, station) as owner:
        owner.register({"name": "penguins", "epsilon_limit": 30, "columns": COLUMNS}, PENGUINS)
        owner.dataset("penguins").allow("ada", 20)
    monkeypatch.setenv("SNAPLEDGER_URL", service.url)
    monkeypatch.setenv("SNAPLEDGER_KEY", ada)
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert len(cells) >= 30
    for cell in cells:
        statement = cell.source.rstrip().splitlines()[-1].removesuffix(";")
        shown = describe_outputs(cell)
        assert shown, cell.source
        assert not RAW.search(shown), cell.source
        raises = "raises-exception" in cell.metadata.get("tags", ())
        assert any(output.output_type == "error" for output in cell.outputs) == raises, cell.source
        assert [each for each in find_expected(statement) if each not in shown] == [], cell.source
    with Client(service.url, ada) as client:
        assert 0 < client.dataset("penguins").budget().epsilon_spent <= 20


def test_the_notebook_is_committed_without_outputs() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)
