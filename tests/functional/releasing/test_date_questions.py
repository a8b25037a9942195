"""Columns of dates and times over HTTP: declared, asked for and answered as dates, and refused in a sentence."""

import re
from collections.abc import Callable
from datetime import date, datetime
from typing import Any

import command_line
import httpx
import pandas as pd
import pytest
from service_world import Service, Table

from snapledger_client import Client, periods

COLUMNS: dict[str, Any] = {
    "day": {"kind": "date", "bounds": ["2020-01-01", "2021-12-31"]},
    "at": {
        "kind": "timestamp",
        "time_zone": "Europe/Paris",
        "resolution": "hour",
        "bounds": ["2020-12-01", "2021-01-31"],
        "nullable": False,
    },
    "x": {"kind": "integer", "bounds": [0, 10], "nullable": False},
    "k": {"kind": "category", "categories": ["a", "b"], "nullable": False},
}
ROWS = [
    ("2020-02-29", "2020-12-31T22:59:59Z", 1, "a"),  # the last hour of the year in Paris
    ("2020-12-31", "2020-12-31T23:00Z", 2, "a"),  # the first one
    ("2021-01-01", "2021-01-01 12:34", 3, "b"),
    ("2021-01-04", "2021-01-31 23:59", 4, "b"),
    ("", "2022-01-01", 5, "b"),
]
TIMES = 40
PRECISE = {"epsilon": "1000", "grid_refinement": 30}


@pytest.fixture(scope="module")
def dated(running: Callable[[str], Service]) -> Table:
    lines = [",".join(map(str, row)) for row in ROWS * TIMES]
    content = "\n".join([",".join(COLUMNS), *lines, ""])
    return running("sqlite").table(COLUMNS, content, limit="1000000", allowance="1000000")


def released(table: Table, statistic: dict[str, Any], **question: Any) -> dict[str, Any]:
    answer = table.release(statistic, **(PRECISE | question))
    assert answer.status_code in {200, 201}, answer.text
    document: dict[str, Any] = answer.json()
    return document


COUNTS: list[tuple[dict[str, Any], list[int]]] = [
    ({"where": {"day": {"in": ["2020-02-29", "2021-01-04"]}}}, [2]),
    ({"where": {"day": {"between": ["2020-12-31", "2021-01-01T00:00:00"]}}}, [2]),
    ({"where": {"at": {"between": ["2020-12-31", "2020-12-31"]}}}, [1]),
    ({"where": {"day": "2021-01-04"}}, [1]),
    ({"where": {"day": {"at_least": "2021-01-01"}}}, [2]),
    ({"where": {"day": {"not": {"at_least": "2021-01-01"}}}}, [2]),
    ({"where": {"day": {"is_missing": True}}}, [1]),
    ({"where": {"day": {"not": {"at_most": "9999-12-31"}}}}, [0]),
    ({"where": {"at": {"above": "2020-12-31"}}}, [4]),
    ({"where": {"at": {"at_most": "2020-12-31", "at_least": "2020-12-01"}}}, [1]),
    ({"where": {"at": {"between": ["2021-01-01T00:00", "2021-01-01T11:00"]}}}, [1]),
    ({"where": {"at": {"in": ["2020-12-31T23:00:00Z"]}}}, [1]),
    ({"kind": "histogram", "column": "day", "bins": "year"}, [2, 2, 1]),
    ({"kind": "histogram", "column": "day", "bins": "iso_week", "bounds": ["2020-12-28", "2021-01-04"]}, [3, 1, 1]),
    ({"kind": "histogram", "column": "at", "bins": "month"}, [1, 4]),
    ({"kind": "histogram", "column": "day", "edges": ["2020-01-01", "2021-01-01", "2021-12-31"]}, [2, 2, 1]),
    ({"kind": "histogram", "column": "day", "bins": 2}, [1, 3, 1]),
    ({"group_by": {"column": "day", "bins": "quarter", "bounds": ["2020-10-01", "2021-03-31"]}}, [2, 2, 1]),
]


@pytest.mark.parametrize(("statistic", "expected"), COUNTS)
def test_counts(dated: Table, statistic: dict[str, Any], expected: list[int]) -> None:
    document = released(dated, {"kind": "count"} | statistic)
    values = document["value"] if isinstance(document["value"], list) else [document["value"]]
    assert values == pytest.approx([TIMES * each for each in expected], abs=0.1)
    again = released(dated, document["statistic"])
    assert (again["id"], again["statistic"]) == (document["id"], document["statistic"])


def test_declared_bounds_are_shown_as_complete_times(dated: Table) -> None:
    columns = dated.analyst.get(dated.path).json()["columns"]
    assert columns["day"]["bounds"] == ["2020-01-01", "2021-12-31"]
    assert columns["at"]["bounds"] == ["2020-12-01T00:00:00", "2021-01-31T23:00:00"]


def test_calendar_bins_have_names(dated: Table) -> None:
    weeks = {"kind": "histogram", "column": "day", "bins": "iso_week", "bounds": ["2020-12-24", "2021-01-05"]}
    plan = dated.plan(weeks, epsilon="1")
    bins = plan.json()["bins"]
    assert [each["label"] for each in bins] == ["2020-W52", "2020-W53", "2021-W01", "missing"]
    assert bins[1] == {"kind": "interval", "label": "2020-W53", "lower": "2020-12-28", "upper": "2021-01-04"}
    assert plan.json()["statistic"]["bounds"] == ["2020-12-21", "2021-01-10"]
    assert plan.json()["treatment"]["day"]["clamped_to"] == ["2020-12-21", "2021-01-10"]


def test_a_mean_is_a_date(dated: Table) -> None:
    document = released(dated, {"kind": "mean", "column": "day", "bounds": ["2020-12-31", "2021-01-04"]})
    assert document["statistic"]["bounds"] == ["2020-12-31", "2021-01-04"]
    # The days 0, 0, 1, 4 and, in place of the missing one, 2, since 2020-12-31.
    assert document["value"] == pytest.approx(18_627 + 7 / 5, abs=0.1)
    assert document["value_as_date"] == "2021-01-01"
    assert document["accuracy"]["interval_as_date"] == ["2021-01-01", "2021-01-02"]
    assert document["treatment"]["day"]["missing_as"] == "2021-01-02"
    assert document["treatment"]["day"]["clamped_to"] == ["2020-12-31", "2021-01-04"]
    assert re.search(r" is 2021-01-01 ± 0\.(39|40)\d* days \(95 % confidence\), ", document["summary"])
    again = released(dated, document["statistic"], alpha=0.5)
    assert (again["id"], again["value_as_date"]) == (document["id"], "2021-01-01")
    assert again["accuracy"]["interval_as_date"] == ["2021-01-01", "2021-01-02"]
    times = released(dated, {"kind": "mean", "column": "at"})
    assert times["statistic"]["bounds"] == ["2020-12-01T00:00:00", "2021-01-31T23:00:00"]
    assert times["value_as_date"].startswith("2021-01-1")


def derived(table: Table, statistic: dict[str, Any]) -> dict[str, Any]:
    body = {"derived": statistic, "epsilon": "1000", "alpha": 1e-9}  # so that no interval misses
    answer = table.analyst.post(f"/v1/datasets/{table.name}/derived", json=body)
    assert answer.status_code in {200, 201}, answer.text
    document: dict[str, Any] = answer.json()
    return document


def test_derived_statistics_are_dates(dated: Table) -> None:
    week = {"column": "day", "bounds": ["2020-12-28", "2021-01-06"]}
    median = derived(dated, week | {"kind": "quantile", "bins": "day", "probabilities": [0.5]})["estimates"]["quantile"]
    assert median["interval_as_date"][0][0] <= "2020-12-31" <= median["interval_as_date"][0][1] <= "2021-01-02"
    mean = derived(dated, week | {"kind": "mean", "where": {"x": {"between": [2, 3]}}})["estimates"]["mean"]
    assert (mean["value"], mean["interval_as_date"]) == (pytest.approx(18_627.5, abs=0.1), ["2020-12-31", "2021-01-01"])
    known = derived(dated, week | {"kind": "mean", "missing": "exclude"})["estimates"]["mean"]
    assert known["value"] == pytest.approx(18_627.5, abs=0.1)  # the mean of 2020-12-28, -31, 2021-01-01 and -04
    assert known["value_as_date"] in {"2020-12-31", "2021-01-01"}
    of_all = derived(dated, {"kind": "mean", "column": "at", "missing": "exclude"})["estimates"]["mean"]
    assert of_all["interval_as_date"][0].startswith("2021-01-")
    by = {"column": "at", "bins": "month"}
    means = derived(dated, {"kind": "mean", "column": "x", "group_by": by})
    assert means["estimates"]["mean"]["value"] == pytest.approx([1, 3.5], abs=0.1)
    assert [each["label"] for each in means["bins"]] == ["2020-12", "2021-01"]
    below = derived(dated, week | {"kind": "cumulative", "bins": "iso_week"})
    assert below["edges"] == ["2021-01-04", "2021-01-11"]


def test_guesses_of_dates_are_dates(dated: Table) -> None:
    median = {"kind": "quantile", "column": "day", "bins": "day", "probabilities": [0.5]}

    def plan(guesses: dict[str, Any], statistic: dict[str, Any] = median, **target: Any) -> httpx.Response:
        body = {"derived": statistic, "guesses": guesses, **(target or {"epsilon": 10})}
        return dated.analyst.post(f"/v1/datasets/{dated.name}/derived/plan", json=body)

    told = plan({"mean": "2020-12-31", "standard_deviation": 100}).json()
    assert told["expected"]["half_width"] > 0
    assert " days, if the guesses are right" in told["summary"]
    number = plan({"mean": 18_627, "standard_deviation": 100}).json()["errors"]
    assert number == [{"where": "guesses.mean", "what": 'must be a date, such as "2021-03-31": the column holds dates'}]
    line = {"kind": "regression", "columns": ["day", "x"]}
    guesses = {"slope": 1, "standard_deviation_x": 100, "mean_x": "2020-12-31", "mean_y": 3}
    assert plan(guesses, line).status_code == 200
    (error,) = plan(guesses | {"mean_y": "2020-12-31"}, line).json()["errors"]
    assert error == {"where": "guesses.mean_y", "what": "must be a number: the column holds no dates"}
    mean = {"kind": "mean", "column": "day", "where": {"x": {"between": [0, 3]}}}
    (error,) = plan({"mean": "2020-12-31", "count": 3}, mean, relative_accuracy=0.1).json()["errors"]
    assert error == {"where": "relative_accuracy", "what": "does not go with dates: give `accuracy`, in days"}


NO_DATE = "must be an ISO date or time that exists, such as 2021-03-31 or 2021-03-31T14:00"
REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "mean", "column": "day", "bounds": ["2021-02-29", "2021-03-01"]}, "statistic.bounds.0", NO_DATE),
    ({"kind": "mean", "column": "day", "bounds": ["2021-03-01", "2021-02-01"]}, "statistic.bounds", "below an upper"),
    ({"kind": "mean", "column": "day", "bounds": [1, 2]}, "statistic.bounds.0", 'must be a date, such as "2021-03-31"'),
    ({"kind": "mean", "column": "day", "bounds": ["2021-01-01T10:00", "2021-02-01"]}, "statistic.bounds.0", "without"),
    ({"kind": "mean", "column": "x", "bounds": ["2021-01-01", "2021-02-01"]}, "statistic.bounds.0", "holds no dates"),
    ({"kind": "sum", "column": "day"}, "statistic.column", "have no sum: ask for their mean"),
    ({"kind": "histogram", "column": "day", "bins": "week"}, "statistic.bins", "for dates one of day, iso_week"),
    ({"kind": "histogram", "column": "x", "bins": "month"}, "statistic.bins", "only dates have calendar periods"),
    ({"kind": "histogram", "column": "day", "bins": 732}, "statistic.bins", "at least one unit"),
    (
        {"kind": "histogram", "column": "at", "bins": "year", "bounds": ["2021-01-01", "2021-02-01"]},
        "statistic.bins",
        "2",
    ),
    ({"kind": "count", "group_by": "day"}, "statistic.group_by", '"bins": "month"'),
    ({"kind": "count", "group_by": {"column": "k", "bins": "month"}}, "statistic.group_by.bins", "only dates"),
    ({"kind": "count", "where": {"day": {"in": ["yesterday"]}}}, "statistic.where.0.in.0", "must be a date, such as"),
    ({"kind": "count", "where": {"day": {"between": [1, 2]}}}, "statistic.where.0.between.0", "must be a date"),
]


@pytest.mark.parametrize(("statistic", "where", "what"), REFUSED)
def test_refusals(dated: Table, statistic: dict[str, Any], where: str, what: str) -> None:
    answer = dated.release(statistic, epsilon="1")
    (error,) = answer.json()["errors"]
    assert (answer.status_code, error["where"]) == (422, where)
    assert what in error["what"]


BAD_COLUMNS: list[tuple[dict[str, Any], str, str]] = [
    ({"kind": "date", "bounds": ["2021-01-01", "2020-01-01"]}, "columns.0.bounds", "below an upper bound"),
    ({"kind": "date", "bounds": ["2021-01-32", "2022-01-01"]}, "columns.0.bounds.0", NO_DATE),
    ({"kind": "date", "bounds": [2020, 2021]}, "columns.0.bounds.0", "must be a string"),
    ({"kind": "date", "bounds": ["2020-01-01T00:00", "2021-01-01"]}, "columns.0.bounds.0", "without a time"),
    ({**COLUMNS["at"], "time_zone": "Europe/Pari"}, "columns.0.time_zone", "IANA database"),
    ({**COLUMNS["at"], "resolution": "week"}, "columns.0.resolution", "must be one of"),
]


@pytest.mark.parametrize(("column", "where", "what"), BAD_COLUMNS)
def test_bad_declarations(dated: Table, column: dict[str, Any], where: str, what: str) -> None:
    answer: httpx.Response = dated.service.upload(
        dated.owner, {"name": "bad", "epsilon_limit": "1", "columns": {"c": column}}, b"c\n1\n2\n"
    )
    errors = answer.json()["errors"]
    assert (answer.status_code, errors[0]["where"]) == (422, where)
    assert what in errors[0]["what"]


def test_the_python_client_takes_and_gives_dates(dated: Table) -> None:
    key = dated.analyst.headers["Authorization"].removeprefix("Bearer ")
    with Client(dated.service.url, key) as client:
        dataset = client.dataset(dated.name)
        week: Any = (date(2020, 12, 31), pd.Timestamp("2021-01-04"))
        release = dataset.mean("day", bounds=week, epsilon=1000)
        assert (release.value_as_date, release.interval_as_date) == (
            date(2021, 1, 1),
            (date(2021, 1, 1), date(2021, 1, 2)),
        )
        assert "mean of day: 2021-01-01 (2021-01-01 to 2021-01-02), 95 %" in str(release)
        assert "2021-01-01 to 2021-01-02" in release._repr_html_()
        assert release.to_frame()["value"].to_list() == [date(2021, 1, 1)]
        assert release.to_dict()["accuracy"]["interval_as_date"] == ["2021-01-01", "2021-01-02"]
        counted = dataset.counts(periods("day", "year"), epsilon=1000)
        assert counted.labels == ["2020", "2021", "missing"]
        assert "count by year of day" in str(counted)
        later = {"at": {"between": (datetime(2021, 1, 1, 12), date(2022, 1, 1))}}  # noqa: DTZ001
        means = dataset.mean_by_group("at", "k", where=later, epsilon=1000)
        (_, b, _) = means.estimates["mean"].date_rows or ()
        assert isinstance(b[1], datetime)
        assert f"{b[0]}  {b[1]} to {b[2]}" in str(means)
        median = dataset.median("day", bins="day", bounds=week, epsilon=1000)
        assert median.to_frame()["lower"].to_list()[0] >= date(2020, 12, 31)


def test_the_command_line_takes_and_gives_dates(dated: Table) -> None:
    settings = {"URL": dated.service.url, "KEY": dated.analyst.headers["Authorization"].removeprefix("Bearer ")}

    def run(*arguments: str) -> str:
        done = command_line.run(*arguments, "--epsilon", "1000", **settings)
        assert done.status == 0, done.err
        return done.out

    told = run("release", dated.name, "mean", "day", "--bounds", "2020-12-31,2021-01-04")
    assert "mean of day: 2021-01-01 (2021-01-01 to 2021-01-02), 95 %" in told
    told = run("release", dated.name, "count", "--group-by", "day:year", "--where", "at=2020-12-31..2021-01-01")
    assert "2020" in told
    assert "count by year of day where at between 2020-12-31T00:00:00 and 2021-01-01T23:00:00" in told
    told = run("derived", dated.name, "median", "day", "--bins", "day", "--bounds", "2020-12-28,2021-01-06")
    assert " to 2021-01-0" in told
