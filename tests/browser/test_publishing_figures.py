"""Figures in the dashboard: each kind of answer published, the page of a figure, its viewers, and what they see."""

import json
import re
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from asking import ask_for, count_missing, release
from dashboard import Dashboard, Penguins
from playwright.sync_api import Locator, Page, expect
from service_world import Service, key_of

pytestmark = [pytest.mark.browser]
Opened = Callable[..., Dashboard]
MEAN = {"kind": "mean", "column": "body_mass_g"}
HOSTILE = "<img src=x onerror=window.injected=1></title><script>window.injected=1</script>"


def publish(penguins: Penguins, name: str, **body: Any) -> dict[str, Any]:
    """Publish a new release, as the owner."""
    source = {} if "release" in body else {"release": penguins.table.fresh(MEAN, epsilon="0.1")["id"]}
    answer = penguins.table.owner.put(f"{penguins.table.path}/figures/{name}", json={"title": name, **source, **body})
    assert answer.status_code in {200, 201}, answer.text
    found: dict[str, Any] = answer.json()
    return found


def listed(client: httpx.Client, penguins: Penguins) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get(f"{penguins.table.path}/figures").json()["figures"]
    return found


def press_publish(page: Page, button: str = "Publish as figure") -> Locator:
    page.get_by_role("button", name=button).first.click()
    return page.get_by_role("dialog")


def test_a_release_is_published_again_and_taken_away(opened: Opened, penguins: Penguins) -> None:
    """From the result just after releasing: the form says what it does before it does it."""
    dashboard = opened()
    page = ask_for(dashboard, penguins, "mean")
    count_missing(page)
    release(page)
    spent = penguins.table.budget()["epsilon_spent"]
    dialog = press_publish(page)
    expect(dialog.get_by_label("Name")).to_have_value("mean-body_mass_g")
    expect(dialog.get_by_label("Title")).to_have_value("Mean of body_mass_g")
    expect(dialog.get_by_role("status")).to_contain_text("Publishing costs nothing")
    expect(dialog.get_by_role("status")).to_contain_text("No figure has this name now.")
    expect(dialog.get_by_label("Who may see it")).to_have_count(0)  # only owners make figures public
    dialog.get_by_label("Name").fill("Body Mass")
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Use small letters")
    dialog.get_by_label("Name").fill("mass")
    dialog.get_by_label("Note (optional)").fill("Palmer Archipelago.")
    dashboard.assert_accessible()
    dialog.get_by_role("button", name="Publish").click()
    published = page.get_by_role("region", name="What was published")
    expect(published.get_by_role("heading", name="Published: Mean of body_mass_g, version 1")).to_be_focused()
    dashboard.assert_accessible()
    with page.expect_download() as download:
        published.get_by_role("link", name="as csv").click()
    assert download.value.path().read_text().splitlines()[0].startswith("measure,columns,")
    assert download.value.suggested_filename == "mass.csv"
    published.get_by_text("Embed it, or read it in programs").click()
    address = f"{dashboard.url}/figures/{penguins.name}/mass"
    expect(published.get_by_text(f'<iframe src="{address}" title="Mean of body_mass_g"')).to_be_visible()
    expect(published.get_by_text(f'curl --silent --user "any:$SNAPLEDGER_KEY" \'{dashboard.url}/v1/')).to_be_visible()

    dialog = press_publish(page)
    dialog.get_by_label("Name").fill("mass")
    expect(dialog.get_by_role("status")).to_contain_text("this becomes its version 2, at the same address")
    dialog.get_by_label("Title").fill("Body mass")
    dialog.get_by_role("button", name="Publish").click()
    published.get_by_role("link", name="Open the figure").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Body mass")
    expect(page.get_by_role("region", name="Versions, newest first").locator("tbody tr")).to_have_count(2)
    assert [(each["title"], each["version"]) for each in listed(penguins.table.owner, penguins)] == [("Body mass", 2)]
    assert penguins.table.budget()["epsilon_spent"] == spent


def test_a_derived_answer_and_a_basket_are_published(opened: Opened, penguins: Penguins) -> None:
    derived = {"derived": {"kind": "mean", "column": "body_mass_g", "group_by": "species"}, "epsilon": "1"}
    assert penguins.table.analyst.post(f"{penguins.table.path}/derived", json=derived).status_code == 201
    dashboard = opened()
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/plan")
    page.evaluate(
        "([name, asked]) => location.hash = `#/datasets/${name}/derived/${encodeURIComponent(asked)}`",
        [penguins.name, json.dumps(derived)],
    )
    dialog = press_publish(page)
    dialog.get_by_label("Name").fill("means")
    dialog.get_by_role("button", name="Publish").click()
    expect(page.get_by_role("heading", name="version 1")).to_be_visible()

    page.goto(f"{dashboard.url}/#/datasets/{penguins.name}/plan")
    page.get_by_label("What you want to know").select_option("mean")
    count_missing(page)
    for column in ("body_mass_g", "bill_length_mm"):
        page.get_by_label("Column").select_option(column)
        page.get_by_role("button", name="Add to basket").click()
    expect(page.get_by_role("heading", name="Basket: 2 questions")).to_be_visible()
    page.get_by_role("region", name="Basket").get_by_role("button", name=re.compile("Release all for")).click()
    page.get_by_role("dialog").get_by_role("button", name=re.compile("Release for")).click()
    dialog = press_publish(page, "Publish these 2 releases as one figure")
    dialog.get_by_label("Name").fill("both")
    dialog.get_by_role("button", name="Publish").click()
    page.get_by_role("link", name="Open the figure").click()
    expect(page.locator(".chart")).to_have_count(2)
    sources = {each["figure"]: each["source"] for each in listed(penguins.table.owner, penguins)}
    assert sources["means"]["derived"]["derived"] == derived["derived"]
    assert len(sources["both"]["releases"]) == 2


def test_a_mean_that_a_sum_answered_is_published_as_a_mean(opened: Opened, penguins: Penguins) -> None:
    penguins.table.fresh({"kind": "sum", "column": "body_mass_g"}, epsilon="1")
    dashboard = opened()
    page = ask_for(dashboard, penguins, "mean")
    count_missing(page)
    release(page, costs=False)
    dialog = press_publish(page)
    dialog.get_by_label("Name").fill("mass")
    dialog.get_by_role("button", name="Publish").click()
    page.get_by_role("link", name="Open the figure").click()
    page.get_by_role("button", name="Change").click()
    dialog.get_by_label("Title").fill("Body mass")
    dialog.get_by_role("button", name="Publish the new version").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Body mass")
    (shown,) = penguins.table.owner.get(f"{penguins.table.path}/figures/mass").json()["rows"]
    assert (shown["measure"], shown["columns"]) == ("mean", "body_mass_g")


def test_an_owner_makes_a_figure_public_after_confirming_and_withdraws_it(
    opened: Opened, penguins: Penguins, service: Service
) -> None:
    publish(penguins, "mass")
    read = f"{penguins.table.path}/figures/mass"
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, f"#/figures/{penguins.name}/mass")
    page.get_by_role("button", name="Change").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Who may see it").select_option("public")
    dialog.get_by_role("button", name="Publish the new version").click()
    expect(dialog.get_by_role("alert")).to_have_text("Confirm that everybody may read it.")
    assert service.stranger.get(read).status_code == 401
    dialog.get_by_label("Yes: everybody who reaches this service may read it").check()
    dashboard.assert_accessible()
    dialog.get_by_role("button", name="Publish the new version").click()
    expect(page.locator(".page-heading .badge")).to_have_text("public")
    assert service.stranger.get(read).json()["version"] == 2
    page.get_by_role("link", name="1", exact=True).click()
    expect(page.get_by_text("This is an earlier version.")).to_be_visible()
    page.get_by_role("link", name="The latest one is version 2").click()
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_role("dialog").get_by_role("button", name="Withdraw").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Figures")
    assert listed(penguins.table.owner, penguins) == []
    assert service.stranger.get(read).status_code == 401


def test_who_may_not_publish_is_not_offered_to(opened: Opened, penguins: Penguins, service: Service) -> None:
    """Auditors read; and an analyst changes only what it published itself."""
    made = penguins.table.fresh(MEAN, epsilon="0.1")
    publish(penguins, "mass", release=made["id"])
    _, auditor = service.principal("auditor")
    page = opened().sign_in(key_of(auditor), f"#/datasets/{penguins.name}/releases/{made['id']}")
    expect(page.get_by_role("button", name="Copy a sentence to cite this")).to_be_visible()
    expect(page.get_by_role("button", name="Publish as figure")).to_have_count(0)
    page = opened().sign_in(penguins.analyst_key, f"#/figures/{penguins.name}/mass")
    expect(page.get_by_role("link", name=made["id"][:13])).to_be_visible()
    expect(page.get_by_role("button", name="Withdraw")).to_have_count(0)
    page.goto(f"{page.url.split('#')[0]}#/datasets/{penguins.name}/releases/{made['id']}")
    dialog = press_publish(page)
    dialog.get_by_label("Name").fill("mass")
    dialog.get_by_role("button", name="Publish").click()
    expect(dialog.get_by_role("alert")).to_contain_text("Only the principal that published this figure")


def test_an_owner_adds_a_viewer_who_sees_figures_and_nothing_else(
    opened: Opened, penguins: Penguins, service: Service
) -> None:
    publish(penguins, "mass", title="Body mass")
    name, viewer = service.principal("viewer")
    owner = opened().sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/figures")
    owner.get_by_role("button", name="Add a viewer").click()
    dialog = owner.get_by_role("dialog")
    dialog.get_by_role("combobox", name="Principal").fill(name)
    dialog.get_by_role("option", name=name).click()
    dialog.get_by_role("button", name="Let it see the figures").click()
    expect(owner.get_by_role("button", name=f"Revoke what {name} may see")).to_be_visible()

    dashboard = opened()
    failed: list[str] = []
    dashboard.page.on("response", lambda answer: answer.status >= 400 and failed.append(answer.url))
    page = dashboard.sign_in(key_of(viewer))
    expect(page.get_by_role("heading", level=1)).to_have_text("Figures")
    assert page.locator("#menu a").all_inner_texts() == ["Figures"]
    expect(page.get_by_role("img", name="Chart of Body mass")).to_be_visible()
    dashboard.assert_accessible()
    page.get_by_role("link", name="Body mass").click()
    expect(page.locator(".chart svg")).to_be_visible()
    expect(page.get_by_role("link", name=penguins.name, exact=True)).to_have_count(0)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Body mass")
    page.get_by_role("link", name="Snapledger").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Figures")
    dashboard.settled()
    assert failed == []
    page.goto(f"{dashboard.url}/#/datasets/{penguins.name}")
    expect(page.get_by_role("heading", level=1)).to_have_text("This page does not exist")
    expect(page.get_by_role("link", name="All datasets")).to_have_count(0)

    owner.get_by_role("button", name=f"Revoke what {name} may see").click()
    owner.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(owner.get_by_role("button", name=f"Revoke what {name} may see")).to_have_count(0)
    assert viewer.get(f"{penguins.table.path}/figures/mass").status_code == 404


def test_an_admin_creates_a_viewer_on_the_dataset_s_page(opened: Opened, penguins: Penguins, service: Service) -> None:
    publish(penguins, "mass")
    page = opened().sign_in(penguins.admin_key, f"#/datasets/{penguins.name}/figures")
    page.get_by_role("button", name="New viewer").click()
    page.get_by_role("dialog").get_by_label("Name", exact=True).fill(f"new-viewer-of-{penguins.name}")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    key = page.locator("code.key").inner_text()
    expect(page.get_by_role("button", name=f"Revoke what new-viewer-of-{penguins.name} may see")).to_be_visible()
    assert [each["figure"] for each in listed(service.client(key), penguins)] == ["mass"]


def test_titles_and_notes_are_texts(opened: Opened, penguins: Penguins) -> None:
    publish(penguins, "mass", title=HOSTILE, note=f"{HOSTILE}\n<b>bold</b>")
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, "#/figures")
    for address in (f"#/datasets/{penguins.name}/figures", f"#/figures/{penguins.name}/mass"):
        page.goto(f"{dashboard.url}/{address}")
        page.reload()
        expect(page.get_by_text(HOSTILE).first).to_be_visible()
        dashboard.settled()
        assert page.evaluate("window.injected") is None
        assert page.locator("main script, main iframe, main b, img:not([src^='data:image/svg'])").count() == 0
    page.get_by_text("Embed it, or read it in programs").click()
    expect(page.locator("pre", has_text="<iframe")).to_contain_text(
        'title="&lt;img src=x onerror=window.injected=1&gt;'
    )
    page.get_by_role("button", name="Change").click()
    expect(page.get_by_role("dialog").get_by_role("status")).to_contain_text(HOSTILE)
    assert page.evaluate("window.injected") is None


def test_many_figures_are_found_and_continued_by_the_service(opened: Opened, penguins: Penguins) -> None:
    made = penguins.table.fresh(MEAN, epsilon="0.1")["id"]
    for number in range(26):
        publish(penguins, f"mass-{number:02}", title=f"Mass no. {number}", release=made)
    dashboard = opened()
    page = dashboard.sign_in(penguins.analyst_key, f"#/datasets/{penguins.name}/figures")
    cards = page.locator(".cards > li")
    expect(cards).to_have_count(24)
    dashboard.settled()
    assert sum(".svg" in url for url in dashboard.requests) < 24  # those far below are not loaded yet
    page.get_by_role("button", name="Show more").click()
    expect(cards).to_have_count(26)
    page.get_by_label("Search figures by name or title").fill("no. 25")
    expect(cards).to_have_count(1)
    page.get_by_label("Search figures by name or title").fill("nothing")
    expect(page.get_by_text("No figure has “nothing” in its name or title.")).to_be_visible()


def test_an_owner_composes_a_collection_that_its_viewer_sees(
    opened: Opened, penguins: Penguins, service: Service
) -> None:
    for figure, title in (("mass", "Body mass"), ("bill", "Bill length")):
        publish(penguins, figure, title=title)
    name, viewer = service.principal("viewer")
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, "#/figures")
    page.get_by_role("button", name="New collection").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Make the collection").click()
    expect(dialog.get_by_text("Choose at least one figure.")).to_be_visible()
    dialog.get_by_label("Title").fill(f"Penguins <b> {penguins.name}")
    expect(dialog.get_by_label("Name", exact=True)).to_have_value(f"penguins-b-{penguins.name}")
    for figure in ("mass", "bill"):
        dialog.get_by_role("combobox", name="Add a figure").fill(f"{penguins.name}/{figure}")
        dialog.get_by_role("option").first.click()
    dialog.get_by_role("button", name="Move Bill length up").click()
    dashboard.assert_accessible()
    dialog.get_by_role("button", name="Make the collection").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"Penguins <b> {penguins.name}")
    expect(page.locator(".cards h2")).to_have_text(["Bill length", "Body mass"])
    dashboard.settled()
    dashboard.assert_accessible()
    page.get_by_role("button", name="Add a viewer").click()
    dialog.get_by_role("combobox", name="Principal").fill(name)
    dialog.get_by_role("option", name=name).click()
    dialog.get_by_role("button", name="Let it see the figures").click()
    expect(page.get_by_role("button", name=f"Revoke what {name} may see")).to_be_visible()

    wall = opened()
    seen = wall.sign_in(key_of(viewer))
    seen.get_by_role("link", name=f"Penguins <b> {penguins.name}").click()
    expect(seen.locator(".cards h2")).to_have_text(["Bill length", "Body mass"])
    expect(seen.get_by_role("button", name="Change")).to_have_count(0)
    page.get_by_role("button", name="Delete").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Figures")
    assert viewer.get("/v1/collections").json()["collections"] == []


def test_the_reports_of_a_dataset_are_shown(opened: Opened, penguins: Penguins) -> None:
    report = {
        "batch": {"items": [{"statistic": MEAN, "epsilon": "0.5"}]},
        "figures": [{"figure": "mass", "title": "Body mass"}],
        "epsilon_per_run": "0.5",
        "epsilon_total": "2",
    }
    defined = penguins.table.analyst.put(f"{penguins.table.path}/reports/monthly", json=report)
    assert defined.status_code == 201, defined.text
    dashboard = opened()
    page = dashboard.sign_in(penguins.owner_key, f"#/datasets/{penguins.name}/figures")
    page.get_by_text("ε 0 spent; 2 left for further runs").click()
    plan = penguins.table.owner.post(f"{penguins.table.path}/reports/monthly/plan").json()
    expect(page.get_by_text(plan["summary"])).to_be_visible()
    expect(page.get_by_text("It has not run yet")).to_be_visible()
    dashboard.assert_accessible()
