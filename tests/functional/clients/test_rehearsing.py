"""A program written with rehearsals: every answer marked, nothing spent, and then it runs unchanged."""

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from client_world import People, settle
from service_world import Service, serving
from typer.testing import CliRunner, Result

from app.cli.service_commands import app
from snapledger_client import AsyncClient, BudgetExhausted, Client, Dataset, InvalidRequest, histogram, item, mean
from snapledger_client.display.text import REHEARSAL

Run = Callable[..., Result]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("rehearsing")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3") as service:
        yield service


@pytest.fixture(scope="module")
def people(service: Service) -> People:
    """Ada may spend nothing yet."""
    return settle(service, limit=1000, allowance=0)


def run_program(penguins: Dataset) -> list[Any]:
    """What an analyst asks, of each sort of answer."""
    batch = penguins.batch([item(mean("bill_length_mm"), weight=2), item(histogram("species"), weight=1)], epsilon=3)
    return [
        penguins.mean("body_mass_g", accuracy=20),
        penguins.histogram("body_mass_g", bins=10, epsilon=1, key="the histogram"),
        penguins.table("species", "body_mass_g", bins=(None, 3), epsilon=2, reuse=False),
        penguins.mean("body_mass_g", group_by="species", epsilon=2),
        penguins.quantile("body_mass_g", [0.25, 0.5, 0.75], bins=50, epsilon=2),
        penguins.regression("bill_length_mm", "body_mass_g", epsilon=40),
        penguins.std("body_mass_g", epsilon=1),
        batch,
        *batch.items,
    ]


def test_a_whole_program_is_rehearsed_and_then_runs_unchanged(service: Service, people: People) -> None:
    with Client(service.url, people.ada, rehearse=True) as client:
        rehearsed = run_program(client.dataset("penguins"))
        assert run_program(client.dataset("penguins")) == rehearsed
        assert client.dataset("penguins").budget().epsilon_spent == 0
        assert list(client.releases()) == []
        assert client.dataset("penguins").plan(mean("body_mass_g"), accuracy=20).budget.charged > 0
        with pytest.raises(InvalidRequest):
            client.dataset("penguins").mean("height", epsilon=1)
    for answer in rehearsed:
        assert answer.rehearsed is True
        assert answer.budget.charged == 0
        assert str(answer).count(REHEARSAL) == 1
        assert REHEARSAL in answer._repr_html_()
        assert answer.to_frame()["rehearsed"].all()
    assert rehearsed[2].to_table().to_csv().startswith(REHEARSAL)
    with Client(service.url, people.ada) as client, pytest.raises(BudgetExhausted):
        run_program(client.dataset("penguins"))
    with Client(service.url, people.owner) as owner:
        owner.dataset("penguins").allow("station", 100)
        released = run_program(owner.dataset("penguins"))
        assert owner.dataset("penguins").budget().epsilon_spent > 0
    for answer, rehearsal in zip(released, rehearsed, strict=True):
        assert type(answer) is type(rehearsal)
        assert answer.rehearsed is False
        assert REHEARSAL not in str(answer) + answer._repr_html_()
        assert "rehearsed" not in answer.to_frame().columns
        assert rehearsal.to_dict().keys() - {"rehearsed"} == answer.to_dict().keys()


def test_one_dataset_rehearses_and_the_client_does_not(service: Service, people: People) -> None:
    with Client(service.url, people.ada) as client:
        penguins = client.dataset("penguins")
        assert repr(penguins.rehearse()) == "Dataset('penguins', rehearse=True)"
        assert penguins.rehearse().median("body_mass_g", bins=20, epsilon=1).rehearsed
        with pytest.raises(BudgetExhausted):
            penguins.median("body_mass_g", bins=20, epsilon=1)

    async def rehearse() -> bool:
        async with AsyncClient(service.url, people.ada) as client:
            return (await client.dataset("penguins").rehearse().mean("body_mass_g", epsilon=1)).rehearsed

    assert asyncio.run(rehearse())


@pytest.fixture
def run(service: Service, people: People, tmp_path: Path) -> Run:
    """Runs a command as ada."""

    def run(*arguments: str, text: str = "") -> Result:
        settings = {"HOME": str(tmp_path), "SNAPLEDGER_URL": service.url, "SNAPLEDGER_KEY": people.ada}
        return CliRunner().invoke(app, arguments, input=text, env=settings, prog_name="snapledger")

    return run


def test_commands_rehearse_and_mark_every_format(run: Run) -> None:
    items = [{"statistic": {"kind": "mean", "column": "body_mass_g"}, "epsilon": "90"}]
    derived = ("derived", "penguins", "quantile", "body_mass_g", "--probabilities", "0.5", "--bins", "9")
    for command, text in (
        (("release", "penguins", "mean", "body_mass_g", "--epsilon", "90"), ""),
        (("release", "penguins", "histogram", "species", "--epsilon", "90"), ""),
        ((*derived, "--epsilon", "90"), ""),
        (("batch", "penguins", "-"), json.dumps(items)),
    ):
        shown, document, rows = (
            run(*command, "--rehearse", "--format", each, text=text) for each in ("table", "json", "csv")
        )
        assert [shown.exit_code, document.exit_code, rows.exit_code] == [0, 0, 0], shown.stderr
        assert REHEARSAL in shown.stdout
        assert json.loads(document.stdout)["rehearsed"] is True
        heading, *lines = rows.stdout.splitlines()
        assert "rehearsed" in heading.split(",")
        assert lines
        assert all(line.endswith("true") for line in lines)
        assert run(*command, text=text).exit_code == 3  # without it, ada has nothing to spend


def test_a_batch_file_may_say_it_itself(run: Run) -> None:
    """But nothing else than true or false is taken for either."""
    items = [{"statistic": {"kind": "mean", "column": "body_mass_g"}, "epsilon": "90"}]
    assert run("batch", "penguins", "-", text=json.dumps({"items": items, "rehearse": True})).exit_code == 0
    assert run("batch", "penguins", "-", text=json.dumps({"items": items, "rehearse": False})).exit_code == 3
    assert run("batch", "penguins", "-", text=json.dumps({"items": items, "rehearse": 1})).exit_code == 2
