"""`snapledger audit`, as a statistician runs it."""

import json

import pytest
from gmpy2 import mpq
from mutants import without_outer_clamp
from typer.testing import CliRunner, Result

from app.cli.service_commands import app
from app.dp.mechanism import draw as production
from app.mechanism_audit import report
from app.mechanism_audit.draft import report as draft_report
from app.mechanism_audit.draft import theorem
from app.mechanism_audit.findings import Finding, at_least, at_most, beside, negligible, power_of_two, short
from app.mechanism_audit.intervals import Interval

WIDE = {"COLUMNS": "200", "NO_COLOR": "1"}


def audit(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["audit", *arguments], env=WIDE)


@pytest.mark.slow
def test_a_table_to_read() -> None:
    done = audit("--epsilon", "1", "--rows", "2")
    assert done.exit_code == 0, done.output
    for shown in ("ε = 1, 2 rows, γ = 0.05", "parameter", "claimed", "exact", "verdict", "privacy loss at distance 1"):
        assert shown in done.output
    assert "Every claim holds." in done.output
    assert "EXCEEDED" not in done.output


@pytest.mark.slow
def test_the_same_as_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "_ROWS_OF_A_PERSON", (3,))  # as many as there are
    done = audit("--epsilon", "0.5", "--rows", "3", "--format", "json")
    found = json.loads(done.output)
    assert found["holds"] is True
    titles = [section["title"] for section in found["sections"]]
    assert len(titles) == 4
    assert all("ε = 0.5, 3 rows" in title for title in titles)
    rows = found["sections"][0]["rows"]
    loss = next(row for row in rows if row["parameter"] == "privacy loss at distance 1")
    assert loss["claimed"] == "≤ ε"
    assert loss["exact"].startswith("ε − ")
    assert loss["verdict"] == "holds"


def test_an_excess_is_an_exit_status_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(production, "_round_and_clamp", without_outer_clamp)
    done = audit("--epsilon", "1", "--rows", "2", "--format", "json")
    assert done.exit_code == 1
    found = json.loads(done.output)
    assert found["holds"] is False
    assert found["sections"][0]["rows"][-1]["verdict"] == "EXCEEDED"
    done = audit("--epsilon", "1", "--rows", "2")
    assert done.exit_code == 1
    assert "EXCEEDED" in done.output
    assert done.output.rstrip().endswith("Not every claim holds.")


@pytest.mark.parametrize("epsilon", ["nan", "inf", "0.0", "-1", "1e-10", "1001", "one", "1e999999999"])
def test_only_an_epsilon_is_audited(epsilon: str) -> None:
    done = audit("--epsilon", epsilon)
    assert isinstance(done.exception, ValueError)
    assert str(done.exception) == "an audit takes an ε from 0.000000001 to 1000"


def test_only_datasets_are_audited() -> None:
    assert isinstance(audit("--rows", "1").exception, ValueError)


def test_the_draft_s_table() -> None:
    done = audit("--draft", "--epsilon", "1", "--rows", "10")
    assert done.exit_code == 0, done.output
    lines = {line.split("  ")[1].strip(): line for line in done.output.splitlines() if line.startswith("  ")}
    assert "too small" in lines["all: Theorem 2"]
    assert "suffices" in lines["−B < x < ⌊f(a)⌉, x < 0"]
    assert "no such x" in lines["⌊f(a)⌉ < x < ⌊f(a′)⌉"]
    assert "above ε" in lines["the notes': the same, U of 53 bits"]
    assert "holds" in lines["this one: U revealed bit by bit"]


def test_a_bound_that_an_input_exceeds_is_an_exit_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(theorem, "_error", lambda setting, y, query: setting.eta * abs(y - query))
    done = audit("--draft", "--epsilon", "1", "--rows", "10", "--format", "json")
    assert done.exit_code == 1
    assert json.loads(done.output)["holds"] is False


def test_what_the_draft_s_constants_are_told_to_be() -> None:
    verdicts = [
        draft_report._verdict(mpq(12), mpq(proved), needed)
        for proved, needed in ((11, None), (13, None), (14, mpq(13)))
    ]
    assert verdicts == ["suffices", "not shown", "too small"]
    assert draft_report._verdict(None, mpq(1), mpq(1)) == ""


def test_numbers_as_a_reader_wants_them() -> None:
    assert beside(mpq(1) - mpq(1, 10**30), mpq(1), "ε") == "ε − 1.00e-30"
    assert beside(mpq(2) + mpq(1, 10**30), mpq(2), "ε") == "ε + 1.00e-30"
    assert beside(mpq(1), mpq(1), "ε") == "ε"
    assert beside(mpq(1, 3), mpq(1), "ε") == "0.333333"
    assert [short(q) for q in (mpq(0), mpq(57), mpq(1, 10**5), mpq(10**12), mpq(-5, 2))] == [
        "0",
        "57",
        "1.00e-5",
        "1.00e+12",
        "-2.5",
    ]
    assert [power_of_two(q) for q in (mpq(0), mpq(1, 2**100), mpq(3))] == ["0", "2^-100.0", "2^1.6"]
    assert Finding("a", "b", "c", holds=True).on("d").examined == "d"


def test_what_may_be_above_a_limit_is_not_below_it() -> None:
    straddling = Interval(mpq(1), mpq(1) + mpq(1, 2**300))
    assert not at_most("loss", straddling, mpq(1)).holds
    assert at_most("loss", Interval.point(mpq(1)), mpq(1)).holds
    assert not at_most("loss", None, mpq(1)).holds
    assert at_least("loss", mpq(1), mpq(1)).holds
    assert not at_least("loss", mpq(1) - mpq(1, 2**300), mpq(1)).holds
    assert not negligible("distance", mpq(1, 2**100), -100).holds
    assert negligible("distance", mpq(1, 2**101), -100).holds
