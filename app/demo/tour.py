"""The tour: an owner registers a table; an analyst plans, releases, reuses, replays and runs out of budget."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import httpx
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from app.demo import service, truth

MASS, BILL = (2000, 7000), (30, 65)
SPECIES = ["Adelie", "Chinstrap", "Gentoo"]

METADATA = """{
  "name": "penguins",
  "description": "Size measurements of 344 adult penguins of the Palmer Archipelago, Antarctica",
  "epsilon_limit": "5",
  "columns": {
    "body_mass_g":    {"kind": "integer",  "bounds": [2000, 7000]},
    "bill_length_mm": {"kind": "real",     "bounds": [30, 65]},
    "species":        {"kind": "category", "categories": ["Adelie", "Chinstrap", "Gentoo"], "nullable": false}
  }
}"""


@dataclass(frozen=True)
class Step:
    """One question of the tour, and the function that computes its true answer."""

    title: str
    statistic: dict[str, Any]
    asked: dict[str, Any]
    true: Callable[[], list[Fraction]]


def _mass() -> list[Fraction]:
    return truth.numbers("body_mass_g", MASS)


def _bill() -> list[Fraction]:
    return truth.numbers("bill_length_mm", BILL)


STEPS = [
    Step(
        "mean body_mass_g",
        {"kind": "mean", "column": "body_mass_g"},
        {"epsilon": "0.5"},
        lambda: [truth.mean(_mass())],
    ),
    Step(
        "mean bill_length_mm",
        {"kind": "mean", "column": "bill_length_mm"},
        {"accuracy": "0.5"},
        lambda: [truth.mean(_bill())],
    ),
    Step(
        "variance bill_length_mm",
        {"kind": "variance", "column": "bill_length_mm"},
        {"accuracy": "20"},
        lambda: [truth.covariance(_bill(), _bill())],
    ),
    Step(
        "covariance of both",
        {"kind": "covariance", "columns": ["bill_length_mm", "body_mass_g"]},
        {"epsilon": "1"},
        lambda: [truth.covariance(_bill(), _mass())],
    ),
    Step(
        "histogram species",
        {"kind": "histogram", "column": "species"},
        {"accuracy": "10"},
        lambda: [*map(Fraction, truth.counts("species", SPECIES)), Fraction(0)],
    ),
]


def _call(client: httpx.Client, method: str, path: str, **options: Any) -> dict[str, Any]:  # noqa: ANN401 - httpx's own
    response = client.request(method, path, **options)
    response.raise_for_status()
    document: dict[str, Any] = response.json()
    return document


def register_penguins(admin: httpx.Client) -> str:
    """Create an owner, the table and an analyst with an allowance; return the analyst's key."""
    owner = _call(admin, "POST", "/v1/principals", json={"name": "station", "role": "owner"})
    analyst = _call(admin, "POST", "/v1/principals", json={"name": "ada", "role": "analyst"})
    headers = {"Authorization": f"Bearer {owner['key']}"}
    parts = {"metadata": (None, METADATA), "file": ("penguins.csv", truth.table())}
    _call(admin, "POST", "/v1/datasets", headers=headers, files=parts)
    _call(admin, "PUT", "/v1/datasets/penguins/allowances/ada", headers=headers, json={"epsilon_limit": "4"})
    key: str = analyst["key"]
    return key


def _join_names(value: Any) -> list[Any]:  # noqa: ANN401 - a number or a list of them
    return value if isinstance(value, list) else [value]


def _rows(step: Step, answer: dict[str, Any]) -> Iterator[list[str]]:
    """Yield the table rows of a release: one row, and one more for each bin of a histogram."""
    paid = answer["budget"]["charged"]
    radius = f"± {answer['accuracy']['radius']:,.2f}"
    pairs = (
        [f"{float(true):,.2f}" for true in step.true()],
        [f"{value:,.2f}" for value in _join_names(answer["value_in_range"])],
    )
    if "bins" not in answer:
        yield [step.title, pairs[0][0], pairs[1][0], radius, paid]
        return
    yield [step.title, "", "", radius, paid]
    for bin_, true, value in zip(answer["bins"], *pairs, strict=True):
        yield [f"  {bin_['label']}", true, value, "", ""]


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="right" if index else "left", no_wrap=True)
    return table


def run() -> None:
    """Run the tour and print it, then stop the service.

    Raises:
        RuntimeError: the service did not start, charged a repeated release, or overspent the budget.
    """
    console = Console()
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, console=console, transient=True) as progress, service.temporary() as client:
        task = progress.add_task("registering 344 penguins", total=2 * len(STEPS) + 4)
        client.headers["Authorization"] = f"Bearer {register_penguins(client)}"
        progress.advance(task)

        def advance(description: str) -> None:
            progress.update(task, description=description, advance=1)

        shown = [
            _plans(client, advance),
            _releases(client, advance),
            *_free(client, advance),
            _refusal(client, advance),
        ]
    console.print("344 penguins are registered with a budget of ε = 5; ada may spend 4 of it.\n")
    for part in shown:
        console.print(part)
        console.print()
    console.print("The service is stopped; its ledger and data are deleted.")


def _plans(client: httpx.Client, advance: Callable[[str], None]) -> Table:
    table = _table("Plans: free, and made without reading any data", "statistic", "asked", "ε", "± radius (95 %)")
    for step in STEPS:
        advance(f"planning the {step.title}")
        body = {"statistic": step.statistic, **step.asked}
        plan = _call(client, "POST", "/v1/datasets/penguins/plan", json=body)
        asked = " ".join(f"{name} {value}" for name, value in step.asked.items())
        table.add_row(step.title, asked, plan["privacy"]["epsilon"], f"{plan['accuracy']['radius']:,.2f}")
    return table


def _releases(client: httpx.Client, advance: Callable[[str], None]) -> Table:
    title = "Releases; the true values come from the public file, never from the service"
    table = _table(title, "statistic", "true", "released", "95 %", "ε paid")
    for step in STEPS:
        advance(f"releasing the {step.title}")
        answer = _call(
            client,
            "POST",
            "/v1/datasets/penguins/releases",
            json={"statistic": step.statistic, **step.asked},
            headers={"Idempotency-Key": f"demo {step.title}"},
        )
        for row in _rows(step, answer):
            table.add_row(*row)
    return table


def _free(client: httpx.Client, advance: Callable[[str], None]) -> list[str]:
    """Show reuse and replay: a repeated release costs nothing."""
    advance("asking again")
    step = STEPS[0]
    question = {"statistic": step.statistic, "accuracy": "150"}
    reused = _call(client, "POST", "/v1/datasets/penguins/releases", json=question)
    advance("repeating a request")
    body = {"statistic": step.statistic, **step.asked}
    headers = {"Idempotency-Key": f"demo {step.title}"}
    replay = client.post("/v1/datasets/penguins/releases", json=body, headers=headers)
    replay.raise_for_status()
    if not reused["reused"] or replay.headers.get("Idempotency-Replayed") != "true":
        raise RuntimeError("an earlier release was charged again")
    reuse = (
        f"Reuse: an earlier release answers the {step.title} within ± 150: {reused['value_in_range']:,.2f} again, "
        f"for ε = {reused['budget']['charged']}."
    )
    replayed = (
        f"Replay: the first request, sent again with its Idempotency-Key, gets the stored answer at no cost (status "
        f"{replay.status_code}, Idempotency-Replayed: {replay.headers['Idempotency-Replayed']})."
    )
    return [reuse, replayed]


def _refusal(client: httpx.Client, advance: Callable[[str], None]) -> str:
    """Show that a request beyond the remaining budget is refused."""
    advance("running out of budget")
    body = {"statistic": {"kind": "mean", "column": "bill_length_mm", "bounds": [32, 60]}, "epsilon": "2.5"}
    refused = client.post("/v1/datasets/penguins/releases", json=body)
    if refused.status_code != httpx.codes.CONFLICT:
        raise RuntimeError("the budget was overspent")
    problem = refused.json()
    return (
        f"Exhausted: ε = {problem['requested']} is refused with status {problem['status']} ({problem['type']}): "
        f"the {problem['scope']} has {problem['remaining']} of {problem['limit']} left."
    )
