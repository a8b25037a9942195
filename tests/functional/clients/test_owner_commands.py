"""What an owner, an admin and an operator do from afar, each thing with a command."""

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from client_commands import Run, running_as
from client_world import People, losing_every_third_answer, settle
from service_world import Service, becomes, serving
from typer.testing import CliRunner, Result

from app.cli.service_commands import app
from snapledger_client import Client

RELEASES, EPSILON = 100, Decimal("0.01")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("owner")
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3") as service:
        yield service


@pytest.fixture(scope="module")
def people(service: Service) -> People:
    return settle(service, limit=10, allowance=6)


@pytest.fixture
def run(service: Service, people: People, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command as an owner, or with another key."""
    return running_as(people.owner, service.url, tmp_path, monkeypatch)


def test_a_report_from_its_definition_to_its_end(run: Run, service: Service, people: People) -> None:
    """On a dataset that no other test asks, since its successor has a run."""
    with Client(service.url, people.owner) as owner:
        columns = {"yes": {"kind": "boolean", "nullable": False}}
        metadata = {"name": "polls-1", "epsilon_limit": "3", "columns": columns}
        owner.register(metadata, b"yes\ntrue\nfalse\n")
        question = {"statistic": {"kind": "count", "where": {"yes": {"in": [True]}}}, "epsilon": 0.5}
        asked = {"batch": {"items": [question], "reuse": False}, "figures": [{"figure": "yes", "title": "Yes"}]}
        names = "polls-1", "daily"
        assert run("report", "put", *names, "-", text="[]").exit_code == 2
        assert run("report", "put", *names, "-", "--per-run", "0.5", text=json.dumps(asked)).exit_code == 2
        limits = "--per-run", "0.5", "--total", "1"
        defined = run("report", "put", *names, "-", *limits, "--only-new", text=json.dumps(asked))
        assert defined.stdout == "polls-1/daily is defined: ε 1 is left for its runs.\n", defined.stderr
        assert run("report", "put", *names, "-", *limits, "--only-new", text=json.dumps(asked)).exit_code == 7
        assert "The report's budget covers 2 more runs." in run("report", "plan", *names).stdout
        assert "yes" in run("report", "show", *names).stdout
        assert run("report", "retry", *names).exit_code == 5
        owner.register(metadata | {"name": "polls-2", "succeeds": "polls-1"}, b"yes\ntrue\ntrue\n")
    names = "polls-2", "daily"
    assert json.loads(run("report", "list", "polls-2", "--format", "json").stdout)["reports"][0]["report"] == "daily"
    assert becomes(lambda: "done" in run("report", "runs", *names, "--format", "csv").stdout)
    assert run("report", "retry", *names).stdout == "The run of daily on polls-2 is done.\n"
    assert run("report", "delete", *names, "--if-match", '"another"').exit_code == 7
    tag = json.loads(run("report", "show", *names, "--format", "json").stdout)["etag"]
    assert run("report", "delete", *names, "--if-match", tag).stdout == "polls-2/daily is withdrawn.\n"
    assert run("report", "runs", *names).exit_code == 5


def test_a_dataset_from_its_draft_to_its_end(run: Run, service: Service, tmp_path: Path) -> None:
    table, schema = tmp_path / "survey.csv", tmp_path / "survey.json"
    table.write_text("age;remark\n" + "".join(f"{20 + i};note {i}\n" for i in range(300)))
    drafted = run("dataset", "draft", str(table))
    assert drafted.exit_code == 0, drafted.stderr
    assert "1 of 1 columns have bounds or categories that you must confirm." in drafted.stderr
    assert "remark: " in drafted.stderr
    metadata = json.loads(drafted.stdout)
    assert metadata["columns"] == {"age": {"kind": "integer", "bounds": ["20", "319"], "unconfirmed": ["bounds"]}}
    metadata |= {"name": "survey", "epsilon_limit": "3", "columns": {"age": {"kind": "integer", "bounds": [0, 120]}}}
    schema.write_text(json.dumps(metadata))
    added = run("dataset", "add", str(table), "--schema", str(schema), "--format", "json")
    assert added.exit_code == 0, added.stderr
    assert json.loads(added.stdout)["report"]["columns"]["age"]["missing"] == 0
    limited = run("dataset", "limit", "survey", "4", "--reason", "a second wave")
    assert (limited.exit_code, limited.stdout.split("\n")[2].split()[:4]) == (0, ["the", "dataset", "4", "0"])
    assert run("dataset", "limit", "survey", "5").exit_code == 2
    shown = run("ledger", "show", "survey").stdout
    assert "a second wave" in shown
    assert run("dataset", "revalidate", "survey").stdout == "survey is open.\n"
    verified = run("ledger", "verify", "survey", "--incremental")
    assert re.fullmatch(r"survey: valid, 2 entries, head [0-9a-f]{64}\n", verified.stdout)
    unsure = run("dataset", "close", "survey")
    assert (unsure.exit_code, "--yes" in unsure.stderr) == (2, True)
    assert run("dataset", "close", "survey", "--yes").stdout == "survey is closed, and its data is deleted.\n"
    assert service.client(service.admin_key).get("/v1/datasets/survey").json()["state"] == "closed"
    assert run("dataset", "draft").exit_code == 2


def test_a_plan_needs_no_data(run: Run, people: People, tmp_path: Path) -> None:
    mean = ("mean", "body_mass_g", "--rows", "344", "--bounds", "2000,7000", "--accuracy", "50")
    planned = run("plan-without-data", *mean, key=people.ada)
    assert planned.exit_code == 0, planned.stderr
    assert "within ± 50 (95 %) for ε = 0.87" in planned.stdout
    schema = tmp_path / "schema.json"
    schema.write_text(json.dumps({"columns": {"kind": {"kind": "category", "categories": ["a", "b"]}}}))
    counted = ("count", "--where", "kind=a", "--rows", "100", "--epsilon", "1", "--schema", str(schema))
    assert json.loads(run("plan-without-data", *counted, "--format", "json").stdout)["privacy"]["n"] == 100
    schema.write_text("[]")
    assert run("plan-without-data", *counted).exit_code == 2


def test_an_own_key_is_replaced_where_it_is_stored(run: Run, service: Service, people: People, tmp_path: Path) -> None:
    added = run("principal", "add", "grace", "analyst", key=people.admin).stdout.strip()
    assert run("login", service.url, key=None, url=None, text=f"{added}\n").exit_code == 0
    assert run("me", key=None, url=None).stdout == "grace: analyst; the key does not expire\n"
    replaced = run("new-key", key=None, url=None)
    (stored,) = (tmp_path / "config").rglob("*.json")
    new = json.loads(stored.read_text())["key"]
    assert (replaced.exit_code, new == added, new in replaced.stdout + replaced.stderr) == (0, False, False)
    assert run("me", key=None, url=None).exit_code == 0
    assert run("me", key=added).exit_code == 4
    printed = run("new-key", key=new)
    assert run("me", key=printed.stdout.strip()).exit_code == 0
    assert "grace  " not in run("me", key=people.ada).stdout
    assert "penguins" in run("me", key=people.ada).stdout


def test_an_answer_is_published_read_and_withdrawn(run: Run, people: People, tmp_path: Path) -> None:
    question = ("release", "penguins", "histogram", "species", "--epsilon", "0.1", "--format", "json")
    released = json.loads(run(*question, key=people.ada).stdout)
    names = ("penguins", "species")
    assert run("figure", "publish", *names, "--title", "x", key=people.ada).exit_code == 2
    published = run("figure", "publish", *names, "--title", "Species", "--release", released["id"], key=people.ada)
    assert published.stdout == "penguins/species is published, version 1.\n", published.stderr
    derived = tmp_path / "derived.json"
    share = {"kind": "proportion", "column": "species", "category": "Gentoo"}
    derived.write_text(json.dumps({"derived": share, "epsilon": "0.1"}))
    options = ("--derived", str(derived), "--note", "of the islands")
    early = run("figure", "publish", *names, "--title", "Share of Gentoo", *options, key=people.ada)
    assert (early.exit_code, "not released yet" in early.stderr) == (7, True)
    asked = ("proportion", "species", "--category", "Gentoo", "--epsilon", "0.1")
    assert run("derived", "penguins", *asked, key=people.ada).exit_code == 0
    again = run("figure", "publish", *names, "--title", "Share of Gentoo", *options, key=people.ada)
    assert again.stdout == "penguins/species is published, version 2.\n", again.stderr
    rows = run("figure", "show", *names, "--version", "1", "--format", "csv").stdout.splitlines()
    assert [row.split(",")[3] for row in rows] == ["label", "Adelie", "Chinstrap", "Gentoo", "other"]
    assert "of the islands" in run("figure", "show", *names).stdout
    added = run("principal", "add", "bob", "viewer", key=people.admin).stdout.strip()
    assert run("figure", "show", *names, key=added).exit_code == 5
    assert run("viewer", "add", "penguins", "bob").stdout == "bob may see the figures of penguins.\n"
    listed = json.loads(run("figure", "list", "penguins", "--format", "json", key=added).stdout)
    versions_by_name = {each["figure"]: each["version"] for each in listed["figures"]}  # other tests publish too
    assert versions_by_name["species"] == 2
    assert json.loads(run("figure", "list", "--search", "none", "--format", "json", key=added).stdout)["figures"] == []
    assert "bob" in run("viewer", "list", "penguins").stdout
    may_see = json.loads(run("viewer", "grantees", "penguins", "--format", "json").stdout)["grantees"]
    may_spend = json.loads(run("allowance", "grantees", "penguins", "--format", "json").stdout)["grantees"]
    assert [each["role"] for each in may_see if each["name"] == "bob"] == ["viewer"]
    assert "bob" not in {each["name"] for each in may_spend}
    assert run("viewer", "grantees", "penguins", key=people.ada).exit_code == 4
    assert run("viewer", "show", "penguins", "bob").stdout.startswith("bob sees the figures of penguins since ")
    assert "<title>Share of Gentoo</title>" in run("figure", "feed", key=added).stdout
    versions = run("figure", "versions", *names, "--format", "json").stdout
    assert [each["version"] for each in json.loads(versions)["versions"]] == [1, 2]
    assert run("viewer", "revoke", "penguins", "bob").exit_code == 0
    assert run("figure", "withdraw", *names).stdout == "penguins/species is withdrawn.\n"
    assert run("figure", "show", *names).exit_code == 5


def test_the_answer_of_another_statistic_is_published_as_what_was_asked(run: Run, people: People) -> None:
    question = ("release", "penguins", "sum", "body_mass_g", "--epsilon", "0.1", "--format", "json")
    released = json.loads(run(*question, key=people.ada).stdout)["id"]
    words = ("figure", "publish", "penguins", "mean-mass", "--title", "Mean mass")
    mean = '{"kind": "mean", "column": "body_mass_g"}'
    published = run(*words, "--release", released, "--statistic", mean, key=people.ada)
    assert published.exit_code == 0, published.stderr
    rows = run("figure", "show", "penguins", "mean-mass", "--format", "csv").stdout.splitlines()
    assert [row.split(",")[0] for row in rows] == ["measure", "mean"]
    for options, told in (
        (("--release", released, "--statistic", "mean"), "must be an object in JSON"),
        (("--release", released, "--release", released, "--statistic", mean), "--statistic goes with one --release"),
        (("--statistic", mean), "give either --release or --derived"),
        (
            ("--release", released, "--statistic", '{"kind": "mean", "column": "bill_length_mm"}'),
            "must be one that this release answers",
        ),
    ):
        refused = run(*words, *options, key=people.ada)
        assert (refused.exit_code, told in refused.stderr) == (2, True), (options, refused.stderr)


def test_anybody_reads_what_is_public_with_the_address_alone(run: Run, people: People, tmp_path: Path) -> None:
    question = ("release", "penguins", "mean", "bill_length_mm", "--epsilon", "0.1", "--fresh", "--format", "json")
    release = json.loads(run(*question, key=people.ada).stdout)["id"]
    for name, options in (("open", ("--public",)), ("closed", ())):
        published = run("figure", "publish", "penguins", name, "--title", name, "--release", release, *options)
        assert published.exit_code == 0, published.stderr
        assert run("collection", "put", name, "penguins/open", "--title", name, *options).exit_code == 0

    def read(*words: str, **options: Any) -> Result:
        return run(*words, key=None, **options)

    listed = read("figure", "list", "--format", "json")
    assert listed.exit_code == 0, listed.stderr
    assert {each["figure"] for each in json.loads(listed.stdout)["figures"]} == {"open"}
    assert listed.stderr == "snapledger: only what is public is read, because no key for this service is set\n"
    for words, told in (
        (("figure", "list", "penguins"), "open"),
        (("figure", "show", "penguins", "open"), "open (version 1"),
        (("figure", "versions", "penguins", "open"), "open"),
        (("figure", "feed"), "<title>open</title>"),
        (("collection", "list"), "open"),
        (("collection", "show", "open"), "penguins"),
    ):
        shown = read(*words)
        assert (shown.exit_code, told in shown.stdout) == (0, True), (words, shown.stderr)
    for words in (("figure", "show", "penguins", "closed"), ("collection", "show", "closed")):
        refused = read(*words)
        assert (refused.exit_code, "Not found, or not public. Run" in refused.stderr) == (4, True), words
    for words in (("figure", "reader"), ("figure", "withdraw", "penguins", "open"), ("viewer", "list", "penguins")):
        refused = read(*words)
        assert (refused.exit_code, "snapledger login" in refused.stderr) == (4, True), words
    assert read("figure", "list", url=None).exit_code == 4
    assert read("figure", "list", url="not-an-address").exit_code == 2
    stored = tmp_path / "config" / "snapledger" / "credentials.json"
    stored.parent.mkdir(parents=True)
    stored.write_text(json.dumps({"url": "http://127.0.0.1:9", "key": people.owner}))
    assert "only what is public" in read("figure", "list").stderr  # that key is for another service
    stored.write_text("{")
    assert read("figure", "list").exit_code == 4
    for words in (("figure", "withdraw", "penguins", "open"), ("figure", "withdraw", "penguins", "closed")):
        stored.unlink(missing_ok=True)
        assert run(*words).exit_code == 0


def test_a_change_on_the_command_line_is_of_the_state_that_was_read(run: Run, service: Service) -> None:
    name, _ = service.principal("analyst")
    only_new = ("allowance", "set", "penguins", name, "1", "--only-new")
    assert run(*only_new).exit_code == 0
    assert "It exists already" in run(*only_new).stderr
    tag = json.loads(run("allowance", "show", "penguins", name, "--format", "json").stdout)["etag"]
    changed = run("allowance", "set", "penguins", name, "2", "--if-match", tag)
    assert changed.exit_code == 0, changed.stderr
    bare = tag.strip('"')  # as a shell leaves it
    for words in (("allowance", "set", "penguins", name, "3"), ("allowance", "revoke", "penguins", name)):
        late = run(*words, "--if-match", bare)
        assert (late.exit_code, "read it again" in late.stderr) == (7, True), late.stderr
        assert run(*words, "--if-match", "").exit_code == 2
        assert run(*words, "--if-match", "ü").exit_code == 2
    limit = json.loads(run("dataset", "limit", "penguins", "--format", "json").stdout)
    more = ("dataset", "limit", "penguins", str(Decimal(limit["epsilon_limit"]) + 1), "--reason", "more rows")
    assert run("dataset", "limit", "penguins", "--if-match", limit["etag"]).exit_code == 2
    assert run(*more, "--if-match", limit["etag"]).exit_code == 0
    assert run(*more, "--if-match", limit["etag"]).exit_code == 7
    assert run("allowance", "revoke", "penguins", name, "--if-match", "*").exit_code == 0


def test_a_figure_on_the_command_line_is_changed_as_it_was_read(run: Run, people: People) -> None:
    question = ("release", "penguins", "mean", "bill_length_mm", "--epsilon", "0.1", "--format", "json")
    release = json.loads(run(*question, key=people.ada).stdout)["id"]
    names = ("penguins", "bill")
    publish = ("figure", "publish", *names, "--release", release, "--title")
    assert run(*publish, "Bill", "--only-new").exit_code == 0
    assert run(*publish, "Another", "--only-new").exit_code == 7
    tag = json.loads(run("figure", "show", *names, "--format", "json").stdout)["etag"]
    changed = run(*publish, "Bill length", "--if-match", tag)
    assert changed.stdout == "penguins/bill is published, version 2.\n", changed.stderr
    for words in ((*publish, "Too late"), ("figure", "withdraw", *names)):
        late = run(*words, "--if-match", tag.strip('"'))  # as a shell leaves it
        assert (late.exit_code, "read it again" in late.stderr) == (7, True), late.stderr
        assert run(*words, "--if-match", "").exit_code == 2
    shown = json.loads(run("figure", "show", *names, "--format", "json").stdout)
    assert (shown["title"], shown["version"]) == ("Bill length", 2)
    assert run("figure", "withdraw", *names, "--if-match", shown["etag"]).exit_code == 0
    assert run("figure", "show", *names).exit_code == 5


def test_an_operator_asks_how_the_service_is(run: Run, service: Service, people: People) -> None:
    assert run("status").stdout == f"{service.url} is ready.\n"
    assert run("status", "--alive").stdout == f"{service.url} is alive.\n"
    assert run("status", url="http://127.0.0.1:9").exit_code == 6
    assert "# TYPE snapledger" in run("metrics", key=people.admin).stdout
    assert run("metrics", key=people.ada).exit_code == 4
    assert run("connections").exit_code == 0
    assert run("connections", key=people.ada).exit_code == 4


def test_what_goes_with_the_database_does_not_go_with_a_service(run: Run) -> None:
    both = run("ledger", "verify", "penguins", "--dataset", "penguins")
    assert (both.exit_code, "not with a running service" in both.stderr) == (2, True)
    command = ("migrate-to", "postgresql://ledger:hush@127.0.0.1/new")
    with pytest.raises(ValueError, match="SNAPLEDGER_TARGET_URL") as refused:
        CliRunner().invoke(app, command, catch_exceptions=False)
    assert "hush" not in str(refused.value)


@pytest.mark.slow
def test_a_hundred_releases_by_commands_cost_a_hundred_debits(run: Run, service: Service, people: People) -> None:
    owner = service.client(people.owner)
    before = Decimal(owner.get("/v1/datasets/penguins/budget").json()["epsilon_spent"])
    question = ("release", "penguins", "mean", "body_mass_g", "--epsilon", str(EPSILON), "--fresh", "--format", "json")
    with losing_every_third_answer(service.url) as loss:
        ids = [json.loads(run(*question, key=people.ada, url=loss.url).stdout)["id"] for _ in range(RELEASES)]
    assert loss.dropped >= RELEASES // 3
    assert loss.seen == RELEASES + loss.dropped
    entries = owner.get("/v1/datasets/penguins/ledger", params={"limit": 1000}).json()["entries"]
    debits = {entry["release_id"] for entry in entries if entry["kind"] == "debit"}
    assert len(set(ids)) == RELEASES
    assert set(ids) <= debits
    after = Decimal(owner.get("/v1/datasets/penguins/budget").json()["epsilon_spent"])
    assert after - before == RELEASES * EPSILON


def test_a_collection_from_its_figures_to_its_end(run: Run, people: People, service: Service) -> None:
    released = run("release", "penguins", "mean", "body_mass_g", "--epsilon", "0.1", "--format", "json", key=people.ada)
    assert released.exit_code == 0, released.stderr
    release = json.loads(released.stdout)["id"]
    assert run("figure", "publish", "penguins", "mass", "--title", "Mass", "--release", release).exit_code == 0
    viewer, _ = service.principal("viewer")
    assert run("collection", "put", "board", "penguins", "--title", "Board").exit_code == 2
    only_new = ("collection", "put", "board", "penguins/mass", "--title", "Board", "--only-new")
    assert (run(*only_new).exit_code, run(*only_new).exit_code) == (0, 7)
    read = json.loads(run("collection", "show", "board", "--format", "json").stdout)["etag"]
    for words, printed in (
        (
            ("put", "board", "penguins/mass", "--title", "Board", "--note", "All.", "--if-match", read),
            "board shows penguins/mass.",
        ),
        (("show", "board"), "Board (viewers, by "),
        (("list", "--search", "boa"), "board "),
        (("grant", "board", viewer), f"{viewer} may see board."),
        (("viewers", "board"), viewer),
        (("viewer", "board", viewer), f"{viewer} sees board since "),
        (("revoke", "board", viewer), f"{viewer} no longer sees board as its viewer."),
        (("delete", "board", "--if-match", "*"), "board is deleted."),
    ):
        if words[0] == "delete":
            late = run("collection", "delete", "board", "--if-match", read)
            assert (late.exit_code, "read it again" in late.stderr) == (7, True), late.stderr

        done = run("collection", *words)
        assert (done.exit_code, printed in done.stdout) == (0, True), (words, done.stdout, done.stderr)
    assert run("collection", "show", "board").exit_code == 5
