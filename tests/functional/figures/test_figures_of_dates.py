"""A figure of dates shows dates: its values, its intervals and its axis, in every form."""

import csv
import io
from html import unescape
from typing import Any
from xml.etree import ElementTree as ET

import command_line
import pyarrow as pa
import pytest
from service_world import Service, Table, key_of

from app.services.figures.display.chart import draw_chart
from app.services.figures.figure_rows import Row
from app.services.figures.stored_rows import complete_rows
from snapledger_client import Client

COLUMNS: dict[str, Any] = {
    "day": {"kind": "date", "bounds": ["2024-01-01", "2024-12-31"], "nullable": False},
    "at": {
        "kind": "timestamp",
        "time_zone": "Europe/Paris",
        "resolution": "minute",
        "bounds": ["2024-01-01", "2024-12-31"],
        "nullable": False,
    },
    "mass": {"kind": "integer", "bounds": [0, 100], "unit": "days", "nullable": False},
}
ROWS = [f"2024-07-0{1 + i % 5},2024-07-0{1 + i % 5} 12:34,{i % 101}" for i in range(500)]
CONTENT = "\n".join([",".join(COLUMNS), *ROWS, ""])
NAMES = ("value", "interval_lower", "interval_upper")


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CONTENT, limit="1000", allowance="1000")


def publish(table: Table, name: str, *columns: str) -> dict[str, Any]:
    """Publish the means of columns, and return the last answer."""
    answers = [table.fresh({"kind": "mean", "column": column}, epsilon="10") for column in columns]
    body = {"title": "Admission", "releases": [each["id"] for each in answers]}
    assert table.owner.put(f"{table.path}/figures/{name}", json=body).status_code == 201
    return answers[-1]


def texts_of(svg: bytes | str) -> list[str]:
    return ["".join(each.itertext()) for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - our own


@pytest.mark.parametrize("column", ["day", "at"])
def test_each_form_has_the_interval_as_dates(table: Table, column: str) -> None:
    answer = publish(table, "admission", column)
    dates = [answer["value_as_date"], *answer["accuracy"]["interval_as_date"]]
    path = f"{table.path}/figures/admission"
    (row,) = table.owner.get(path).json()["rows"]
    assert [row[f"{name}_as_date"] for name in NAMES] == dates
    (line,) = csv.DictReader(io.StringIO(table.owner.get(f"{path}.csv").text))
    (arrow,) = pa.ipc.open_stream(table.owner.get(f"{path}.arrow").content).read_all().to_pylist()
    assert [[each[f"{name}_as_date"] for name in NAMES] for each in (line, arrow)] == [dates, dates]


@pytest.mark.parametrize("column", ["day", "at"])
def test_pages_and_pictures_show_dates_without_a_unit(table: Table, column: str) -> None:
    answer = publish(table, "admission", column)
    value, lower, upper = (
        each.replace("T", " ") for each in (answer["value_as_date"], *answer["accuracy"]["interval_as_date"])
    )
    drawn = table.owner.get(f"/figures/{table.name}/admission.svg").content
    texts = texts_of(drawn)
    assert value in texts
    assert f"mean: {value} ({lower} to {upper})" in drawn.decode()
    ticks = [each for each in texts[texts.index(f"mean of {column}") + 1 : texts.index("mean")] if each[0].isdigit()]
    assert len(ticks) >= 2
    assert all(each.startswith("2024-0") for each in ticks)
    page = unescape(table.owner.get(f"/figures/{table.name}/admission").text)
    assert f"{lower} to {upper}</td><td></td>" in page
    assert table.owner.get(f"/figures/{table.name}/admission.png").status_code == 200


def test_numbers_and_dates_have_axes_of_their_own(table: Table) -> None:
    publish(table, "both", "mass", "day")
    texts = texts_of(table.owner.get(f"/figures/{table.name}/both.svg").content)
    first, second = texts.index("mean of mass"), texts.index("mean of day")
    assert any(each.endswith(" days") for each in texts[first:second])
    assert not any(each.endswith(" days") for each in texts[second:])


def test_the_terminal_and_python_show_dates(table: Table) -> None:
    answer = publish(table, "admission", "day")
    interval = " to ".join(answer["accuracy"]["interval_as_date"])
    key = key_of(table.owner)
    shown = command_line.run("figure", "show", table.name, "admission", URL=table.service.url, KEY=key).out
    assert answer["value_as_date"] in shown
    assert interval in shown
    with Client(table.service.url, key) as client:
        figure = client.dataset(table.name).figure("admission")
        assert interval in str(figure)
        assert interval in figure._repr_html_()


def old_row(**changes: Any) -> dict[str, Any]:
    """A row as it was stored before intervals had dates."""
    empty = dict.fromkeys(Row._fields) | {"measure": "mean", "columns": "day", "label": "mean", "alpha": 0.05}
    added = {"interval_lower_as_date", "interval_upper_as_date", "conditions"}
    return {name: value for name, value in (empty | changes).items() if name not in added}


@pytest.mark.parametrize(
    ("value", "date", "interval"),
    [
        (19907.4, "2024-07-03", ("2024-07-02", "2024-07-05")),
        (24 * 19907 + 14.4, "2024-07-03T14:00:00", ("2024-07-03T13:00:00", "2024-07-03T16:00:00")),
        (1440 * 19907.5, "2024-07-03T12:00:00", ("2024-07-03T11:58:00", "2024-07-03T12:02:00")),
        (86400 * 19907.5, "2024-07-03T12:00:00", ("2024-07-03T11:59:58", "2024-07-03T12:00:02")),
    ],
)
def test_rows_from_before_have_the_dates_too(value: float, date: str, interval: tuple[str, str]) -> None:
    lower, upper = value - 1.3, value + 1.3
    (row,) = complete_rows([old_row(value=value, value_as_date=date, interval_lower=lower, interval_upper=upper)])
    assert (row["interval_lower_as_date"], row["interval_upper_as_date"]) == interval
    assert list(row) == list(Row._fields)


@pytest.mark.parametrize("date", ["infinity", "-infinity", "9999-12-31", "0001-01-01", "0001-01-01T00:00:00", None])
def test_rows_at_the_ends_of_time_are_read_and_drawn(date: str | None) -> None:
    rows = complete_rows([old_row(value=1.0, value_as_date=date, interval_lower=0.0, interval_upper=2.0)])
    texts_of(draw_chart("Ends", rows, ""))
