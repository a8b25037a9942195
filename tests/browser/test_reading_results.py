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
