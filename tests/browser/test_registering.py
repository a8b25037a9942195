"""An owner registers a table without JSON: drops a file, confirms its columns, reads the report and grants access."""

import json
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dashboard import Dashboard
from playwright.sync_api import Browser, Locator, Page, expect
from service_world import Service, a_name, key_of, serving

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]

PENGUINS = str(files("app.demo") / "penguins.csv")
AGES = b"person,age,answer,remark\n" + b"".join(
    b"%d,%d,%s,remark %d\n" % (i, 20 + i % 50, [b"yes", b"no", b""][i % 3], i) for i in range(120)
)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a connection to a directory of files."""
    folder = tmp_path_factory.mktemp("lake")
    shared = folder / "shared"
    shared.mkdir()
    pq.write_table(pa.table({"age": [20, 30, 40], "region": ["a", "b", "a"]}), shared / "people.parquet")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", CONNECTION_LAKE=f"file://{shared}") as service:
        yield service


@pytest.fixture
def owner(service: Service) -> str:
    return key_of(service.principal("owner")[1])


def csv(content: bytes, name: str = "Survey 2026.csv") -> Any:
    return {"name": name, "mimeType": "text/csv", "buffer": content}


def choose(page: Page, content: bytes) -> None:
    page.get_by_label("or choose a file").set_input_files(csv(content))


def column(page: Page, name: str) -> Locator:
    """The editor of a column, open."""
    found = page.locator("details.fold", has=page.locator("summary .fold-title", has_text=name)).first
    if found.get_attribute("open") is None:
        found.locator("summary").click()
    return found


def drop(page: Page, content: bytes) -> None:
    """Drop a file, as from a folder of the desktop."""
    transfer = page.evaluate_handle(
        """(text) => { const dropped = new DataTransfer();
        dropped.items.add(new File([text], "Survey 2026.csv", { type: "text/csv" })); return dropped; }""",
        content.decode(),
    )
    page.locator(".drop").dispatch_event("drop", {"dataTransfer": transfer})


def mend_age(page: Page) -> None:
    """Each error is told at its field when it was left; a value of the data is warned of until it is replaced."""
    age, word = column(page, "age"), "I know these bounds without looking at the data"
    expect(age).to_contain_text("20 and 69 are the least and the greatest that were found")
    age.get_by_label("Lower").fill("none")
    age.get_by_label("Upper").fill("110")
    expect(age.get_by_text("Enter a number, with a point before the decimals.")).to_be_visible()
    age.get_by_label(word).click()
    expect(age.get_by_label(word)).not_to_be_checked()
    age.get_by_label("Lower").fill("200")
    age.get_by_label("Upper").press("Tab")
    expect(age.get_by_text("The upper bound must be above the lower one.")).to_be_visible()
    age.get_by_label("Lower").fill("20")
    expect(age).to_contain_text("20 is a value of the data")
    age.get_by_label("Lower").fill("30")
    expect(age.locator(".notice")).to_have_count(0)
    age.get_by_label("Unit (optional)").fill("years")
    age.get_by_label(word).check()
    expect(age.locator("summary")).to_contain_text("30 to 110 years")
    expect(age.locator("summary")).to_contain_text("confirmed")


def mend_answer(page: Page) -> None:
    answer = column(page, "answer")
    answer.get_by_label("Categories, one a line").fill("no\nyes\nno")
    answer.get_by_label("I know these categories").click()
    expect(answer.get_by_text("“no” is there more than once.")).to_be_visible()
    answer.get_by_label("Categories, one a line").fill("no\nyes\ndo not know")
    answer.get_by_label("I know these categories").check()


def test_a_file_is_dropped_confirmed_registered_and_granted(opened: Opened, service: Service, owner: str) -> None:
    name, (analyst, client) = a_name("survey"), service.principal("analyst")
    dashboard = opened()
    page = dashboard.sign_in(owner, "#/register")
    drop(page, AGES)
    expect(page.get_by_text("3 columns, 3 to confirm; 1 left out.")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("survey-2026")
    dashboard.assert_accessible()
    page.get_by_role("button", name="Register the table").click()
    expect(page.get_by_text("Confirm this, or leave the column out.").first).to_be_visible()
    column(page, "person").get_by_role("button", name="Leave out person").click()
    mend_age(page)
    column(page, "age").get_by_role("button", name="Next column to confirm").click()
    expect(column(page, "answer").locator("summary")).to_be_focused()
    mend_answer(page)
    expect(page.get_by_text("2 columns, all confirmed; 2 left out.")).to_be_visible()

    page.get_by_label("Name", exact=True).fill("My Survey")
    page.get_by_label("Budget (ε)").fill("2")
    expect(page.get_by_text("Use small letters, digits, - and _")).to_be_visible()
    expect(page.get_by_text("can become at most 89 % sure of it")).to_be_visible()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Rows of one person, at most").fill("2")
    page.get_by_role("combobox", name="Column that identifies the person").fill("person")
    page.get_by_role("button", name="Register the table").click()

    expect(page.get_by_role("heading", level=1)).to_have_text(f"{name} is registered")
    expect(page.get_by_text("Only you see this, and only now.")).to_be_visible()
    rows = page.get_by_role("table").locator("tbody tr").all_inner_texts()
    assert [row.split("\t") for row in rows] == [["age", "0", "30", "0", ""], ["answer", "40", "", "", "0"]]
    page.get_by_role("combobox", name="Who").fill(analyst)
    page.get_by_role("option", name=analyst).click()
    dashboard.assert_accessible()
    page.get_by_label("May spend (ε)").fill("0.5")
    page.get_by_role("button", name="Grant access").click()
    expect(page.get_by_text(f"{analyst} may spend ε 0.5.").first).to_be_visible()
    age = client.get(f"/v1/datasets/{name}").json()["columns"]["age"]
    assert (age["kind"], age["bounds"], age["unit"]) == ("integer", [30, 110], "years")
    page.get_by_role("link", name=f"Open {name}").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)
    page.go_back()
    expect(page.get_by_text("Only you see this")).to_have_count(0)


def test_whoever_would_rather_write_json_does(opened: Opened, service: Service, owner: str) -> None:
    """What is wrong is told where it is; then the table is there, with what was written, to the digit."""
    name = a_name("uploaded")
    page = opened().sign_in(owner, "#/register")
    choose(page, b"age,note\n31,a\nforty,b\n")
    page.locator("summary", has_text="Advanced: the JSON").click()
    schema = page.get_by_label("Metadata (JSON)")
    expect(schema).not_to_have_value("")
    assert json.loads(schema.input_value())["columns"]["age"]["kind"] == "category"
    schema.fill("{")
    schema.press("Tab")
    expect(page.get_by_text("This is not the JSON of a registration")).to_be_visible()
    age = f'{{"kind": "integer", "bounds": [0, 120{"0" * 20}]}}'
    schema.fill(f'{{"name": "{name}", "epsilon_limit": 0.30, "columns": {{"age": {age}}}}}')
    schema.press("Tab")
    expect(page.get_by_label("Budget (ε)")).to_have_value("0.30")
    page.get_by_role("button", name="Register the table").click()
    expect(page.get_by_role("alert")).to_contain_text("line 3")
    expect(column(page, "age").locator("summary")).to_contain_text("to mend")
    choose(page, b"age,note\n31,a\n40,b\n")  # what was confirmed stays, and what was left out stays out
    expect(page.get_by_text("1 column, all confirmed; 1 left out.")).to_be_visible()
    page.get_by_role("button", name="Register the table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{name} is registered")
    facts = service.admin.get(f"/v1/datasets/{name}").json()
    assert (facts["n"], facts["columns"]["age"]["bounds"]) == (2, [0, 1.2e22])
    assert service.admin.get(f"/v1/datasets/{name}/budget").json()["epsilon_limit"] == "0.3"


def test_a_table_of_a_connection_is_drafted_and_registered(browser: Browser, lake: Service) -> None:
    name = a_name("people")
    dashboard = Dashboard(browser, lake.url)
    page = dashboard.sign_in(key_of(lake.principal("owner")[1]), "#/register")
    page.get_by_role("button", name="A table of a connection").click()
    expect(page.get_by_label("Connection")).to_contain_text("lake (files)")
    page.get_by_label("Table", exact=True).fill("nowhere")
    page.get_by_role("button", name="Draft its description").click()
    expect(page.get_by_role("alert")).to_contain_text("does not exist")
    page.get_by_label("Table", exact=True).fill("people.parquet")
    page.get_by_role("button", name="Draft its description").click()
    expect(page.get_by_text("2 columns, 2 to confirm.")).to_be_visible()
    dashboard.assert_accessible()
    column(page, "age").get_by_label("Lower").fill("0")
    column(page, "age").get_by_label("Upper").fill("120")
    column(page, "age").get_by_label("I know these bounds").check()
    page.get_by_role("button", name="Leave out the 1 that is not confirmed").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Register the table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{name} is registered")
    expect(page.get_by_text("Every value is known, within the bounds and declared.")).to_be_visible()
    assert lake.admin.get(f"/v1/datasets/{name}").json()["source"]["table"] == "people.parquet"
    dashboard.close()


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 360)])
def test_the_declaration_fits_the_screen(opened: Opened, owner: str, pictures: Path, scheme: str, width: int) -> None:
    dashboard = opened(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = dashboard.sign_in(owner, "#/register")
    page.get_by_label("or choose a file").set_input_files(PENGUINS)
    expect(page.get_by_text("8 columns, 8 to confirm.")).to_be_visible()
    column(page, "species").get_by_label("I know these categories").check()
    column(page, "species").locator("summary").click()
    mass = column(page, "body_mass_g")
    mass.get_by_label("Upper").fill("7000")
    mass.get_by_label("Unit (optional)").fill("g")
    mass.get_by_label("Label (optional)").fill("Body mass")
    dashboard.assert_accessible()
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.screenshot(path=pictures / f"registering-{scheme}.png", full_page=True)


@pytest.mark.parametrize("width", [360, 768, 1440])
def test_two_hundred_columns_can_be_used(opened: Opened, owner: str, width: int) -> None:
    """A search, a part of them at a time, and nothing that is wider than the page, in any state."""
    content = ",".join(f"question_{i}_with_a_rather_long_name" for i in range(200)) + "\n"
    content += "".join(",".join(str(row + i) for i in range(200)) + "\n" for row in range(3))
    dashboard = opened(viewport={"width": width, "height": 800})
    page = dashboard.sign_in(owner, "#/register")
    choose(page, content.encode())
    expect(page.get_by_text("200 columns, 200 to confirm.")).to_be_visible()
    assert page.locator("details.fold summary .fold-title").count() < 60
    page.get_by_label("Search columns").fill("question_177")
    column(page, "question_177_").get_by_label("I know these bounds").check()
    page.get_by_label("Search columns").fill("")
    page.get_by_role("button", name="Leave out the 199 that are not confirmed").click()
    expect(page.get_by_text("1 column, all confirmed; 199 left out.")).to_be_visible()
    page.locator("summary", has_text="199 columns left out").click()
    page.locator("summary", has_text="The file is unusual").click()
    column(page, "question_177_")
    wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert wider == 0
    dashboard.assert_accessible()


def test_the_keyboard_is_enough(opened: Opened, service: Service, owner: str) -> None:
    """From the file, which only a mouse or the system's own dialog can choose, to the registered table."""
    name = a_name("typed")
    page = opened().sign_in(owner, "#/register")
    choose(page, b"age\n31\n40\n")
    expect(page.get_by_text("1 column, 1 to confirm.")).to_be_visible()

    def tab_to(found: Locator) -> None:
        for _ in range(40):
            if found.evaluate("(element) => element === document.activeElement"):
                return
            page.keyboard.press("Tab")
        raise AssertionError(found)

    tab_to(page.locator("summary", has_text="age"))
    page.keyboard.press("Enter")
    tab_to(page.get_by_label("Lower"))
    page.keyboard.type("0")
    tab_to(page.get_by_label("Upper"))
    page.keyboard.type("120")
    tab_to(page.get_by_label("I know these bounds"))
    page.keyboard.press("Space")
    tab_to(page.get_by_label("Name", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type(name)
    tab_to(page.get_by_role("button", name="Register the table"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{name} is registered")
    assert service.admin.get(f"/v1/datasets/{name}").json()["columns"]["age"]["bounds"] == [0, 120]


def test_a_column_gets_another_kind(opened: Opened, service: Service, owner: str) -> None:
    """Of two words that mean true and false, a file does not show that they do."""
    name = a_name("kinds")
    page = opened().sign_in(owner, "#/register")
    choose(page, b"member,since\noui,2024-01-31 10:00\nnon,2024-02-01 11:30\n")
    member = column(page, "member")
    member.get_by_label("Kind").select_option("boolean")
    expect(member.get_by_label("Kind")).to_be_focused()
    member.get_by_label("Texts that mean true").fill("oui")
    member.get_by_label("Texts that mean false").press("Tab")
    page.get_by_role("button", name="Register the table").click()
    expect(member.get_by_text("Enter the texts of both, or of neither.")).to_be_visible()
    member.get_by_label("Texts that mean false").fill("non, no")
    since = column(page, "since")
    since.get_by_label("Time zone", exact=True).fill("Paris")
    since.get_by_label("Counted in").focus()
    expect(since.get_by_text("Enter the name of a time zone")).to_be_visible()
    since.get_by_label("Time zone", exact=True).fill("Europe/Paris")
    since.get_by_label("Lower").fill("2024-01-01T00:00:00")
    since.get_by_label("Upper").fill("2025-01-01T00:00:00")
    since.get_by_label("I know these bounds and the time zone").check()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_role("button", name="Register the table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{name} is registered")
    columns = service.admin.get(f"/v1/datasets/{name}").json()["columns"]
    assert (columns["member"]["kind"], columns["since"]["time_zone"]) == ("boolean", "Europe/Paris")
    assert columns["since"]["resolution"] == "minute"


def test_a_draft_that_takes_long_is_stopped(opened: Opened, owner: str) -> None:
    dashboard = opened()
    page = dashboard.sign_in(owner, "#/register")
    page.route("**/v1/draft-uploads", lambda _: None)  # as if it took for ever
    choose(page, AGES)
    page.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("heading", name="No draft")).to_be_visible()
    page.get_by_role("button", name="Describe it without a draft").click()
    expect(page.get_by_text("0 columns, all confirmed.")).to_be_visible()
    page.get_by_role("button", name="Register the table").click()
    expect(page.get_by_text("Use small letters, digits")).to_be_visible()


def test_another_file_brings_its_own_name_and_columns(opened: Opened, owner: str) -> None:
    """What was confirmed of one table is not declared of another, and a name stays only if it was written."""
    page = opened().sign_in(owner, "#/register")
    page.get_by_label("or choose a file").set_input_files(csv(AGES, "first.csv"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("first")
    column(page, "age").get_by_label("I know these bounds").check()
    other = b"width,glad\n" + b"1,yes\n2,no\n3,yes\n" * 10
    page.get_by_label("or choose a file").set_input_files(csv(other, "second.csv"))
    expect(page.get_by_label("Name", exact=True)).to_have_value("second")
    expect(page.locator("details.fold summary .fold-title").filter(has_text="age")).to_have_count(0)
    page.get_by_label("Name", exact=True).fill("mine")
    page.get_by_label("or choose a file").set_input_files(csv(AGES, "first.csv"))
    expect(column(page, "age")).to_be_visible()
    expect(page.get_by_label("Name", exact=True)).to_have_value("mine")


def test_what_is_wrong_with_a_file_is_told_without_the_members_of_the_interface(opened: Opened, owner: str) -> None:
    page = opened().sign_in(owner, "#/register")
    choose(page, b"a,b\n1\n2,3,4\n")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("2 problems:")
    expect(alert).to_contain_text("line 2")
    expect(alert).not_to_contain_text("errors")
