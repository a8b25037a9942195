"""Every statistic of the interface can be asked for as a sentence, and what is sent is what was chosen."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from asking import (
    add_condition,
    ask_for,
    at_least,
    choose_categories,
    count_missing,
    edit_condition,
    release,
    unfold,
)
from dashboard import Dashboard, Penguins
from playwright.sync_api import Page, Request, expect
from service_world import Service, key_of

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MASS = {"column": "body_mass_g", "bounds": ["2000", "7000"]}
BOTH = {"columns": ["body_mass_g", "bill_length_mm"], "bounds": [["2000", "7000"], ["30", "65"]]}
HEAVY = {"body_mass_g": {"at_least": "4000"}}
GENTOO = {"species": {"in": ["Gentoo"]}}
KNOWN = {"missing": "exclude"}


def drawn(dashboard: Dashboard) -> None:
    """The page has settled, and is accessible as it stands."""
    dashboard.settled()
    dashboard.assert_accessible()


def test_a_count_of_chosen_rows(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = ask_for(dashboard, penguins, "count")
    page.get_by_role("button", name="+ filter").click()
    expect(page.get_by_label("Filter by", exact=True)).to_be_focused()
    page.get_by_label("Filter by", exact=True).select_option("species")
    page.get_by_label("Gentoo").check()
    add_condition(page)
    expect(page.get_by_role("button", name="+ filter")).to_be_focused()
    at_least(page, "body_mass_g", "4000")
    expect(page.locator(".chips .chip-text")).to_have_text(["species Gentoo", "body_mass_g at least 4000"])
    drawn(dashboard)
    assert release(page).statistic == {"kind": "count", "where": GENTOO | HEAVY}


def test_a_condition_can_be_changed_and_removed(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "count")
    page.get_by_label("For each").select_option("species")
    edit_condition(page, "body_mass_g")
    page.get_by_label("Is", exact=True).select_option("in")
    page.get_by_label("Values", exact=True).fill("3750, 3800")
    add_condition(page)
    at_least(page, "bill_length_mm", "40")
    page.get_by_role("button", name="Remove the condition on bill_length_mm").click()
    expect(page.get_by_role("button", name="+ filter")).to_be_focused()
    expect(page.locator("#status")).to_have_text("The condition on bill_length_mm is removed.")
    page.get_by_role("button", name="Change the condition on body_mass_g").click()
    expect(page.get_by_label("Values", exact=True)).to_have_value("3750, 3800")
    page.get_by_label("Values", exact=True).fill("3750, 3900")
    page.get_by_label("Values", exact=True).press("Enter")  # adds it, and does not plan the form
    asked = {"kind": "count", "group_by": "species", "where": {"body_mass_g": {"in": ["3750", "3900"]}}}
    assert release(page).statistic == asked


@pytest.mark.parametrize(
    ("column", "chosen", "condition"),
    [
        ("body_mass_g", {"Is": "at_least", "Number": "4000"}, {"at_least": "4000"}),
        ("body_mass_g", {"Is": "below", "Number": "4000"}, {"below": "4000"}),
        ("body_mass_g", {"Is": "not:between", "From": "4000"}, {"not": {"between": ["4000", "7000"]}}),
        ("body_mass_g", {"Is": "missing"}, {"is_missing": True}),
        ("body_mass_g", {"Is": "known"}, {"is_missing": False}),
        ("species", {"Is": "not:in", "Gentoo": "check"}, {"not": {"in": ["Gentoo"]}}),
    ],
)
def test_conditions_as_people_think(
    opened: Opened, penguins: Penguins, column: str, chosen: dict[str, str], condition: dict[str, Any]
) -> None:
    """One end of a range, what is not so, and what has no value or has one."""
    page = ask_for(opened(), penguins, "count")
    edit_condition(page, column)
    for label, value in chosen.items():
        control = page.get_by_label(label, exact=True)
        if label == "Is":
            control.select_option(value)
        elif value == "check":
            control.check()
        else:
            control.fill(value)
    add_condition(page)
    assert release(page).statistic == {"kind": "count", "where": {column: condition}}


def test_a_condition_that_is_not_complete_is_told_at_its_field(opened: Opened, penguins: Penguins) -> None:
    """And no question is asked without a condition that is still being written."""
    page = ask_for(opened(), penguins, "count")
    page.get_by_label("For each").select_option("species")
    edit_condition(page, "body_mass_g")
    page.get_by_label("From", exact=True).fill("5000")
    page.get_by_label("To", exact=True).fill("4000")
    add_condition(page)
    expect(page.get_by_role("alert")).to_have_text("The end is below the beginning.")
    expect(page.get_by_label("To", exact=True)).to_be_focused()
    page.get_by_label("The plan").get_by_role("button", name="Release").click()
    expect(page.get_by_label("The plan").get_by_role("alert")).to_contain_text("A condition is not added yet")
    page.get_by_role("button", name="Cancel").click()
    edit_condition(page, "species")
    add_condition(page)
    expect(page.get_by_text("Choose at least one value.")).to_be_visible()


def test_a_category_among_many_is_found(opened: Opened, service: Service) -> None:
    categories = [f"town {at}" for at in range(120)]
    table = service.table({"town": {"kind": "category", "categories": categories}}, "town\n" + "town 7\n" * 20)
    page = ask_for(opened(), Penguins.of(table, service), "count")
    edit_condition(page, "town")
    page.get_by_label("Find").fill("town 11")
    expect(page.get_by_role("group", name="Values").get_by_role("checkbox")).to_have_count(11)
    page.get_by_role("button", name="All", exact=True).click()
    add_condition(page)
    expect(page.locator(".chip-text")).to_have_text("town town 11, town 110, town 111 and 8 more")
    chosen = ["town 11", *(f"town {at}" for at in range(110, 120))]
    assert release(page).statistic["where"] == {"town": {"in": chosen}}


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
    page = ask_for(dashboard, Penguins.of(table, service), "mean")
    expect(page.get_by_label("Column")).to_contain_text("Household income")
    expect(page.locator("summary", has_text="Bounds of income")).to_have_text("Bounds of income: 0 to 90,000 €")
    page.get_by_label("Precision").select_option("accuracy")
    expect(page.locator(".sentence")).to_contain_text("€ with")
    release(page)
    expect(page.locator(".result .value")).to_contain_text("€")
    expect(page.locator(".result .chart")).to_have_attribute("aria-label", re.compile("possible is 0 € to 90,000 €"))
    page.get_by_label("What you want to know").select_option("sum")
    page.get_by_label("For each").select_option(label="each Region")
    edit_condition(page, "region")
    expect(page.get_by_label("n (North)")).not_to_be_checked()
    page.get_by_role("button", name="Cancel").click()
    release(page)
    expect(page.locator(".result h2")).to_contain_text("sum of income")
    dashboard.settled()
    assert page.locator(".result .x-title").text_content() == "sum of Household income (€)"
    assert page.locator(".result .row-label").first.text_content() == "North"
    expect(page.locator(".result tbody th").first).to_have_text("North")


def test_two_columns_with_one_label_keep_their_names(opened: Opened, service: Service) -> None:
    columns = {name: {"kind": "integer", "bounds": [0, 9], "label": "Score"} for name in ("first", "second")}
    table = service.table(columns, "first,second\n" + "1,2\n" * 9)
    page = ask_for(opened(), Penguins.of(table, service), "mean")
    assert page.get_by_label("Column").locator("option").all_inner_texts() == ["first", "second"]


def test_a_sum_for_each_category(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = ask_for(dashboard, penguins, "sum")
    page.get_by_label("For each").select_option("species")
    drawn(dashboard)
    asked = release(page)
    assert (asked.to, asked.statistic) == ("derived", {"kind": "sum", **MASS, "group_by": "species", **KNOWN})
    rows = page.locator(".result table").first.locator("tbody tr").all_inner_texts()
    assert [row.split("\t")[0] for row in rows][:3] == ["Adelie", "Chinstrap", "Gentoo"]
    assert len(rows) == len(asked.answer["estimates"]["sum"]["value"])
    dashboard.settled()
    assert page.locator(".result .x-title").text_content() == "sum of body_mass_g"


def test_a_histogram_of_chosen_rows(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "histogram")
    page.get_by_label("Column").select_option("species")
    at_least(page, "body_mass_g", "4000")
    assert release(page).statistic == {"kind": "histogram", "column": "species", "where": HEAVY}


def test_a_two_way_table_is_a_heatmap_with_its_figures(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = ask_for(dashboard, penguins, "table")
    page.get_by_label("Second column").select_option("species")
    unfold(page, "Intervals of body_mass_g")
    page.get_by_label("Intervals").select_option("edges")
    page.get_by_label("Edges").fill("2000, 4000, 7000")
    edit_condition(page, "bill_length_mm")
    add_condition(page)
    drawn(dashboard)
    statistic = release(page).statistic
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


def test_a_boolean_is_true_or_false(opened: Opened, service: Service) -> None:
    table = service.table({"answer": {"kind": "boolean"}}, "answer\n" + "true\nfalse\n" * 20, limit="10", allowance="4")
    page = ask_for(opened(), Penguins.of(table, service), "count")
    edit_condition(page, "answer")
    add_condition(page)
    assert release(page).statistic == {"kind": "count", "where": {"answer": {"in": [True]}}}


def test_dates_are_chosen_and_shown_as_dates(opened: Opened, service: Service) -> None:
    columns = {"day": {"kind": "date", "bounds": ["2021-01-01", "2021-03-31"], "nullable": False}}
    table = service.table(columns, "day\n" + "2021-02-03\n" * 400, limit="100", allowance="100")
    dashboard = opened()
    page = ask_for(dashboard, Penguins.of(table, service), "mean")
    page.get_by_label("ε", exact=True).fill("10")
    unfold(page, "Bounds of day")
    page.get_by_label("Lower").fill("2021-02-01")
    expect(page.get_by_role("img", name="in the possible range from 2021-02-01 to 2021-03-31")).to_be_visible()
    drawn(dashboard)
    assert release(page).statistic == {"kind": "mean", "column": "day", "bounds": ["2021-02-01", "2021-03-31"]}
    expect(page.locator(".result .value")).to_have_text("2021-02-03")
    page.get_by_label("What you want to know").select_option("histogram")
    edit_condition(page, "day")
    page.get_by_label("From", exact=True).fill("2021-02-01")
    add_condition(page)
    statistic = release(page).statistic
    assert statistic["bins"] == "month"
    assert statistic["where"] == {"day": {"between": ["2021-02-01", "2021-03-31"]}}
    assert page.locator(".result tbody th, .result tbody td").first.inner_text() == "2021-01"
    page.get_by_label("What you want to know").select_option("count")
    page.get_by_role("button", name="Remove the condition on day").click()
    page.get_by_label("For each").select_option("month of day")
    assert release(page).statistic["group_by"] == {"column": "day", "bins": "month"}


def test_categories_with_commas_are_quoted(opened: Opened, service: Service) -> None:
    columns = {"answer": {"kind": "category", "categories": ["plain", "yes, no", 'say "so"', "", " edge"]}}
    table = service.table(columns, "answer\nplain\nplain\n")
    page = opened().sign_in(key_of(table.owner), f"#/datasets/{table.name}")
    expect(page.locator("main")).to_contain_text(r'plain, "yes, no", "say \"so\"", "", " edge"')


def conditions_planned(page: Page, act: Callable[[], object]) -> object:
    """What the next plan has for conditions, after something was done."""

    def is_plan(request: Request) -> bool:  # and not that of another price
        return request.url.endswith("/plan") and request.post_data_json["epsilon"] == "0.5"

    with page.expect_request(is_plan) as asked:
        act()
    return asked.value.post_data_json["statistic"].get("where")


def test_each_column_has_one_condition_and_the_plan_follows(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "count")
    expect(page.get_by_text("The number of all rows is public")).to_be_visible()  # nothing is asked any more
    add = page.get_by_role("button", name="+ filter")
    offered = page.get_by_label("Filter by", exact=True).locator("option")
    mass, length = {"body_mass_g": {"between": ["2000", "7000"]}}, {"bill_length_mm": {"between": ["30", "65"]}}
    adelie = {"species": {"in": ["Adelie"]}}
    add.click()
    assert offered.all_inner_texts() == ["body_mass_g", "bill_length_mm", "species"]
    assert conditions_planned(page, lambda: add_condition(page)) == mass
    add.click()
    assert offered.all_inner_texts() == ["bill_length_mm", "species"]
    assert conditions_planned(page, lambda: add_condition(page)) == mass | length
    assert conditions_planned(page, lambda: choose_categories(page, "species", "Adelie")) == mass | length | adelie
    expect(add).to_be_hidden()
    remove = page.get_by_role("button", name="Remove the condition on bill_length_mm")
    assert conditions_planned(page, remove.click) == mass | adelie
    add.click()
    assert offered.all_inner_texts() == ["bill_length_mm"]


def test_groups_are_of_categories_alone(opened: Opened, penguins: Penguins) -> None:
    page = ask_for(opened(), penguins, "sum")
    assert page.get_by_label("For each").locator("option").all_inner_texts() == ["all rows", "each species"]


def test_where_missing_values_count_the_statistic_is_a_release(opened: Opened, penguins: Penguins) -> None:
    """Nobody needs to know which statistics are released and which are derived."""
    page = ask_for(opened(), penguins, "mean")
    count_missing(page)
    asked = release(page)
    options = {"epsilon": "0.5", "alpha": "0.05", "gamma": "0.05", "grid_refinement": "auto", "reuse": True}
    assert (asked.to, asked.body) == ("releases", {"statistic": {"kind": "mean", **MASS}} | options)
    page.get_by_label("What you want to know").select_option("variance")
    asked = release(page)
    assert (asked.to, asked.statistic) == ("releases", {"kind": "variance", **MASS})
    page.get_by_label("What you want to know").select_option("covariance")
    asked = release(page)
    assert (asked.to, asked.statistic) == ("releases", {"kind": "covariance", **BOTH})
    page.get_by_label("What you want to know").select_option("missing")
    asked = release(page)
    assert (asked.to, asked.statistic) == ("releases", {"kind": "missing", "column": "body_mass_g"})
    choose_categories(page, "species", "Adelie")
    where = {"species": {"in": ["Adelie"]}, "body_mass_g": {"is_missing": True}}
    assert release(page).statistic == {"kind": "count", "where": where}


@pytest.mark.parametrize(
    ("columns", "wants"),
    [
        ({"a": "category"}, ["count", "proportion", "missing", "histogram"]),
        (
            {"a": "boolean"},
            ["mean", "sum", "count", "proportion", "missing", "histogram", "standard_deviation", "variance"],
        ),
        (
            {"a": "category", "b": "integer"},
            [
                *("mean", "sum", "count", "proportion", "missing"),
                *("histogram", "quantile", "cumulative", "standard_deviation", "variance"),
                *("table", "margin"),
            ],
        ),
    ],
)
def test_only_what_a_table_allows_is_offered(
    opened: Opened, service: Service, columns: dict[str, str], wants: list[str]
) -> None:
    declared = {"category": {"categories": ["x", "y"]}, "integer": {"bounds": [0, 9]}, "boolean": {}}
    described = {name: {"kind": kind, **declared[kind]} for name, kind in columns.items()}
    table = service.table(described, f"{','.join(columns)}\n" + f"{','.join('1' * len(columns))}\n" * 2)
    page = ask_for(opened(), Penguins.of(table, service))
    options = page.get_by_label("What you want to know").locator("option")
    assert options.evaluate_all("all => all.map((option) => option.value)") == wants
