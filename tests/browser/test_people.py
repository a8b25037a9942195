"""Who signs in, what each role finds, and what owners and admins rule."""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from dashboard import Dashboard, Penguins
from playwright.sync_api import expect
from service_world import Service, a_name
from sqlalchemy import update

from app.db.database import Database
from app.db.tables import entries

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]


def test_a_key_that_is_not_in_force_is_refused(opened: Opened) -> None:
    page = opened().open()
    page.get_by_label("Key").fill("no such key")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("This key is not valid: it may be mistyped, replaced or expired.")
    assert page.evaluate("sessionStorage.length") == 0


def test_the_key_is_this_tab_s_alone(opened: Opened, penguins: Penguins) -> None:
    dashboard = opened()
    page = dashboard.sign_in(penguins.analyst_key)
    assert page.evaluate("localStorage.length") == 0
    assert dashboard.context.cookies() == []
    assert penguins.analyst_key not in page.content() + page.url
    other = dashboard.context.new_page()
    other.goto(dashboard.url)
    expect(other.get_by_label("Key")).to_be_visible()
    page.reload()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_label("Key")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_a_key_taken_away_ends_the_session(opened: Opened, penguins: Penguins, service: Service) -> None:
    page = opened().sign_in(penguins.analyst_key)
    service.admin.post(f"/v1/principals/{penguins.table.analyst_name}/keys")
    page.get_by_role("link", name="Account").click()
    expect(page.get_by_label("Key")).to_be_visible()
    assert page.evaluate("sessionStorage.length") == 0


def test_an_owner_grants_changes_and_revokes(opened: Opened, penguins: Penguins, service: Service) -> None:
    name, client = service.principal("analyst")
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    page.get_by_role("button", name="Grant an allowance").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Principal").fill(name)
    dialog.get_by_role("option", name=name).click()
    dialog.get_by_label("May spend (ε)").fill("1.5")
    dialog.get_by_label("Renewed every so many days (optional)").fill("30")
    effect = f"{name} sees the dataset and all its releases, and may spend ε 1.5 in every 30 days."
    expect(dialog.get_by_text(effect)).to_be_visible()
    dialog.get_by_role("button", name="Grant the allowance").click()
    expect(page.get_by_text("Renewed every 30 days")).to_be_visible()
    given = {each["principal"]: each for each in penguins.table.budget()["allowances"]}
    assert (given[name]["epsilon_limit"], given[name]["window"]["days"]) == ("1.5", 30)
    page.get_by_role("button", name=f"Change the allowance of {name}").click()
    dialog.get_by_label("May spend (ε)").fill("2")
    dialog.get_by_label("Renewed every so many days (optional)").fill("")
    dialog.get_by_role("button", name="Save the allowance").click()
    expect(page.get_by_text("ε 0 of 2 spent; 2 left")).to_be_visible()
    page.get_by_role("button", name=f"Revoke the allowance of {name}").click()
    page.get_by_role("button", name="Cancel").click()
    assert client.get(penguins.table.path).status_code == 200
    page.get_by_role("button", name=f"Revoke the allowance of {name}").click()
    page.get_by_role("button", name="Revoke", exact=True).click()
    expect(page.get_by_role("button", name=f"Revoke the allowance of {name}")).to_have_count(0)
    expect(page.get_by_text("Revoked: no access.")).to_be_visible()
    assert client.get(penguins.table.path).status_code == 404
    page.get_by_role("button", name=f"Renew the allowance of {name}").click()
    dialog.get_by_role("button", name="Save the allowance").click()
    expect(page.get_by_role("button", name=f"Revoke the allowance of {name}")).to_be_visible()
    assert client.get(penguins.table.path).status_code == 200


def test_only_who_may_register_is_offered_to(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.analyst_key)
    expect(page.get_by_role("link", name="Account")).to_be_visible()
    expect(page.get_by_role("link", name="Register a table")).to_have_count(0)


def test_an_owner_changes_the_limit_and_is_told_what_cannot_be(opened: Opened, penguins: Penguins) -> None:
    penguins.table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="1")
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/rules")
    page.get_by_role("button", name="Change the limit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("New limit (ε)").fill("0.5")
    dialog.get_by_role("button", name="Change the limit").click()
    expect(dialog.get_by_role("alert")).to_have_text("Say why the limit changes.")
    dialog.get_by_label("Reason").fill("less trust")
    dialog.get_by_role("button", name="Change the limit").click()
    expect(dialog.get_by_role("alert")).to_have_text("must not be below what is already spent")
    dialog.get_by_label("New limit (ε)").fill("12")
    dialog.get_by_role("button", name="Change the limit").click()
    expect(page.get_by_text("ε 1 of 12 spent; 11 left")).to_be_visible()
    page.get_by_role("link", name="Ledger", exact=True).click()
    expect(page.get_by_text("less trust")).to_be_visible()


def test_the_spending_is_shown_by_whom(opened: Opened, penguins: Penguins) -> None:
    name, other = penguins.table.another("2")
    penguins.table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="0.1")
    penguins.table.release({"kind": "mean", "column": "bill_length_mm"}, client=other, epsilon="0.7")
    penguins.table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="0.2")
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}")
    dashboard.settled()
    rows = [
        row.split("\t")[:3]
        for row in page.get_by_role("region", name="By principal").locator("tbody tr").all_inner_texts()
    ]
    assert rows == [[name, "0.7", "1"], [penguins.table.analyst_name, "0.3", "2"]]
    legend = page.locator(".chart .legend-text").all_text_contents()
    assert legend == ["together", name, penguins.table.analyst_name, "limit"]
    page.get_by_role("button", name="Sign out").click()
    analyst = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}")
    expect(analyst.get_by_text("What you spent, and when")).to_be_visible()
    dashboard.settled()
    assert name not in analyst.locator("main").inner_text()


def test_the_ledger_is_verified_and_a_changed_one_found(opened: Opened, penguins: Penguins, service: Service) -> None:
    penguins.table.fresh({"kind": "mean", "column": "body_mass_g"}, epsilon="1")
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/ledger")
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_text("Valid: 3 entries.")).to_be_visible()
    (spent,) = [entry for entry in penguins.table.entries() if entry["kind"] == "debit"]
    database = Database(service.database_url)
    with database.write() as session:
        session.connection.execute(
            update(entries).where(entries.c.hash == bytes.fromhex(spent["hash"])).values(epsilon_nano=1)
        )
        session.commit()
    database.close()
    page.get_by_role("button", name="Verify the ledger").click()
    expect(page.get_by_text("Not valid: see the problems below.")).to_be_visible()
    expect(page.get_by_text("entry 3:").first).to_be_visible()


def test_an_auditor_reads_and_does_no_more(opened: Opened, penguins: Penguins, service: Service) -> None:
    _, auditor = service.principal("auditor")
    key = auditor.headers["Authorization"].removeprefix("Bearer ")
    page = opened().sign_in(key, f"#/datasets/{penguins.name}")
    tabs = page.get_by_role("navigation", name="Dataset").get_by_role("link")
    expect(tabs).to_have_text(["Overview", "Releases", "Figures", "Activity", "Ledger"])
    expect(page.get_by_role("link", name="Principals")).to_have_count(0)


def test_an_analyst_finds_no_ledger(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/ledger")
    tabs = page.get_by_role("navigation", name="Dataset").get_by_role("link")
    expect(tabs).to_have_text(["Overview", "Ask a question", "Releases", "Figures"])


def test_an_admin_makes_and_disables_a_principal(opened: Opened, service: Service) -> None:
    name = a_name("newcomer")
    page = opened().sign_in(service.admin_key, "#/principals")
    page.get_by_role("button", name="New principal").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill(name)
    dialog.get_by_label("Display name (optional)").fill("Grace Hopper")
    dialog.get_by_label("Role", exact=True).select_option("owner")
    dialog.get_by_role("button", name="Create").click()
    key = page.locator(".key").inner_text()
    me = service.client(key).get("/v1/me").json()
    assert (me["role"], me["display_name"]) == ("owner", "Grace Hopper")
    page.get_by_role("button", name=f"Display name of {name}").click()
    page.get_by_role("dialog").get_by_label("Display name").fill("Rear Admiral Hopper")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("row", name=name)).to_contain_text("Rear Admiral Hopper")
    page.get_by_role("button", name=f"New key for {name}").click()
    page.get_by_role("button", name="Create a new key").click()
    expect(page.locator(".key")).not_to_have_text(key)
    assert service.client(key).get("/v1/me").status_code == 401
    page.get_by_role("button", name=f"Disable {name}").click()
    page.get_by_role("button", name="Disable", exact=True).click()
    expect(page.get_by_role("row", name=name)).to_contain_text("disabled")
    page.get_by_role("button", name="New principal").click()
    dialog.get_by_label("Name", exact=True).fill("Not A Name")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_role("alert")).to_contain_text("must match")


def test_one_s_own_key_is_renewed_in_place(opened: Opened, service: Service) -> None:
    name, client = service.principal("analyst")
    page = opened().sign_in(client.headers["Authorization"].removeprefix("Bearer "), "#/account")
    page.get_by_role("button", name="Create a new key").click()
    page.get_by_role("dialog").get_by_role("button", name="Create a new key").click()
    key = page.locator(".key").inner_text()
    assert client.get("/v1/me").status_code == 401
    assert service.client(key).get("/v1/me").json()["name"] == name
    page.get_by_role("link", name="Datasets").click()
    expect(page.get_by_text("You cannot see any dataset yet")).to_be_visible()


def test_one_s_allowances_are_named_on_the_account_page(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.analyst_key, "#/account")
    gauge = page.get_by_role("meter", name=f"{penguins.name}: ε 0 of 4 spent; 4 left")
    expect(gauge).to_have_attribute("aria-valuetext", "ε 0 of 4 spent; 4 left")
    page.get_by_role("button", name=f"Ask for more budget on {penguins.name}").click()
    expect(page.get_by_role("dialog").get_by_label("How much more (ε)")).to_be_visible()


def test_a_key_is_given_an_end(opened: Opened, service: Service) -> None:
    name = a_name("visitor")
    page = opened(timezone_id="Asia/Tokyo").sign_in(service.admin_key, "#/principals")
    page.get_by_role("button", name="New principal").click()
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Key expires (optional)").fill("2099-01-31T21:00")
    page.get_by_role("button", name="Create").click()
    page.locator(".key").wait_for()
    row = page.get_by_role("row", name=name)
    expect(row.locator("time").nth(1)).to_have_attribute("datetime", re.compile("^2099-01-31T12:00:00"))
    page.get_by_role("button", name=f"New key for {name}").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Key expires (optional)").fill("2098-01-31T21:00")
    dialog.get_by_role("button", name="Create a new key").click()
    expect(row.locator("time").nth(1)).to_have_attribute("datetime", re.compile("^2098-01-31T12:00:00"))
    page.get_by_role("link", name="Account").click()
    expect(page.locator("dl > div").filter(has_text="Key expires")).to_contain_text("never")


def test_an_end_in_the_past_is_refused(opened: Opened, service: Service) -> None:
    page = opened().sign_in(service.admin_key, "#/principals")
    page.get_by_role("button", name="New principal").click()
    page.get_by_label("Name", exact=True).fill(a_name("late"))
    page.get_by_label("Key expires (optional)").fill("2020-01-31T21:00")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("alert")).to_have_text("must be in the future")


def test_the_record_of_acts_is_read_and_verified(opened: Opened, service: Service) -> None:
    name, _ = service.principal("analyst")
    _, auditor = service.principal("auditor")
    page = opened().sign_in(auditor.headers["Authorization"].removeprefix("Bearer "), "#/audit")
    row = page.get_by_role("row").filter(has=page.get_by_text(f"principals/{name}", exact=True))
    expect(row).to_contain_text("principal.create")
    expect(row).to_contain_text("role: analyst")
    page.get_by_role("button", name="Verify the record").click()
    expect(page.get_by_text(re.compile(r"^Valid: \d+ entries\.$"))).to_be_visible()
    expect(page.get_by_role("link", name="Principals")).to_have_count(0)


def test_an_analyst_finds_no_record_of_acts(opened: Opened, penguins: Penguins) -> None:
    page = opened().sign_in(penguins.analyst_key, "#/audit")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("link", name="Administrative acts")).to_have_count(0)


def test_a_long_ledger_is_shown_in_parts(opened: Opened, penguins: Penguins) -> None:
    for at in range(103):  # with the two that are there 105
        penguins.table.grant(penguins.table.analyst_name, str(1 + at))
    page = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/ledger")
    entries = page.get_by_role("region", name="Entries").locator("tbody th")
    expect(entries).to_have_text([str(seq) for seq in range(105, 55, -1)])
    expect(page.get_by_text("50 of 105 entries")).to_be_visible()
    page.get_by_role("button", name="Show 50 more").click()
    page.get_by_role("button", name="Show 5 more").click()
    expect(entries).to_have_text([str(seq) for seq in range(105, 0, -1)])
    page.get_by_label("Search entries").fill("opened")
    expect(entries).to_have_text(["1"])


def make_expiring(service: Service, name: str, seconds: float) -> bool:
    """Make a principal whose key expires so soon, and wait for that unless it is a day; False: it came too late."""
    at = datetime.now(UTC) + timedelta(seconds=seconds)
    body = {"name": name, "role": "analyst", "key_expires_at": at.isoformat()}
    made = service.admin.post("/v1/principals", json=body)
    if made.status_code == 201 and seconds < 86_400:
        time.sleep(max(0, (at - datetime.now(UTC)).total_seconds()))
    return made.status_code == 201


def test_a_key_that_has_expired_is_told(opened: Opened, service: Service) -> None:
    names = {end: a_name("visitor") for end in ("past", "future")}
    for end, seconds in (("past", (2, 10, 60)), ("future", (86_400,))):
        assert any(make_expiring(service, names[end], after) for after in seconds)  # a slow machine is given longer
    page = opened().sign_in(service.admin_key, "#/principals")
    expect(page.get_by_role("row", name=names["past"]).locator(".badge")).to_have_text("expired")
    expect(page.get_by_role("row", name=names["future"]).locator(".badge")).to_have_count(0)
