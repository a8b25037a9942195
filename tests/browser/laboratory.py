"""A service with two tables, its people and some releases: what pages are looked at with."""

import json
from dataclasses import dataclass
from importlib.resources import files
from urllib.parse import quote

import httpx
from dashboard import COLUMNS
from service_world import Service

REGIONS = ["Île-de-France", "Occitanie", "Bretagne", "Provence-Alpes-Côte d'Azur"]
COMMUNES = [f"Commune no. {number:03} of a département with a long name" for number in range(120)]
HOUSEHOLDS = {
    "income": {"kind": "integer", "bounds": [0, 150_000], "unit": "€", "label": "Yearly household income"},
    "region": {"kind": "category", "categories": REGIONS},
    "commune": {"kind": "category", "categories": COMMUNES},
    "moved": {"kind": "date", "bounds": ["2015-01-01", "2024-12-31"]},
}
ROWS = 2_000
# Each page, who looks at it, its address, and what stands on it and on no other.
PAGES = [
    ("datasets", "ada", "#/datasets", "344 rows, 3 columns"),
    ("overview", "olga", "#/datasets/penguins", "What was spent, when and by whom"),
    ("planner", "ada", "#/datasets/penguins/plan", "What the answer will look like"),
    ("releases", "ada", "#/datasets/penguins/releases", "mean of body_mass_g [2000, 7000]"),
    ("histogram", "ada", "#/datasets/penguins/releases/{histogram}", "Every bin as a table"),
    ("groups", "ada", "#/datasets/penguins/releases/{groups}", "Copy as"),
    ("table", "ada", "#/datasets/households/releases/{table}", "Every cell as a table"),
    ("communes", "ada", "#/datasets/households/releases/{communes}", "Show 20 more"),
    ("months", "ada", "#/datasets/households/releases/{months}", "Histogram of moved by month"),
    ("vague", "ada", "#/datasets/households/releases/{vague}", "it says little"),
    ("mean", "ada", "#/datasets/penguins/releases/{mean}", "95 % confidence"),
    ("regression", "ada", "#/datasets/penguins/derived/{regression}", "The band has every line"),
    ("means", "ada", "#/datasets/households/derived/{means}", "Mean of income by region"),
    ("quantiles", "ada", "#/datasets/households/derived/{quantiles}", "Quantile of income"),
    ("activity", "olga", "#/datasets/penguins/activity", "Who spent how much"),
    ("ledger", "olga", "#/datasets/penguins/ledger", "Entries, newest first"),
    ("rules", "olga", "#/datasets/penguins/rules", "All releases together"),
    ("figures", "ada", "#/figures", "Penguins by species"),
    ("figure", "ada", "#/figures/penguins/species", "Address, files, embedding"),
    ("dataset-figures", "olga", "#/datasets/penguins/figures", "Viewers"),
    ("register", "olga", "#/register", "write what is known without looking at the data"),
    ("principals", "admin", "#/principals", "Who may use the service, and as what."),
    ("audit", "vera", "#/audit", "Administrative acts, newest first"),
    ("account", "ada", "#/account", "Create a new key"),
]


@dataclass
class Laboratory:
    """Where the service is, its people's keys, and the ids of releases, or what the addresses of answers end with."""

    url: str
    keys: dict[str, str]
    releases: dict[str, str]


def ask(client: httpx.Client, dataset: str, statistic: dict[str, object], epsilon: str) -> str:
    body = {"statistic": statistic, "epsilon": epsilon}
    answer = client.post(f"/v1/datasets/{dataset}/releases", json=body)
    assert answer.status_code == 201, answer.text
    identity: str = answer.json()["id"]
    return identity


def derive(client: httpx.Client, dataset: str, derived: dict[str, object], epsilon: str) -> str:
    """Release a derived statistic; return the last part of the address of its page."""
    body = {"derived": derived, "epsilon": epsilon}
    answer = client.post(f"/v1/datasets/{dataset}/derived", json=body)
    assert answer.status_code == 201, answer.text
    return quote(json.dumps(body))


def publish(client: httpx.Client, name: str, title: str, release: str, **more: object) -> None:
    body = {"title": title, "release": release, **more}
    answer = client.put(f"/v1/datasets/penguins/figures/{name}", json=body)
    assert answer.status_code in {200, 201}, answer.text


def household(number: int) -> str:
    income = 12_000 + number * 7_919 % 60_000
    commune = COMMUNES[number * number % len(COMMUNES)]
    return f'{income},"{REGIONS[number % len(REGIONS)]}",{commune},20{15 + number % 10}-{1 + number % 12:02}-11\n'


def register(service: Service, owner: httpx.Client) -> None:
    penguins = {
        "name": "penguins",
        "description": "Penguins of the Palmer Archipelago, one a row.",
        "columns": COLUMNS,
        "epsilon_limit": "20",
    }
    assert service.upload(owner, penguins, (files("app.demo") / "penguins.csv").read_bytes()).status_code == 201
    households = {
        "name": "households",
        "description": "Households of 2026, one a row.",
        "columns": HOUSEHOLDS,
        "epsilon_limit": "12",
    }
    content = "income,region,commune,moved\n" + "".join(household(number) for number in range(ROWS))
    registered = service.upload(owner, households, content.encode())
    assert registered.status_code == 201, json.dumps(registered.json())


def furnish(service: Service) -> Laboratory:
    roles = {"olga": "owner", "ada": "analyst", "bob": "analyst", "vera": "auditor", "vic": "viewer"}
    keys = {"admin": service.admin_key}
    for name, role in roles.items():
        keys[name] = service.admin.post("/v1/principals", json={"name": name, "role": role}).json()["key"]
    olga, ada, bob = (service.client(keys[name]) for name in ("olga", "ada", "bob"))
    register(service, olga)
    olga.put("/v1/datasets/penguins/allowances/ada", json={"epsilon_limit": "12"})
    olga.put("/v1/datasets/penguins/allowances/bob", json={"epsilon_limit": "1", "window_days": 30})
    olga.put("/v1/datasets/households/allowances/ada", json={"epsilon_limit": "5"})
    releases = {"mean": ask(ada, "penguins", {"kind": "mean", "column": "body_mass_g"}, "0.5")}
    ask(bob, "penguins", {"kind": "mean", "column": "bill_length_mm"}, "0.75")
    releases["groups"] = ask(ada, "penguins", {"kind": "histogram", "column": "species"}, "0.5")
    releases["histogram"] = ask(ada, "penguins", {"kind": "histogram", "column": "body_mass_g", "bins": 10}, "1")
    table = {"kind": "histogram", "columns": ["region", "income"], "bins": [None, 6]}
    releases["table"] = ask(ada, "households", table, "0.5")
    releases["communes"] = ask(ada, "households", {"kind": "histogram", "column": "commune"}, "0.5")
    releases["months"] = ask(ada, "households", {"kind": "histogram", "column": "moved", "bins": "month"}, "0.5")
    releases["vague"] = ask(ada, "households", {"kind": "mean", "column": "income"}, "0.001")
    line = {"kind": "regression", "columns": ["bill_length_mm", "body_mass_g"]}
    publish(olga, "species", "Penguins by species", releases["groups"], audience="public", confirm_public=True)
    publish(olga, "species", "Penguins by species", releases["groups"], note="Palmer Archipelago, 2007 to 2009.")
    publish(ada, "body-mass", "Body mass", releases["mean"])
    assert olga.put("/v1/datasets/penguins/viewers/vic").status_code == 201
    releases["regression"] = derive(ada, "penguins", line, "9")
    releases["means"] = derive(ada, "households", {"kind": "mean", "column": "income", "group_by": "region"}, "0.5")
    quantiles = {"kind": "quantile", "column": "income", "bins": 30, "probabilities": ["0.1", "0.5", "0.9"]}
    releases["quantiles"] = derive(ada, "households", quantiles, "0.5")
    return Laboratory(service.url, keys, releases)
