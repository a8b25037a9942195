"""Figures: what an owner or an analyst publishes, everybody who may see it reads, in every form and at no cost."""

import csv
import io
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from service_world import Service, Table, key_of, pages
from sqlalchemy import insert, select, update

from app.db import tables
from app.db.database import Database
from snapledger_client import Client

COLUMNS = {
    "mass": {"kind": "integer", "bounds": [0, 100], "unit": "g", "nullable": False},
    "kind": {"kind": "category", "categories": ["=cat", "dog"], "nullable": False},
}
CONTENT = b"mass,kind\n" + b"".join(b"%d,%s\n" % (i % 101, [b"=cat", b"dog"][i % 2]) for i in range(200))
MEAN = {"kind": "mean", "column": "mass"}
BY_KIND = {"kind": "histogram", "column": "kind"}


@pytest.fixture
def table(service: Service) -> Table:
    return service.table(COLUMNS, CONTENT, limit="10", allowance="5")


def publish(table: Table, name: str = "mass", client: httpx.Client | None = None, **body: Any) -> httpx.Response:
    return (client or table.owner).put(f"{table.path}/figures/{name}", json={"title": "Mass", **body})


def read(table: Table, name: str = "mass", client: httpx.Client | None = None, **options: Any) -> httpx.Response:
    return (client or table.owner).get(f"{table.path}/figures/{name}", **options)


def assert_refused(found: httpx.Response, status: int, slug: str) -> None:
    assert (found.status_code, found.json()["type"]) == (status, f"/problems/{slug}"), found.text


def test_a_release_is_published_and_read_at_no_cost(table: Table) -> None:
    release = table.fresh(MEAN, epsilon="1")
    before = table.budget(), table.owner.get(f"{table.path}/ledger").json()
    published = publish(table, release=release["id"], note="All rows.")
    assert published.status_code == 201
    assert published.json() == {
        "dataset": table.name,
        "figure": "mass",
        "version": 1,
        "title": "Mass",
        "note": "All rows.",
        "source": {"releases": [release["id"]]},
        "published_by": table.owner_name,
        "published_at": published.json()["published_at"],
    }
    found = read(table)
    lower, upper = release["accuracy"]["interval"]
    row = {
        "measure": "mean",
        "columns": "mass",
        "group": None,
        "label": "mean",
        "lower_edge": None,
        "upper_edge": None,
        "value": release["value_in_range"],
        "value_as_date": None,
        "interval_lower": lower,
        "interval_upper": upper,
        "interval_lower_as_date": None,
        "interval_upper_as_date": None,
        "conditions": "values outside 0 to 100 count as the nearer bound",
        "alpha": 0.05,
        "unit": "g",
        "epsilon": "1",
        "released_at": release["created_at"],
    }
    assert found.json() == published.json() | {"rows": [row]}
    assert (table.budget(), table.owner.get(f"{table.path}/ledger").json()) == before


def test_each_form_has_the_same_rows(table: Table) -> None:
    release = table.fresh(BY_KIND, epsilon="1")
    publish(table, release=release["id"])
    rows = read(table).json()["rows"]
    assert [row["label"] for row in rows] == ["=cat", "dog", "other"]
    assert [row["value"] for row in rows] == release["value_in_range"]
    text = read(table, "mass.csv")
    assert text.headers["Content-Type"] == "text/csv; charset=utf-8; header=present"
    read_back = list(csv.DictReader(io.StringIO(text.text)))
    assert [row["label"] for row in read_back] == ["'=cat", "dog", "other"]  # no spreadsheet takes it for a formula
    assert [float(row["value"]) for row in read_back] == release["value_in_range"]
    arrow = pa.ipc.open_stream(read(table, "mass.arrow").content).read_all()
    parquet = pq.read_table(io.BytesIO(read(table, headers={"Accept": "application/vnd.apache.parquet"}).content))
    assert arrow.to_pylist() == parquet.to_pylist()
    assert [(row["label"], row["value"]) for row in arrow.to_pylist()] == [(row["label"], row["value"]) for row in rows]
    assert read(table, headers={"Accept": "text/csv;q=0.5, application/json;q=0.4"}).text == text.text
    assert_refused(read(table, headers={"Accept": "image/png"}), 406, "not-acceptable")
    unlike = read(table, "mass.xlsx")
    assert_refused(unlike, 404, "not-found")
    assert "its suffix is .json, .csv, .arrow or .parquet" in unlike.json()["detail"]


def test_a_reader_who_has_a_figure_gets_304(table: Table) -> None:
    publish(table, release=table.fresh(MEAN, epsilon="1")["id"])
    first = read(table)
    tag, since = first.headers["ETag"], first.headers["Last-Modified"]
    assert first.headers["Cache-Control"] == "private, no-cache"
    again = read(table, headers={"If-None-Match": tag})
    assert (again.status_code, again.content, again.headers["ETag"]) == (304, b"", tag)
    assert read(table, headers={"If-None-Match": f'"other", W/{tag}'}).status_code == 304
    assert read(table, headers={"If-Modified-Since": since}).status_code == 304
    for nonsense in ("nonsense", f"1 Jan 2000 00:00:00 +{'9' * 20}"):
        assert read(table, headers={"If-Modified-Since": nonsense}).status_code == 200
    assert read(table, headers={"If-None-Match": '"other"', "If-Modified-Since": since}).status_code == 200
    assert read(table, "mass.csv").headers["ETag"] != tag
    publish(table, release=table.fresh(MEAN, epsilon="1")["id"])
    assert read(table, headers={"If-None-Match": tag}).status_code == 200


def test_a_figure_that_changed_twice_within_a_second_is_read_anew(service: Service, table: Table) -> None:
    """Last-Modified has whole seconds: whoever has the first of both versions has the same date as the second."""
    release = table.fresh(MEAN, epsilon="1")["id"]
    for title in ("Mass", "Mass of all"):
        publish(table, release=release, title=title)
    published_at = datetime.fromisoformat(read(table).json()["published_at"])
    since = read(table).headers["Last-Modified"]
    later = format_datetime(published_at + timedelta(seconds=1), usegmt=True)
    database, versions = Database(service.database_url), tables.figure_versions
    named = select(tables.datasets.c.id).where(tables.datasets.c.name == table.name).scalar_subquery()
    figure = select(tables.figures.c.id).where(tables.figures.c.dataset_id == named).scalar_subquery()
    for first_at, expected in ((published_at.replace(microsecond=0), 200), (datetime(2026, 1, 1, tzinfo=UTC), 304)):
        with database.write() as transaction:
            changed = update(versions).where(versions.c.figure_id == figure, versions.c.version == 1)
            transaction.change(changed.values(published_at=f"{first_at:%Y-%m-%dT%H:%M:%S.%f}Z"))
            transaction.commit()
        assert read(table, headers={"If-Modified-Since": since}).status_code == expected
        assert read(table, headers={"If-Modified-Since": later}).status_code == 304
    database.close()


def test_versions_stay_and_the_same_publication_makes_none(table: Table) -> None:
    first, second = table.fresh(MEAN, epsilon="1"), table.fresh(MEAN, epsilon="2")
    publish(table, release=first["id"])
    assert publish(table, release=first["id"]).json()["version"] == 1
    updated = publish(table, release=second["id"])
    assert (updated.status_code, updated.json()["version"]) == (200, 2)
    listed = table.owner.get(f"{table.path}/figures/mass/versions").json()["versions"]
    assert [each["version"] for each in listed] == [1, 2]
    assert read(table, "mass/versions/1").json()["rows"][0]["value"] == first["value_in_range"]
    assert read(table, "mass/versions/1.csv").text.count("\r\n") == 2
    assert read(table).json()["rows"][0]["value"] == second["value_in_range"]
    for missing in ("3", "0", "01", "x", "2147483648", "99999999999999999999"):
        assert_refused(read(table, f"mass/versions/{missing}"), 404, "not-found")


def test_a_derived_answer_is_published_only_once_it_is_released(table: Table) -> None:
    question = {"derived": {"kind": "mean", "column": "mass", "group_by": "kind"}, "epsilon": "1"}
    before = table.budget()
    assert_refused(publish(table, derived=question), 409, "not-released")
    assert table.budget() == before
    answer = table.analyst.post(f"{table.path}/derived", json=question).json()
    published = publish(table, derived=question)
    assert published.status_code == 201
    assert published.json()["source"] == {"derived": question}
    rows = read(table).json()["rows"]
    assert [row["value"] for row in rows] == answer["estimates"]["mean"]["value"]
    assert [row["group"] for row in rows] == ["=cat", "dog", "other"]
    assert {row["unit"] for row in rows} == {"g"}
    assert {row["epsilon"] for row in rows} == {"1"}


def test_the_request_of_a_derived_answer_keeps_its_digits(table: Table) -> None:
    body = b'{"derived":{"bounds":[0,99.99999999999999999],"column":"mass","kind":"sum"},"epsilon":1}'
    headers = {"Content-Type": "application/json"}
    released = table.analyst.post(f"{table.path}/derived", content=body, headers=headers)
    assert released.status_code == 201, released.text
    put = b'{"title":"Mass","derived":' + body + b"}"
    published = table.analyst.put(f"{table.path}/figures/mass", content=put, headers=headers)
    assert published.status_code == 201, published.text
    for shown in (published, read(table), table.owner.get(f"{table.path}/figures")):
        assert b'"source":{"derived":' + body + b"}" in shown.content


def test_the_cost_is_what_was_paid_and_not_what_is_asked(table: Table) -> None:
    derived = {"kind": "standard_deviation", "column": "mass"}
    table.analyst.post(f"{table.path}/derived", json={"derived": derived, "epsilon": "2"})
    publish(table, derived={"derived": derived, "epsilon": "0.1"})
    assert read(table).json()["rows"][0]["epsilon"] == "2"


def test_what_every_list_repeats_of_a_figure_is_short(table: Table) -> None:
    edges = [f"{edge:040}.{0:040}" for edge in range(101)]
    body = {"derived": {"kind": "cumulative", "column": "mass", "edges": edges}, "epsilon": "1"}
    assert table.analyst.post(f"{table.path}/derived", json=body).status_code == 201
    assert_refused(publish(table, derived=body), 422, "invalid-request")
    shorter = body | {"derived": {"kind": "cumulative", "column": "mass", "edges": list(range(101))}}
    assert publish(table, derived=shorter).status_code == 201


def test_a_rehearsal_is_never_published(table: Table) -> None:
    body = {"derived": {"kind": "sum", "column": "mass"}, "epsilon": "1", "rehearse": True}
    rehearsed = table.analyst.post(f"{table.path}/derived", json=body).json()
    assert_refused(publish(table, derived=body), 422, "invalid-request")
    assert_refused(publish(table, release=rehearsed["components"][0]["release_id"]), 422, "invalid-request")


def test_a_batch_is_published_by_its_releases(table: Table) -> None:
    items = [{"statistic": each, "epsilon": "1"} for each in (MEAN, BY_KIND)]
    batch = table.analyst.post(f"{table.path}/batches", json={"items": items}).json()
    publish(table, releases=[item["id"] for item in batch["items"]])
    rows = read(table).json()["rows"]
    assert [row["measure"] for row in rows] == ["mean", "count", "count", "count"]


def test_only_those_who_may_publish_do(service: Service, table: Table) -> None:
    release = table.fresh(MEAN, epsilon="1")["id"]
    assert publish(table, client=table.analyst, release=release).status_code == 201
    assert publish(table, release=release, title="By the owner").status_code == 200
    assert_refused(publish(table, client=table.analyst, release=release), 403, "forbidden")
    public = {"audience": "public", "confirm_public": True}
    assert_refused(publish(table, "other", client=table.analyst, release=release, **public), 403, "forbidden")
    assert_refused(publish(table, "other", release=release, audience="public"), 422, "invalid-request")
    _, auditor = service.principal("auditor")
    assert_refused(publish(table, "other", client=auditor, release=release), 403, "forbidden")
    _, stranger = service.principal("analyst")
    assert_refused(publish(table, "other", client=stranger, release=release), 404, "not-found")
    elsewhere = service.table(COLUMNS, CONTENT, limit="10", allowance="5").fresh(MEAN, epsilon="1")["id"]
    for wrong in ({"release": elsewhere}, {"releases": []}, {}, {"release": release, "releases": [release]}):
        assert_refused(publish(table, "other", **wrong), 422, "invalid-request")
    unlike = publish(table, "other", releases=[release, "mass"])
    assert_refused(unlike, 422, "invalid-request")
    lists = "must be the id of a release: `GET …/releases` and `snapledger releases` list them"
    assert unlike.json()["errors"] == [{"where": "releases.1", "what": lists}]
    assert_refused(publish(table, "No-Name", release=release), 404, "not-found")


def test_a_withdrawn_figure_is_gone_until_it_is_published_again(service: Service, table: Table) -> None:
    release = table.fresh(MEAN, epsilon="1")["id"]
    publish(table, release=release)
    gone = table.owner.delete(f"{table.path}/figures/mass")
    assert gone.status_code == 204
    for address in ("mass", "mass.csv", "mass/versions", "mass/versions/1"):
        assert_refused(read(table, address), 404, "not-found")
    assert table.owner.get(f"{table.path}/figures").json()["figures"] == []
    assert_refused(table.owner.delete(f"{table.path}/figures/mass"), 404, "not-found")
    assert publish(table, release=release).json()["version"] == 2
    assert read(table).status_code == 200
    records = [each for page in pages(service.admin, "/v1/audit", 1000) for each in page]
    acts = [each["action"] for each in records if each["target"] == f"datasets/{table.name}/figures/mass"]
    assert acts == ["figure.publish", "figure.withdraw", "figure.publish"]


def test_a_figure_shows_what_was_asked_though_another_release_answered(table: Table) -> None:
    total = table.fresh({"kind": "sum", "column": "mass"}, epsilon="1")
    mean = table.release(MEAN, epsilon="0.5").json()
    assert (mean["id"], mean["reused"]) == (total["id"], True)
    before = table.budget()
    published = publish(table, release=mean["id"], statistic=MEAN)
    assert published.json()["source"] == {"releases": [total["id"]], "statistic": MEAN}
    assert publish(table, **published.json()["source"]).json() == published.json()  # as the dashboard sends it again
    (row,) = read(table).json()["rows"]
    assert (row["measure"], row["value"], row["epsilon"]) == ("mean", mean["value_in_range"], "1")
    assert [row["interval_lower"], row["interval_upper"]] == mean["accuracy"]["interval"]
    assert table.budget() == before
    counts = table.fresh(BY_KIND, epsilon="1")
    dogs = {"kind": "count", "where": {"kind": {"in": ["dog"]}}}
    publish(table, "dogs", release=counts["id"], statistic=dogs)
    assert [(each["measure"], each["value"]) for each in read(table, "dogs").json()["rows"]] == [
        ("count", counts["value_in_range"][1])
    ]
    for wrong in ({"kind": "mean", "column": "kind"}, {"kind": "variance", "column": "mass"}):
        assert_refused(publish(table, release=total["id"], statistic=wrong), 422, "invalid-request")
    assert_refused(publish(table, releases=[total["id"]] * 2, statistic=MEAN), 422, "invalid-request")


YOUNG, OLD = ({"kind": "count", "where": {"mass": {name: 50}}} for name in ("below", "at_least"))


def test_answers_of_a_figure_are_shown_as_they_were_given(table: Table) -> None:
    """Of two counts that make up all rows, the first answers the second; a sum answers a mean, at any α."""
    old = table.fresh(OLD, epsilon="1")
    total = table.fresh({"kind": "sum", "column": "mass"}, epsilon="1", alpha=0.01)
    given = [table.release(YOUNG, epsilon="0.5").json(), table.release(MEAN, epsilon="0.5", alpha=0.2).json()]
    assert [each["id"] for each in given] == [old["id"], total["id"]]
    answers = [
        {"release": each["id"], "statistic": each["statistic"], "alpha": each["accuracy"]["alpha"]} for each in given
    ]
    plain = {"release": total["id"]}
    published = publish(table, answers=[*answers, plain, plain])
    assert published.status_code == 201, published.text
    source = published.json()["source"]
    assert source == {"releases": [old["id"], total["id"]], "answers": [*answers, plain, plain]}
    assert publish(table, answers=source["answers"]).json() == published.json()
    rows = read(table).json()["rows"]
    assert [each["measure"] for each in rows] == ["count", "mean", "sum"]
    assert [each["value"] for each in rows] == [each["value_in_range"] for each in (*given, total)]
    assert [each["alpha"] for each in rows] == [0.05, 0.2, 0.01]
    for row, each in zip(rows, (*given, total), strict=True):
        assert [row["interval_lower"], row["interval_upper"]] == each["accuracy"]["interval"]
    for wrong, where in (
        ([{"release": total["id"], "statistic": YOUNG}], "answers.0.statistic"),
        ([plain, {"release": "01a2291a-c7c5-745f-8ac7-155385bc7967"}], "answers.1.release"),
        ([{"release": total["id"], "alpha": 0.1}], "answers.0"),
        ([], "answers"),
    ):
        refused = publish(table, answers=wrong)
        assert_refused(refused, 422, "invalid-request")
        assert refused.json()["errors"][0]["where"] == where
    assert_refused(publish(table, answers=[plain], release=total["id"]), 422, "invalid-request")


def test_a_source_that_would_be_long_tells_the_releases_alone(table: Table) -> None:
    """Lists repeat the source: of a statistic with thousands of edges it does not tell all of them."""
    bins = {"kind": "histogram", "column": "mass", "edges": [n / 100 for n in range(2_001)]}
    made = table.fresh(bins, epsilon="1")
    published = publish(table, answers=[{"release": made["id"], "statistic": made["statistic"], "alpha": 0.2}])
    assert published.status_code == 201, published.text
    assert published.json()["source"] == {"releases": [made["id"]]}
    rows = read(table).json()["rows"]
    assert (len(rows), rows[0]["alpha"]) == (len(made["value"]), 0.2)


def test_the_client_publishes_answers_as_they_were_given(table: Table) -> None:
    with Client(table.service.url, key_of(table.analyst)) as client:
        dataset = client.dataset(table.name)
        old = dataset.count(OLD["where"], epsilon=1)
        young = dataset.count(YOUNG["where"], epsilon="0.5")
        assert (young.id, young.reused) == (old.id, True)
        dataset.publish("young", "Below 50", releases=young)
        assert dataset.figure("young").rows[0]["value"] == young.value_in_range
        dataset.publish("both", "Both", releases=[old, young])
        assert [row["value"] for row in dataset.figure("both").rows] == [old.value_in_range, young.value_in_range]
        assert dataset.figure("both").source["answers"][0] == {"release": old.id}
        dataset.publish("as-released", "From 50", releases=young.id)
        assert dataset.figure("as-released").rows[0]["value"] == old.value_in_range


@pytest.mark.parametrize("service", ["sqlite"], indirect=True)
def test_nobody_uses_up_the_figures_of_others(service: Service, table: Table) -> None:
    """Of 1,000 figures that an analyst has withdrawn, 999 are copies of the first one's rows."""
    release = table.fresh(MEAN, epsilon="1")["id"]
    assert publish(table, "mine", table.analyst, release=release).status_code == 201
    assert table.analyst.delete(f"{table.path}/figures/mine").status_code == 204
    database = Database(service.database_url)
    with database.write() as transaction:
        connection = transaction.connection
        (figure,) = connection.execute(select(tables.figures).where(tables.figures.c.dataset == table.name))
        of_figure = select(tables.figure_versions).where(tables.figure_versions.c.figure_id == figure.id)
        (version,) = connection.execute(of_figure)
        for copied, row, key in ((tables.figures, figure, "id"), (tables.figure_versions, version, "figure_id")):
            values = dict(row._mapping)
            copies = [values | {key: values[key] + 10**6 + n} for n in range(999)]
            named = [each | {"name": f"m{n}"} for n, each in enumerate(copies)]
            connection.execute(insert(copied), named if key == "id" else copies)
        transaction.commit()
    database.close()
    refused = publish(table, "more", table.analyst, release=release)
    assert_refused(refused, 422, "invalid-request")
    assert "with those that are withdrawn: publish it under the name of one of these" in str(refused.json()["errors"])
    assert publish(table, "mine", table.analyst, release=release).status_code == 201
    assert publish(table, "owners", release=release).status_code == 201
