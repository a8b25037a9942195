"""Every statistic of the interface can be asked for in the planner, and what is sent is what was chosen."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from dashboard import Dashboard, Penguins, press_release
from playwright.sync_api import Page, expect
from service_world import Service, key_of

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
HEAVY = {"body_mass_g": {"between": ["4000", "7000"]}}
GENTOO = {"species": {"in": ["Gentoo"]}}


def planner(dashboard: Dashboard, penguins: Penguins, kind: str) -> Page:
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/plan")
    page.get_by_label("Kind").select_option(kind)
    return page


def only(page: Page, column: str) -> None:
    page.get_by_label("Filter by", exact=True).select_option(column)
    page.get_by_role("button", name="Add a condition").click()


def released(page: Page) -> dict[str, Any]:
    """Ask for it; the statistic that was sent."""
    with page.expect_request(lambda request: request.url.endswith("/releases") and request.method == "POST") as asked:
        press_release(page)
    page.locator(".result").wait_for()
    statistic: dict[str, Any] = asked.value.post_data_json["statistic"]
    return statistic


def drawn(dashboard: Dashboard) -> None:
    """The curve is a line, and the page is accessible as it stands."""
    dashboard.settled()
    assert dashboard.page.get_by_label("Radius against ε").locator(".line").count() > 0
    dashboard.assert_accessible()


def test_a_count_of_chosen_rows(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins, "count")
    only(page, "species")
    expect(page.get_by_label("Adelie")).to_be_focused()
    page.get_by_label("Adelie").uncheck()
    page.get_by_label("Chinstrap").uncheck()
    only(page, "body_mass_g")
    page.get_by_label("From").fill("4000")
    drawn(dashboard)
    assert released(page) == {"kind": "count", "where": GENTOO | HEAVY}


def test_a_condition_can_be_removed(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, "count")
    page.get_by_label("For each").select_option("species")
    only(page, "body_mass_g")
    page.get_by_label("Is", exact=True).select_option("in")
    page.get_by_label("Values", exact=True).fill("3750, 3800")
    only(page, "bill_length_mm")
    page.get_by_role("button", name="Remove the condition on bill_length_mm").click()
    expect(page.get_by_label("Filter by", exact=True)).to_be_focused()
    expect(page.locator("#status")).to_have_text("The condition on bill_length_mm is removed.")
    statistic = released(page)
    assert statistic == {"kind": "count", "group_by": "species", "where": {"body_mass_g": {"in": ["3750", "3800"]}}}


@pytest.mark.parametrize(
    ("column", "chosen", "condition"),
    [
        ("body_mass_g", {"Is": "at_least", "Number": "4000"}, {"at_least": "4000"}),
        ("body_mass_g", {"Is": "below", "Number": "4000"}, {"below": "4000"}),
        ("body_mass_g", {"Rows": "not", "From": "4000"}, {"not": {"between": ["4000", "7000"]}}),
        ("body_mass_g", {"Rows": "missing"}, {"is_missing": True}),
        ("body_mass_g", {"Rows": "known"}, {"is_missing": False}),
        ("species", {"Rows": "not"}, {"not": {"in": ["Adelie", "Chinstrap", "Gentoo"]}}),
    ],
)
def test_conditions_as_people_think(
    opened: Opened, penguins: Penguins, column: str, chosen: dict[str, str], condition: dict[str, Any]
) -> None:
    """One end of a range, what is not so, and what has no value or has one."""
    page = planner(opened(), penguins, "count")
    only(page, column)
    for label, value in chosen.items():
        control = page.get_by_label(label, exact=True)
        if label in {"Is", "Rows"}:
            control.select_option(value)
        else:
            control.fill(value)
    values = page.get_by_label("Is", exact=True)
    expect(values).to_be_visible(visible="is_missing" not in condition and column == "body_mass_g")
    assert released(page) == {"kind": "count", "where": {column: condition}}


def test_units_and_labels_are_shown(opened: Opened, service: Service) -> None:
    """In the forms, on the axes, and beside the numbers."""
    columns = {
        "income": {
            "kind": "integer",
            "bounds": [0, 90000],
            "nullable": False,
            "unit": "€",
            "label": "Household income",
        },
        "region": {"kind": "category", "categories": ["n", "s"], "category_labels": {"n": "North"}, "label": "Region"},
    }
    table = service.table(columns, "income,region\n" + "30000,n\n50000,s\n" * 200, limit="100", allowance="100")
    dashboard = opened()
    page = planner(dashboard, Penguins.of(table, service), "mean")
    expect(page.get_by_label("Column")).to_contain_text("income: Household income (€)")
    expect(page.get_by_role("group", name="Bounds of income (€)")).to_be_visible()
    released(page)
    expect(page.locator(".result .value")).to_contain_text("€")
    expect(page.locator(".result .chart")).to_have_attribute("aria-label", re.compile("possible is 0 € to 90,000 €"))
    page.get_by_label("Kind").select_option("sum")
    page.get_by_label("For each").select_option(label="region: Region")
    only(page, "region")
    expect(page.get_by_label("n (North)")).to_be_checked()
    page.get_by_role("button", name="Remove the condition on region").click()
    released(page)
    expect(page.locator(".result h2")).to_contain_text("sum of income")
    dashboard.settled()
    assert page.locator(".result .x-title").text_content() == "sum of Household income (€)"
    assert page.locator(".result .row-label").first.text_content() == "North"
    expect(page.locator(".result tbody th").first).to_have_text("North")


def test_a_sum_for_each_category(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins, "sum")
    page.get_by_label("For each").select_option("species")
    drawn(dashboard)
    asked = {"kind": "sum", "column": "body_mass_g", "bounds": ["2000", "7000"], "group_by": "species"}
    assert released(page) == asked
    (stored,) = penguins.table.analyst.get(f"{penguins.table.path}/releases").json()["releases"]
    rows = page.locator(".result tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows][:3] == ["Adelie", "Chinstrap", "Gentoo"]
    assert len(rows) == len(stored["value"])
    dashboard.settled()
    assert page.locator(".result .x-title").text_content() == "sum of body_mass_g"


def test_a_histogram_of_chosen_rows(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, "histogram")
    page.get_by_label("Column").select_option("species")
    only(page, "body_mass_g")
    page.get_by_label("From").fill("4000")
    assert released(page) == {"kind": "histogram", "column": "species", "where": HEAVY}


def test_a_two_way_table_is_a_heatmap_with_its_figures(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = planner(dashboard, penguins, "table")
    page.get_by_label("Second column").select_option("species")
    page.get_by_label("Bins").select_option("edges")
    page.get_by_label("Edges").fill("2000, 4000, 7000")
    only(page, "bill_length_mm")
    drawn(dashboard)
    statistic = released(page)
    assert statistic == {
        "kind": "histogram",
        "columns": ["body_mass_g", "species"],
        "edges": [["2000", "4000", "7000"], None],
        "where": {"bill_length_mm": {"between": ["30", "65"]}},
    }
    drawn(dashboard)
    (stored,) = penguins.table.analyst.get(f"{penguins.table.path}/releases").json()["releases"]
    rows, columns = ([each["label"] for each in axis["bins"]] for axis in stored["axes"])
    told = page.locator(".result table tr")
    assert told.first.locator("th").all_inner_texts() == ["body_mass_g \\ species", *columns]
    assert told.locator("th[scope=row]").all_inner_texts() == rows
    cells = [float(text.split("\n")[0].replace(",", "")) for text in told.locator("td").all_inner_texts()]
    assert cells == stored["value_in_range"][: len(rows) * len(columns)]
    drawn_cells = [text.replace(",", "") for text in page.locator(".result .cell > text").all_text_contents()]
    assert [float(text) for text in drawn_cells] == cells
    outside = page.locator(".result dl > div").filter(has=page.locator("dt", has_text="outside")).locator("dd")
    count = stored["value_in_range"][-1]
    assert outside.inner_text().startswith(f"{count:g}")
    ticks = page.locator(".result .y-tick")
    places = [ticks.nth(at).bounding_box()["y"] for at in range(len(rows))]
    texts = ticks.all_text_contents()
    assert [label for _, label in sorted(zip(places, texts, strict=True))] == rows  # from the top, as in the table


def test_a_boolean_is_chosen_by_checkboxes(opened: Opened, service: Service) -> None:
    table = service.table({"answer": {"kind": "boolean"}}, "answer\n" + "true\nfalse\n" * 20, limit="10", allowance="4")
    page = planner(opened(), Penguins.of(table, service), "count")
    only(page, "answer")
    page.get_by_label("false").uncheck()
    assert released(page) == {"kind": "count", "where": {"answer": {"in": [True]}}}


def test_dates_are_chosen_and_shown_as_dates(opened: Opened, service: Service) -> None:
    columns = {"day": {"kind": "date", "bounds": ["2021-01-01", "2021-03-31"], "nullable": False}}
    table = service.table(columns, "day\n" + "2021-02-03\n" * 400, limit="100", allowance="100")
    dashboard = opened()
    page = planner(dashboard, Penguins.of(table, service), "mean")
    page.get_by_label("ε", exact=True).fill("10")
    page.get_by_label("Lower").fill("2021-02-01")
    drawn(dashboard)
    assert released(page) == {"kind": "mean", "column": "day", "bounds": ["2021-02-01", "2021-03-31"]}
    expect(page.locator(".result .value")).to_have_text("2021-02-03")
    page.get_by_label("Kind").select_option("histogram")
    only(page, "day")
    page.get_by_label("From").fill("2021-02-01")
    statistic = released(page)
    assert statistic["bins"] == "month"
    assert statistic["where"] == {"day": {"between": ["2021-02-01", "2021-03-31"]}}
    assert page.locator(".result tbody th, .result tbody td").first.inner_text() == "2021-01"
    page.get_by_label("Kind").select_option("count")
    page.get_by_label("For each").select_option("month of day")
    only(page, "day")
    assert released(page)["group_by"] == {"column": "day", "bins": "month"}


def test_a_condition_that_nothing_can_meet_is_told(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, "count")
    only(page, "species")
    for category in ("Adelie", "Chinstrap", "Gentoo"):
        page.get_by_label(category).uncheck()
    expect(page.get_by_role("alert")).to_contain_text("has too few items: at least 1")


def test_categories_with_commas_are_quoted(opened: Opened, service: Service) -> None:
    columns = {"answer": {"kind": "category", "categories": ["plain", "yes, no", 'say "so"', "", " edge"]}}
    table = service.table(columns, "answer\nplain\nplain\n")
    page = opened().sign_in(key_of(table.owner), f"#/datasets/{table.name}")
    expect(page.locator("main")).to_contain_text(r'plain, "yes, no", "say \"so\"", "", " edge"')


def conditions_planned(page: Page, act: Callable[[], object]) -> object:
    """What the next plan has for conditions, after something was done."""
    with page.expect_request(
        lambda request: request.url.endswith("/plan") and "curve" not in request.post_data
    ) as asked:
        act()
    return asked.value.post_data_json["statistic"].get("where")


def test_each_column_has_one_condition_and_the_plan_follows(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, "count")
    expect(page.get_by_role("alert")).to_contain_text(
        "a count needs `where` or `group_by`"
    )  # nothing is asked any more
    choice = page.get_by_label("Filter by", exact=True)
    add = page.get_by_role("button", name="Add a condition")
    offered = choice.locator("option")
    mass, length = {"body_mass_g": {"between": ["2000", "7000"]}}, {"bill_length_mm": {"between": ["30", "65"]}}
    everybody = {"species": {"in": ["Adelie", "Chinstrap", "Gentoo"]}}
    assert offered.all_inner_texts() == ["body_mass_g", "bill_length_mm", "species"]
    assert conditions_planned(page, add.click) == mass
    assert offered.all_inner_texts() == ["bill_length_mm", "species"]
    assert conditions_planned(page, add.click) == mass | length
    assert conditions_planned(page, add.click) == mass | length | everybody
    expect(choice).to_be_hidden()
    expect(add).to_be_hidden()
    remove = page.get_by_role("button", name="Remove the condition on bill_length_mm")
    assert conditions_planned(page, remove.click) == mass | everybody
    expect(choice).to_be_visible()
    assert offered.all_inner_texts() == ["bill_length_mm"]


def test_groups_are_of_categories_alone(opened: Opened, penguins: Penguins) -> None:
    page = planner(opened(), penguins, "sum")
    assert page.get_by_label("For each").locator("option").all_inner_texts() == ["all rows together", "species"]
