"""What somebody reads of results: nothing that is not known, no figures of others, and numbers for people."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from asking import ask_for, release
from dashboard import Dashboard, Penguins, measured
from playwright.sync_api import expect
from service_world import Service

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MEAN = {"kind": "mean", "column": "body_mass_g"}


def test_a_value_of_which_nothing_is_known_is_not_shown_as_known(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "regression")
    page.get_by_label("ε", exact=True).fill("0.001")
    page.get_by_label("Confidence").fill("99.9999999")  # no noise is so rare that something is known
    answer = release(page).answer
    assert answer["estimates"]["slope"]["interval"] == [None, None]
    shown = page.locator(".result").first
    expect(shown.get_by_text("Nothing is known about the slope: the noise is too large.")).to_be_visible()
    expect(shown.get_by_text("no information", exact=True).first).to_be_visible()  # without a unit
    expect(shown.get_by_text("is in the interval with")).to_have_count(0)
    expect(shown.locator("p.value")).to_have_count(0)
    expect(shown.get_by_text("Leaving out rows without a value of body_mass_g")).to_be_visible()


def test_what_was_left_to_somebody_else_then_is_not_shown_as_left_now(opened: Opened, penguins: Penguins) -> None:
    paid = penguins.table.fresh(MEAN, epsilon="1")
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/releases/{paid['id']}")
    expect(page.get_by_text("Charged", exact=True)).to_be_visible()
    expect(page.get_by_text("Left of", exact=False)).to_have_count(0)


def test_the_list_of_releases_is_rounded_and_names_what_each_has(opened: Opened, penguins: Penguins) -> None:
    asked: list[dict[str, Any]] = [
        MEAN,
        {"kind": "count", "group_by": "species"},
        {"kind": "quantile_search", "column": "body_mass_g", "bins": 10, "probabilities": ["0.5"]},
        {"kind": "sum", "column": "body_mass_g", "centred": True},
    ]
    found = [penguins.table.fresh(one, epsilon="0.2") for one in asked]
    page = opened().sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/releases")
    page.get_by_role("link", name="mean of body_mass_g").wait_for()
    rows = [row.split("\t")[:3] for row in page.get_by_role("table").locator("tbody tr").all_inner_texts()][::-1]
    value, error = measured(found[0]["value_in_range"], found[0]["accuracy"]["radius"]).split(" ± ")
    assert rows[0][1:] == [value, f"± {error}"]
    assert rows[1][1] == "4 groups"
    assert rows[2][0].startswith("quantile search of body_mass_g")
    assert rows[2][1].endswith(" steps")
    assert rows[3][0].startswith("centred sum of body_mass_g")


def test_a_quantile_with_a_unit_is_no_year(opened: Opened, service: Service) -> None:
    columns = {"mass": {"kind": "integer", "bounds": [2000, 7000], "unit": "g", "nullable": False}}
    table = service.table(columns, "mass\n" + "4200\n" * 300, limit="20", allowance="20")
    page = ask_for(opened(), Penguins.of(table, service), "quantile")
    page.get_by_label("ε", exact=True).fill("9")
    release(page)
    median = page.locator(".result tbody tr").filter(has_text="0.5 (median)")
    expect(median.locator("td").first).to_have_text(re.compile(r"^\d,\d{3} g$"))


def test_years_have_no_separators(opened: Opened, service: Service) -> None:
    """Neither in the plan, nor in a value, its interval and its axis, nor in the list and the columns."""
    columns = {
        "year": {"kind": "integer", "bounds": [2000, 2020]},
        "width": {"kind": "integer", "bounds": [2000, 2020]},
    }
    rows = "year,width\n" + "2010,2010\n" * 400
    penguins = Penguins.of(service.table(columns, rows, limit="50", allowance="50"), service)
    asked = {"kind": "mean"}, {"kind": "histogram", "bins": 10}
    made = [penguins.table.fresh(each | {"column": name}, epsilon="2") for name in columns for each in asked]
    page = ask_for(opened(), penguins, "mean")
    page.get_by_label("Column").select_option("year")
    expect(page.get_by_text("Bounds of year: 2000 to 2020")).to_be_visible()
    expect(page.get_by_label("An interval of ±")).to_have_attribute("aria-label", re.compile("2000 to 2020"))
    page.get_by_label("Column").select_option("width")
    expect(page.get_by_text("Bounds of width: 2,000 to 2,020")).to_be_visible()
    for shown, separated in zip(made, (False, False, True, True), strict=True):
        page.goto(f"{page.url.split('#')[0]}#/datasets/{penguins.name}/releases/{shown['id']}")
        picture = page.locator(".result .chart svg").first
        expect(picture).to_contain_text("2,0" if separated else "20")
        assert ("2,0" in page.locator(".result").inner_text()) is separated
    page.get_by_role("link", name="Releases", exact=True).first.click()
    page.get_by_role("link", name="mean of year").wait_for()
    means = [row for row in page.get_by_role("table").locator("tbody tr").all_inner_texts() if row.startswith("mean")]
    assert ["2,0" in row.split("\t")[1] for row in means] == [True, False]
    page.get_by_role("link", name="Overview").click()
    page.get_by_role("cell", name="2000 to 2020").wait_for()
    kinds = [row.split("\t")[:3] for row in page.locator("main table tbody tr").all_inner_texts() if "whole" in row]
    assert kinds == [
        ["year", "whole number", "2000 to 2020"],
        ["width", "whole number", "2,000 to 2,020"],
    ]
    expect(page.get_by_text("a missing one counts as 2010")).to_be_visible()


def test_a_derived_answer_has_an_address_that_never_pays(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = ask_for(dashboard, penguins, "standard_deviation")
    page.get_by_label("ε", exact=True).fill("1")
    answer = release(page).answer
    spent = penguins.table.budget()["epsilon_spent"]
    address = page.get_by_role("link", name="Page of this answer").get_attribute("href") or ""
    page.goto(f"{dashboard.url}/{address}")
    page.reload()
    shown = page.locator(".result")
    expect(shown.get_by_role("heading").first).to_have_text(re.compile("^standard deviation of"))
    expect(shown).to_contain_text("ε 0 (earlier releases answer)")
    assert penguins.table.budget()["epsilon_spent"] == spent == answer["budget"]["charged"]
    with page.expect_response(re.compile("derived/plan$")):
        page.goto(f"{dashboard.url}/{address.replace('%221%22', '%222%22')}")  # at twice the ε
    expect(page.get_by_text("Opening an address never pays")).to_be_visible()
    assert penguins.table.budget()["epsilon_spent"] == spent
    page.goto(f"{dashboard.url}/#/datasets/{penguins.name}/derived/%7B")
    expect(page.get_by_text("This address has no question")).to_be_visible()


def test_the_old_address_of_derived_statistics_leads_to_the_questions(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/derived")
    expect(page.get_by_label("What you want to know")).to_be_visible()
    assert page.url.endswith("/plan")


def test_radii_in_lists_have_units(opened: Opened, service: Service) -> None:
    columns = {"mass": {"kind": "integer", "bounds": [2000, 7000], "unit": "g"}}
    table = service.table(columns, "mass\n" + "4200\n" * 300, limit="20", allowance="20")
    penguins = Penguins.of(table, service)
    table.fresh({"kind": "histogram", "column": "mass", "bins": 10}, epsilon="1")
    table.fresh({"kind": "mean", "column": "mass"}, epsilon="1")
    page = opened().sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/releases")
    page.get_by_role("link", name="mean of mass").wait_for()
    radii = [row.split("\t")[2] for row in page.get_by_role("table").locator("tbody tr").all_inner_texts()]
    assert [re.sub(r"[\d,.]+", "N", radius) for radius in radii] == ["± N g", "± N rows"]
    deviation = {"derived": {"kind": "standard_deviation", "column": "mass"}, "epsilon": "1"}
    assert table.analyst.post(f"{table.path}/derived", json=deviation).status_code == 201
    page.reload()
    page.get_by_role("link", name="variance of mass").wait_for()
    radii = [row.split("\t")[2] for row in page.get_by_role("table").locator("tbody tr").all_inner_texts()]
    assert any(radius.endswith(" g²") for radius in radii)
