"""The command line through the client, for both roles, as a terminal and a script meet it."""

import json
import os
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest
from client_commands import Run, environment, running_as
from client_world import PENGUINS, People, settle
from service_world import Service, serving

from snapledger_client.cli import session


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("commands")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", MAX_EPSILON_PER_RELEASE="10") as service:
        yield service


@pytest.fixture(scope="module")
def people(service: Service) -> People:
    return settle(service, limit=10, allowance=6)


@pytest.fixture
def run(service: Service, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as ada, or with another key."""
    return running_as(people.ada, service.url, tmp_path, monkeypatch)


def test_login_keeps_the_key_to_its_owner(run: Run, service: Service, people: People, tmp_path: Path) -> None:
    done = run("login", service.url, key=None, url=None, text=f"{people.ada}\n")
    assert done.exit_code == 0, done.stderr
    assert "ada (analyst)" in done.stdout
    assert people.ada not in done.stdout + done.stderr
    (stored,) = (tmp_path / "config").rglob("*.json")
    assert stat.S_IMODE(stored.stat().st_mode) == 0o600
    assert stat.S_IMODE(stored.parent.stat().st_mode) == 0o700
    assert len(list(stored.parent.iterdir())) == 1
    assert "penguins" in run("dataset", "list", key=None, url=None).stdout
    elsewhere = run("dataset", "list", key=None, url="http://127.0.0.1:9")
    assert elsewhere.exit_code == 4, "the stored key is not for another host"
    assert run("logout", key=None, url=None).exit_code == 0
    assert not stored.exists()
    assert run("dataset", "list", key=None, url=None).exit_code == 4


def test_a_viewer_logs_in_too(run: Run, service: Service, people: People) -> None:
    key = run("principal", "add", "wall", "viewer", key=people.admin).stdout
    done = run("login", service.url, key=None, url=None, text=key)
    assert (done.exit_code, "as wall (viewer)" in done.stdout) == (0, True), done.stderr
    assert run("figure", "reader", key=None, url=None).stdout.startswith("wall")
    assert run("logout", key=None, url=None).exit_code == 0
    refused = run("login", service.url, key=None, url=None, text="not-a-key\n")
    assert (refused.exit_code, "No valid key" in refused.stderr) == (4, True)


def test_a_request_for_budget_from_asking_to_the_answer(run: Run, people: People) -> None:
    asked = run("budget-request", "ask", "penguins", "0.5", "--reason", "the means by island too", "--format", "json")
    assert asked.exit_code == 0, asked.stderr
    request = json.loads(asked.stdout)["id"]
    again = run("budget-request", "ask", "penguins", "1", "--reason", "another")
    assert (again.exit_code, "open request" in again.stderr) == (7, True)
    listed = run("budget-request", "list", "penguins", key=people.owner).stdout
    assert request in listed
    assert "the means by island too" in listed
    assert run("budget-request", "grant", "penguins", request).exit_code == 4
    done = run(
        "budget-request", "grant", "penguins", request, "--epsilon", "0.25", "--answer", "half", key=people.owner
    )
    assert f"The request {request} for ε 0.5 on penguins is granted: ε 0.25 more." in done.stdout
    late = run("budget-request", "decline", "penguins", request, key=people.owner)
    assert (late.exit_code, "answered this request already" in late.stderr) == (7, True)
    (found,) = json.loads(run("budget-request", "list", "penguins", "--format", "json").stdout)["budget_requests"]
    assert (found["state"], found["granted"], found["answer"]) == ("granted", "0.25", "half")
    assert "is granted" in run("budget-request", "show", "penguins", request).stdout
    second = json.loads(run("budget-request", "ask", "penguins", "1", "--reason", "more", "--format", "json").stdout)[
        "id"
    ]
    declined = run("budget-request", "decline", "penguins", second, "--format", "json", key=people.owner)
    assert json.loads(declined.stdout)["state"] == "declined"


def test_principals_that_may_get_an_allowance_are_listed(run: Run, people: People) -> None:
    assert "ada" in run("allowance", "grantees", "penguins", key=people.owner).stdout
    listed = json.loads(run("allowance", "grantees", "penguins", "--format", "json", key=people.owner).stdout)[
        "grantees"
    ]
    assert {"name": "ada", "display_name": None, "role": "analyst"} in listed
    assert run("allowance", "grantees", "penguins").exit_code == 4


def test_the_latest_verification_is_shown(run: Run, service: Service, people: People) -> None:
    assert "never verified" in run("ledger", "verification", "penguins", key=people.owner).stdout
    assert json.loads(run("ledger", "verification", "penguins", "--format", "json", key=people.owner).stdout) == {
        "latest": None
    }
    assert service.client(people.owner).get("/v1/datasets/penguins/ledger/verification").json()["valid"]
    assert "by station: valid" in run("ledger", "verification", "penguins", key=people.owner).stdout
    found = json.loads(run("ledger", "verification", "penguins", "--format", "json", key=people.owner).stdout)["latest"]
    assert (found["actor"], found["valid"], found["problems"]) == ("station", True, 0)


def test_a_password_in_a_url_is_refused(run: Run) -> None:
    done = run("login", "https://ada:hush@statistics.example.org", key=None, url=None, text="key\n")
    assert (done.exit_code, "hush" in done.stderr, "must not contain" in done.stderr) == (2, False, True)


def test_a_wrong_key_is_not_stored(run: Run, service: Service, tmp_path: Path) -> None:
    done = run("login", service.url, key=None, url=None, text="wrong-key\n")
    assert done.exit_code == 4
    assert "wrong-key" not in done.stdout + done.stderr
    used = run("dataset", "list", key="wrong-key")
    assert used.exit_code == 4
    for told in (done.stderr, used.stderr):
        assert "snapledger login" in told
        assert "header" not in told
    assert not list((tmp_path / "config").rglob("*.json"))


def test_an_analyst_s_way(run: Run) -> None:
    listed = run("dataset", "list")
    assert "344" in listed.stdout
    shown = run("dataset", "show", "penguins")
    assert "Protects each unit, such as a person: a unit has at most 1 row.\n" in shown.stdout
    assert "2000 to 7000" in shown.stdout
    assert "Adelie, Chinstrap, Gentoo" in shown.stdout
    assert "as 4500" in shown.stdout
    told = run("plan", "penguins", "mean", "body_mass_g", "--missing", "exclude", "--epsilon", "1").stdout
    assert "from sum (" in told
    assert "leaving out rows without a value of body_mass_g" in told
    known = run("release", "penguins", "mean", "body_mass_g", "--missing", "exclude", "--epsilon", "1").stdout
    assert known.startswith("mean of body_mass_g, known values: ")
    of_gentoo = ("mean", "body_mass_g", "--missing", "exclude", "--where", "species=Gentoo", "--epsilon", "1")
    for command in ("plan", "release"):
        told = run(command, "penguins", *of_gentoo, *(["--rehearse"] if command == "release" else []))
        assert "mean of body_mass_g where species in Gentoo, known values: " in told.stdout, told.stderr
    assert json.loads(
        run("release", "penguins", "missing", "body_mass_g", "--epsilon", "0.3", "--format", "json").stdout
    )["reused"]
    planned = json.loads(run("plan", "penguins", "mean", "body_mass_g", "--accuracy", "50", "--format", "json").stdout)
    assert planned["privacy"]["epsilon"] == "0.871099697"
    assert planned["mechanism"]["grid_refinement"] == 10
    before = json.loads(run("budget", "penguins", "--format", "json").stdout)
    arguments = ("release", "penguins", "mean", "body_mass_g", "--epsilon", "0.25", "--fresh", "--format", "json")
    released = json.loads(run(*arguments, "--key", "mine").stdout)
    again = json.loads(run(*arguments, "--key", "mine").stdout)
    assert released == again
    after = json.loads(run("budget", "penguins", "--format", "json").stdout)
    assert Decimal(after["epsilon_spent"]) - Decimal(before["epsilon_spent"]) == Decimal("0.25")
    told = run("budget", "penguins").stdout
    assert "your allowance" in told
    assert after["allowance"]["epsilon_remaining"] in told


@pytest.mark.parametrize(
    ("arguments", "statistic"),
    [
        (
            ("variance", "bill_length_mm", "--bounds", "-30,60.5"),
            {"kind": "variance", "column": "bill_length_mm", "bounds": [-30, 60.5]},
        ),
        (
            ("covariance", "bill_length_mm", "body_mass_g", "--bounds", "30,60", "--bounds", "2500,6500"),
            {"kind": "covariance", "columns": ["bill_length_mm", "body_mass_g"], "bounds": [[30, 60], [2500, 6500]]},
        ),
        (
            ("histogram", "body_mass_g", "--edges", "2000, 4000, 7000"),
            {"kind": "histogram", "column": "body_mass_g", "edges": [2000, 4000, 7000]},
        ),
        (
            ("histogram", "body_mass_g", "--bins", "2", "--bounds", "2000,6000"),
            {"kind": "histogram", "column": "body_mass_g", "edges": [2000, 4000, 6000]},
        ),
    ],
)
def test_every_statistic(run: Run, arguments: tuple[str, ...], statistic: dict[str, object]) -> None:
    options = ("--epsilon", "0.01", "--alpha", "0.1", "--gamma", "0.2", "--grid-refinement", "1", "--format", "json")
    done = run("release", "penguins", *arguments, *options)
    assert done.exit_code == 0, done.stderr
    released = json.loads(done.stdout)
    described = released["statistic"]
    described = {name: described[name] for name in statistic if name in described}
    assert described.items() <= statistic.items()
    assert (released["accuracy"]["alpha"], released["mechanism"]["gamma"]) == (0.1, 0.2)
    assert released["mechanism"]["grid_refinement"] == 1


@pytest.mark.parametrize(
    ("arguments", "statistic"),
    [
        (
            ("count", "--where", "species=Adelie, Gentoo", "--where", "body_mass_g=3000..4000"),
            {
                "kind": "count",
                "where": {"body_mass_g": {"between": [3000, 4000]}, "species": {"in": ["Adelie", "Gentoo"]}},
            },
        ),
        (
            ("count", "--where", "species!=Adelie", "--where", "body_mass_g>=3000", "--where", "body_mass_g<4000"),
            {
                "kind": "count",
                "where": {"body_mass_g": {"between": [3000, 3999]}, "species": {"not": {"in": ["Adelie"]}}},
            },
        ),
        (
            ("count", "--where", "body_mass_g is not missing"),
            {"kind": "count", "where": {"body_mass_g": {"is_missing": False}}},
        ),
        (
            ("sum", "body_mass_g", "--bounds", "0,7000", "--where", '{"species": {"in": ["Adelie"]}}'),
            {"kind": "sum", "column": "body_mass_g", "bounds": [0, 7000], "where": {"species": {"in": ["Adelie"]}}},
        ),
        (("count", "--group-by", "species"), {"kind": "count", "group_by": "species"}),
        (
            (
                "histogram",
                "species",
                "body_mass_g",
                "--bins",
                "-",
                "--bins",
                "2",
                "--bounds",
                "-",
                "--bounds",
                "0,8000",
            ),
            {
                "kind": "histogram",
                "columns": ["species", "body_mass_g"],
                "bins": [None, 2],
                "bounds": [None, [0, 8000]],
            },
        ),
        (
            ("histogram", "body_mass_g", "bill_length_mm", "--edges", "2000,4000,7000", "--edges", "30,40,65"),
            {
                "kind": "histogram",
                "columns": ["body_mass_g", "bill_length_mm"],
                "edges": [[2000, 4000, 7000], [30, 40, 65]],
            },
        ),
    ],
)
def test_filters_and_groups(run: Run, arguments: tuple[str, ...], statistic: dict[str, object]) -> None:
    for command in ("plan", "release"):
        done = run(command, "penguins", *arguments, "--epsilon", "0.01", "--format", "json")
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["statistic"] == statistic


def test_the_bias_of_a_guess(run: Run) -> None:
    done = run("plan", "penguins", "mean", "body_mass_g", "--epsilon", "0.5", "--guess", "4200")
    assert "if the value is 4,200, the bias is -1.29605e-09, and never more than ± 0.014" in done.stdout


ITEMS = [
    {"statistic": {"kind": "mean", "column": "bill_length_mm"}, "weight": 1},
    {"statistic": {"kind": "histogram", "column": "species"}, "weight": 0.1},
]


def test_a_batch_from_a_file(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "batch.json"
    file.write_text(json.dumps(ITEMS))
    planned = run("batch", "penguins", str(file), "--epsilon", "0.11", "--plan")
    assert "mean of bill_length_mm: within" in planned.stdout
    before = json.loads(run("budget", "penguins", "--format", "json").stdout)["epsilon_spent"]
    file.write_text(json.dumps({"items": ITEMS, "epsilon": "0.11", "reuse": False}))
    first, again = (run("batch", "penguins", str(file), "--key", "batch", "--format", "json") for _ in range(2))
    assert first.exit_code == 0, first.stderr
    assert first.stdout == again.stdout
    assert [each["budget"]["charged"] for each in json.loads(first.stdout)["items"]] == ["0.1", "0.01"]
    after = json.loads(run("budget", "penguins", "--format", "json").stdout)["epsilon_spent"]
    assert Decimal(after) - Decimal(before) == Decimal("0.11")
    piped = run("batch", "penguins", "-", "--epsilon", "0.11", text=json.dumps(ITEMS))
    assert [word for word in ("Chinstrap", "bill_length_mm", "at no cost") if word not in piped.stdout] == []
    for wrong in (
        "{",
        "3",
        '{"items": 3}',
        '[{"statistic": {"kind": "mean", "column": "x"}}]',
        '{"items": [], "x": 1}',
    ):
        assert run("batch", "penguins", "-", text=wrong).exit_code == 2, wrong
    assert run("batch", "penguins", str(tmp_path / "nowhere")).exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("standard_deviation", "body_mass_g"), "standard deviation of body_mass_g: "),
        (("proportion", "species", "--category", "Gentoo"), "proportion of species = Gentoo: "),
        (("proportion", "--where", "body_mass_g=2000..4000"), "proportion where body_mass_g between 2000 and 4000: "),
        (("mean", "body_mass_g", "--where", "species=Gentoo"), "mean of body_mass_g where species in Gentoo: "),
        (("mean", "bill_length_mm", "--weight", "body_mass_g"), "mean of bill_length_mm weighted by body_mass_g: "),
        (("correlation", "bill_length_mm", "body_mass_g"), "correlation of bill_length_mm and body_mass_g: "),
        (
            ("regression", "bill_length_mm", "body_mass_g", "--bounds", "30,61", "--bounds", "2500,6501"),
            "regression of body_mass_g on bill_length_mm: slope ",
        ),
        (("quantile", "body_mass_g", "--bins", "10", "--probabilities", "0.25,0.5"), "quantile of body_mass_g: "),
        (("median", "body_mass_g", "--bins", "9"), "median of body_mass_g: "),
        (("cumulative", "body_mass_g", "--edges", "2000,4001,7000"), "cumulative of body_mass_g: "),
        (("sum", "body_mass_g", "--bounds", "2500,6502"), "sum of body_mass_g: "),
        (
            ("margin", "body_mass_g", "species", "body_mass_g", "--bins", "-", "--bins", "2"),
            "margin of body_mass_g in the table of species and body_mass_g: ",
        ),
    ],
)
def test_what_follows(run: Run, arguments: tuple[str, ...], told: str) -> None:
    question = ("derived", "penguins", *arguments, "--epsilon", "0.05")
    planned = run(*question, "--plan")
    assert planned.exit_code == 0, planned.stderr
    assert ": from " in planned.stdout
    done = run(*question, "--alpha", "0.1")
    assert done.exit_code == 0, done.stderr
    assert told in done.stdout
    assert "90 %" in done.stdout
    assert "at no cost" in run(*question, "--alpha", "0.1").stdout
    assert "estimates" in json.loads(run(*question, "--format", "json").stdout)


def test_a_histogram_is_a_table(run: Run) -> None:
    done = run("release", "penguins", "histogram", "species", "--epsilon", "0.5")
    assert [line.split()[0] for line in done.stdout.splitlines()[2:6]] == ["Adelie", "Chinstrap", "Gentoo", "other"]
    assert "paid" in done.stdout


def test_an_owner_s_and_an_admin_s_way(run: Run, people: People) -> None:
    added = run("principal", "add", "grace", "analyst", "--display-name", "Grace H.", key=people.admin)
    key = added.stdout.strip()
    assert added.exit_code == 0
    assert (
        run(
            "dataset",
            "list",
            key=key,
        ).exit_code
        == 0
    )
    assert run("dataset", "show", "penguins", key=key).exit_code == 5
    allowed = run("allowance", "set", "penguins", "grace", "0.75", "--window-days", "30", key=people.owner)
    assert "Grace H. (grace)" in allowed.stdout
    assert "every 30 days" in allowed.stdout
    assert run("release", "penguins", "mean", "body_mass_g", "--epsilon", "0.5", key=key).exit_code == 0
    assert run("allowance", "revoke", "penguins", "grace", key=people.owner).exit_code == 0
    assert run("budget", "penguins", key=key).exit_code == 5
    entries = json.loads(run("ledger", "show", "penguins", "--format", "json", key=people.owner).stdout)["entries"]
    of_grace = [entry["kind"] for entry in entries if entry["epsilon"] == "0.75" or entry["principal"] == "grace"]
    assert of_grace[0] == "allow"
    assert "revoke" in [entry["kind"] for entry in entries]
    assert "0.75" in run("ledger", "show", "penguins", key=people.owner).stdout
    named = run("principal", "display-name", "grace", "Grace Hopper", key=people.admin)
    assert named.stdout == "grace is shown as Grace Hopper.\n"
    assert "Grace Hopper" in run("principal", "list", key=people.admin).stdout
    removed = run("principal", "display-name", "grace", "", key=people.admin)
    assert removed.stdout == "grace has no display name.\n"
    renewed = run("principal", "key", "grace", "--format", "json", key=people.admin)
    assert json.loads(renewed.stdout)["key"] != key
    assert run("dataset", "list", key=key).exit_code == 4
    assert run("principal", "disable", "grace", key=people.admin).exit_code == 0
    listed = run("principal", "list", key=people.admin).stdout
    assert [line.split()[-1] for line in listed.splitlines() if line.startswith("grace")] == ["disabled"]
    assert run("principal", "disable", "admin", key=people.admin).exit_code == 7
    assert run("principal", "add", "ada", "analyst", key=people.admin).exit_code == 7


def test_keys_have_an_end(run: Run, people: People, service: Service) -> None:
    added = run("principal", "add", "edith", "analyst", "--expires", "2099-01-31", "--format", "json", key=people.admin)
    assert json.loads(added.stdout)["key_expires_at"] == "2099-01-31T00:00:00.000000Z"
    listed = run("principal", "list", key=people.admin).stdout
    assert "2099-01-31 00:00 UTC" in next(line for line in listed.splitlines() if line.startswith("edith"))
    renewed = run(
        "principal", "key", "edith", "--expires", "2099-01-31T18:00+02:00", "--format", "json", key=people.admin
    )
    assert json.loads(renewed.stdout)["key_expires_at"] == "2099-01-31T16:00:00.000000Z"
    for text in ("soon", "2001-01-31"):  # no time, and one that is past
        refused = run("principal", "add", "nobody", "analyst", "--expires", text, key=people.admin)
        assert (refused.exit_code, refused.stdout) == (2, "")
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    assert "which expires at" in run("principal", "key", "edith", "--expires", tomorrow, key=people.admin).stderr
    service.expire_key("edith")
    listed = run("principal", "list", key=people.admin).stdout
    assert next(line for line in listed.splitlines() if line.startswith("edith")).split()[-1] == "expired"
    assert "nobody" not in listed
    assert "which does not expire" in run("principal", "key", "edith", key=people.admin).stderr


def test_the_record_of_acts(run: Run, people: People, service: Service) -> None:
    run("principal", "add", "karl", "analyst", key=people.admin)
    done = run("acts", "list", key=people.admin)
    assert done.exit_code == 0
    (line,) = [line for line in done.stdout.splitlines() if "principals/karl" in line]
    assert line.split()[3:5] == ["admin", "principal.create"]
    found = json.loads(run("acts", "list", "--format", "json", key=people.admin).stdout)
    verified = run("acts", "verify", key=people.admin)
    assert verified.stdout.startswith(f"the audit log: valid, {len(found['records'])} entries, head ")
    assert [each["seq"] for each in found["records"]] == list(range(1, len(found["records"]) + 1))
    assert "by admin: valid" in run("acts", "verification", key=people.admin).stdout
    assert run("acts", "list", key=people.ada).exit_code == 4
    ledger = sqlite3.connect(service.data.parent / "ledger.sqlite3", isolation_level=None)
    ledger.execute("UPDATE audit SET actor = 'mallory' WHERE seq = 2")
    try:
        spoilt = run("acts", "verify", key=people.admin)
    finally:
        ledger.execute("UPDATE audit SET actor = 'admin' WHERE seq = 2")
        ledger.close()
    assert spoilt.exit_code == 1
    assert "act 2: " in spoilt.stdout
    assert "the audit log: NOT valid".casefold() in spoilt.stdout.casefold()


def test_an_allowance_s_error_says_which_of_the_two_was_not_found(run: Run, people: People) -> None:
    for command in (("set", "{}", "{}", "1"), ("revoke", "{}", "{}")):
        for dataset, principal, told in (
            ("no-such", "ada", "There is no such dataset, or your key may not see it: check its name."),
            ("penguins", "no-such", "There is no such principal, or it is disabled: check its name."),
            ("penguins", "..no", "There is no such principal, or it is disabled: check its name."),
        ):
            verb, *arguments = command
            names = iter((dataset, principal))
            words = [next(names) if word == "{}" else word for word in arguments]
            done = run("allowance", verb, *words, key=people.owner)
            assert (done.exit_code, done.stderr) == (5, f"snapledger: Not found. {told}\n")
    never = run("allowance", "revoke", "penguins", "station", key=people.owner)
    assert "this principal has no access" in never.stderr.casefold()


def test_exit_codes_say_what_happened(run: Run) -> None:
    mean = ("penguins", "mean", "body_mass_g")
    exhausted = run("release", *mean, "--epsilon", "9", "--fresh")
    assert exhausted.exit_code == 3
    assert "This costs ε = 9" in exhausted.stderr
    assert run("ledger", "show", "penguins").exit_code == 4
    assert run("budget", "no-such").exit_code == 5
    away = run("release", *mean, "--epsilon", "1", "--key", "mine", url="http://127.0.0.1:9", key="any")
    assert away.exit_code == 6
    assert "--key mine" in away.stderr
    for usage in (
        ("release", *mean),
        ("release", *mean, "--epsilon", "1", "--accuracy", "50"),
        ("release", *mean, "--epsilon", "much"),
        ("release", *mean, "--epsilon", "1", "--bins", "3"),
        ("release", *mean, "--epsilon", "1", "--where", "species=Adelie"),
        ("release", "penguins", "count", "--epsilon", "1", "--where", "species"),
        ("release", "penguins", "count", "--epsilon", "1", "--where", "{"),
        ("release", "penguins", "count", "--epsilon", "1", "--where", "a=1", "--where", "a=2"),
        ("release", "penguins", "count", "--epsilon", "1", "--bounds", "1,2", "--where", "species=Adelie"),
        ("derived", "penguins", "correlation", "body_mass_g", "--epsilon", "1"),
        ("derived", "penguins", "correlation", "a", "b", "--epsilon", "1", "--bins", "3"),
        ("derived", "penguins", "mean", "body_mass_g", "--epsilon", "1"),
        ("derived", "penguins", "quantile", "body_mass_g"),
        ("release", *mean, "--epsilon", "1", "--bounds", "3"),
        ("release", *mean, "body_mass_g", "--epsilon", "1"),
        ("release", "penguins", "median", "body_mass_g", "--epsilon", "1"),
        ("release", "penguins", "mean", "no_such", "--epsilon", "1"),
        ("plan", *mean, "--accuracy", "0.000001"),
        ("plan", *mean, "--epsilon", "11"),
        ("budget", ".."),
    ):
        done = run(*usage)
        assert done.exit_code == 2, usage
        assert (done.stdout, "Traceback" in done.stderr) == ("", False)


STATISTICS = ["mean", "variance", "covariance", "histogram", "count", "missing", "sum"]
DERIVED = ["standard_deviation", "sum", "proportion", "mean", "correlation", "regression", "cumulative"]
DERIVED += ["median", "quantile", "margin"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("release", "median", "a"), "a median is derived from releases: use `snapledger derived`"),
        (
            ("plan", "varience", "a"),
            f"the kind of statistic must be one of {', '.join(STATISTICS)}; did you mean 'variance'?",
        ),
        (("derived", "variance", "a"), "a variance is not derived from other releases: use `snapledger release`"),
        (
            ("derived", "quantiles", "a"),
            f"the kind of derived statistic must be one of {', '.join(DERIVED)}; did you mean 'quantile'?",
        ),
        (
            ("derived", "median", "a", "--method", "serch"),
            "--method must be one of histogram, search, adaptive; did you mean 'search'?",
        ),
        (
            ("release", "mean", "body_mass_g", "--where", "a=1"),
            "a mean with --where is derived from releases: use `snapledger derived`",
        ),
        (
            ("plan", "mean", "body_mass_g", "--group-by", "species"),
            "a mean with --group-by is derived from releases: use `snapledger derived`",
        ),
        (("plan", "count", "--where", "age=65.."), "a range LEAST..MOST has two ends: write 'age>=65' for one"),
        (("plan", "count", "--where", "age!=..18"), "a range LEAST..MOST has two ends: write 'age<=18' for one"),
        (
            ("plan", "mean", "body_mass_g", "--edges", "1,2"),
            "--edges does not go with a mean, which takes --bounds, --missing and --where",
        ),
        (
            ("plan", "variance", "body_mass_g", "--where", "species=Gentoo"),
            "a variance with --where needs --missing exclude, which leaves out rows without a value",
        ),
        (
            ("plan", "sum", "body_mass_g", "--edges", "1,2"),
            "--edges does not go with a sum, which takes --bounds, --where, --group-by and --missing",
        ),
        (("plan", "count", "--bounds", "1,2"), "--bounds does not go with a count, which takes --where and --group-by"),
        (
            ("plan", "histogram", "species", "body_mass_g", "--group-by", "species"),
            "--group-by does not go with a two-way table, which takes --edges, --bins, --bounds and --where",
        ),
        (("release", "covariance", "body_mass_g"), "a covariance takes two columns, not 1"),
        (("release", "count", "body_mass_g"), "a count takes no column, not 1"),
        (("release", "histogram", "a", "b", "c"), "a two-way table takes two columns, not 3"),
        (("release", "mean", "a", "--bounds", "1,2", "--bounds", "1,2"), "give --bounds once, or not at all"),
        (
            ("release", "covariance", "a", "b", "--bounds", "1,2"),
            "give --bounds once for each of both columns, or not at all",
        ),
        (
            ("release", "histogram", "a", "--bins", "few"),
            "--bins must be a whole number or, for dates, one of day, iso_week, month, quarter, year",
        ),
        (("derived", "mean", "body_mass_g"), "a mean of some rows needs --where, --group-by, --weight or --missing"),
        (
            ("release", "mean", "a", "--missing", "include"),
            "--missing must be exclude: without it, missing values count as the owner declared",
        ),
        (
            ("release", "count", "--missing", "exclude"),
            "--missing does not go with a count, which takes --where and --group-by",
        ),
        (
            ("plan", "mean", "a", "--missing", "exclude", "--guess", "3", "--epsilon", "1"),
            "--guess does not go with --missing: use `snapledger derived`, with --guess NAME=VALUE",
        ),
        (("derived", "quantile", "body_mass_g", "--bins", "5"), "a quantile needs --probabilities"),
        (
            ("derived", "standard_deviation", "body_mass_g", "--bins", "3"),
            "--bins does not go with a standard deviation, which takes --bounds, --missing and --where",
        ),
        (("derived", "margin", "a", "b"), "a margin takes three columns, not 2"),
        (
            ("derived", "sum", "body_mass_g", "--accuracy", "5"),
            "give exactly one of --epsilon, --accuracy and --relative-accuracy",
        ),
        (
            ("derived", "sum", "body_mass_g", "--guess", "much"),
            "a guess must be NAME=VALUE, such as mean=4200, with each name once",
        ),
        (
            ("derived", "sum", "body_mass_g", "--method", "search"),
            "--method does not go with a sum, which takes --bounds, --where, --group-by and --missing",
        ),
    ],
)
def test_options_that_do_not_fit_are_told_in_words(run: Run, arguments: tuple[str, ...], told: str) -> None:
    command, *rest = arguments
    done = run(command, "penguins", *rest, "--epsilon", "1")
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"snapledger: {told}\n")


def test_accuracies_of_what_follows(run: Run) -> None:
    heavy = ("mean", "body_mass_g", "--where", "species=Gentoo", "--guess", "mean=5000", "--guess", "count=120")
    planned = run("derived", "penguins", *heavy, "--relative-accuracy", "0.1", "--plan")
    assert planned.exit_code == 0, planned.stderr
    assert "; about ± 500 (95 %) if the guesses are right" in planned.stdout
    document = json.loads(run("derived", "penguins", *heavy, "--accuracy", "500", "--plan", "--format", "json").stdout)
    assert document["expected"] == {"half_width": pytest.approx(500, abs=0.01), "basis": "guesses"}
    total = run("derived", "penguins", "sum", "body_mass_g", "--epsilon", "0.01", "--alpha", "0.1", "--plan")
    assert "(90 %) whatever the data" in total.stdout
    middle = ("quantile", "body_mass_g", "--bins", "5", "--probabilities", "0.5", "--method", "search")
    found = json.loads(run("derived", "penguins", *middle, "--epsilon", "0.05", "--format", "json").stdout)
    assert found["components"][0]["role"] == "search"


def test_an_accuracy_as_a_part_of_a_guess(run: Run) -> None:
    part = ("mean", "body_mass_g", "--relative-accuracy", "0.05", "--guess", "4000")
    planned = json.loads(run("plan", "penguins", *part, "--format", "json").stdout)
    assert (
        planned["privacy"]
        == json.loads(run("plan", "penguins", "mean", "body_mass_g", "--accuracy", "200", "--format", "json").stdout)[
            "privacy"
        ]
    )
    assert run("release", "penguins", *part).exit_code == 0
    assert run("release", "penguins", *part[:-2]).exit_code == 2


def test_edges_have_no_separators_and_quantiles_have_them(run: Run) -> None:
    """An edge may be a year: what is between the digits of a count is not for these."""
    edges = "2000,4001.5,7000"
    below = run("derived", "penguins", "cumulative", "body_mass_g", "--edges", edges, "--epsilon", "0.05").stdout
    assert [line.split()[0] for line in below.splitlines()[2:4]] == ["4001.5", "7000"]
    half = ("quantile", "body_mass_g", "--bins", "10", "--probabilities", "0.25,0.5")
    told = run("derived", "penguins", *half, "--epsilon", "0.05", "--alpha", "0.000000001").stdout  # all of the range
    assert [line.split()[0] for line in told.splitlines()[2:4]] == ["0.25", "0.5"]
    assert all(" to 7,000" in line for line in told.splitlines()[2:4])


def test_categories_with_commas_are_quoted(run: Run, service: Service, people: People) -> None:
    categories = ["plain", "one, two", 'say "so"', "", " edge"]
    columns = {"body_mass_g": {"kind": "category", "categories": categories}}
    metadata = {"name": "commas", "epsilon_limit": 1, "rows_per_unit": 2, "columns": columns}
    assert service.upload(service.client(people.owner), metadata, PENGUINS).status_code == 201
    shown = run("dataset", "show", "commas", key=people.owner).stdout
    assert "a unit has at most 2 rows.\n" in shown
    assert shown.splitlines()[-1].endswith(r'plain, "one, two", "say \"so\"", "", " edge"')


def test_nothing_of_waiting_is_printed_where_nobody_watches(run: Run) -> None:
    done = run("plan", "penguins", "mean", "body_mass_g", "--epsilon", "1", "--format", "json")
    assert done.stderr == ""


def test_texts_do_not_command_the_terminal(run: Run, service: Service, people: People) -> None:
    owner = service.client(people.owner)
    metadata = {
        "name": "hostile",
        "description": "\x1b[2J\x07[bold]not bold[/bold] \u202eback",
        "epsilon_limit": 1,
        "columns": {"body_mass_g": {"kind": "integer", "bounds": [0, 1]}},
    }
    assert service.upload(owner, metadata, PENGUINS).status_code == 201
    for arguments in (("dataset", "list"), ("dataset", "show", "hostile")):
        shown = run(*arguments, key=people.owner)
        assert shown.exit_code == 0, shown.stderr
        assert "[bold]not bold[/bold]" in shown.stdout
        assert not {"\x1b", "\x07", "\u202e"} & set(shown.stdout)


@pytest.mark.slow
@pytest.mark.parametrize(("typed", "completed"), [("budget pe", "penguins"), ("bat", "batch")])
def test_a_shell_completes_commands_and_datasets(
    service: Service, people: People, tmp_path: Path, typed, completed
) -> None:
    shell = {"_SNAPLEDGER_COMPLETE": "complete_bash", "COMP_WORDS": f"snapledger {typed}"}
    shell |= {"COMP_CWORD": str(len(typed.split()))}
    settings = environment(tmp_path, SNAPLEDGER_URL=service.url, SNAPLEDGER_KEY=people.ada, **shell)
    known = {name: value for name, value in (os.environ | settings).items() if value is not None}
    command = [sys.executable, "-m", "app.cli.service_commands"]
    done = subprocess.run(command, env=known, capture_output=True, text=True, timeout=100, check=False)  # noqa: S603
    assert done.stdout.split() == [completed], done.stderr


def test_nothing_is_completed_where_the_service_is_away(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SNAPLEDGER_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("SNAPLEDGER_KEY", "any")
    assert session.complete_dataset_names("pe") == []
