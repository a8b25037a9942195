"""`POST /v1/drafts`: what an owner could declare of a table, made of its values, and kept nowhere."""

import csv
import io
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import pytest
from command_line import run
from service_world import Service, a_name, numbers_csv
from workbooks import workbook

PENGUINS = files("app.demo") / "penguins.csv"
DRAFTS = "/v1/drafts"


def draft(service: Service, client: httpx.Client, content: bytes, **known: Any) -> httpx.Response:
    return service.upload(client, known, content, "t.csv", DRAFTS)


def confirm(metadata: dict[str, Any]) -> dict[str, Any]:
    """The metadata as its owner would send it who knew all of it without the data."""
    columns = {name: {**column, "unconfirmed": []} for name, column in metadata["columns"].items()}
    return metadata | {"columns": columns, "name": a_name("drafted")}


def test_a_draft_is_what_the_command_writes_and_leaves_nothing(one_service: Service, tmp_path: Path) -> None:
    path, service = tmp_path / "Penguins 2026.csv", one_service
    path.write_bytes(PENGUINS.read_bytes())
    written = run("dataset", "suggest", str(path))
    assert written.status == 0, written.err
    _, owner = service.principal("owner")
    draft(service, owner, b"x\n1\n2\n")  # so that what is started once and kept is there
    with service.unchanged():
        answer = service.upload(owner, {}, path.read_bytes(), path.name, DRAFTS)
    assert answer.status_code == 200, answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert answer.json() == {"metadata": json.loads(written.out), "left_out": []}
    metadata = answer.json()["metadata"]
    assert metadata["name"] == "penguins-2026"
    assert metadata["columns"]["body_mass_g"] == {
        "kind": "integer",
        "bounds": ["2700", "6300"],
        "unconfirmed": ["bounds"],
    }
    log = service.log.read_text()
    assert not [text for text in ("Torgersen", '"2700"', "body_mass_g", "Penguins 2026") if text in log]
    refused = service.upload(owner, metadata, path.read_bytes())
    assert (refused.status_code, refused.json()["type"]) == (422, "/problems/invalid-request")
    made = service.upload(owner, confirm(metadata), path.read_bytes())
    assert made.status_code == 201, made.text


def test_what_a_file_does_not_show_is_declared(one_service: Service) -> None:
    _, owner = one_service.principal("owner")
    dates = b"Export of today\nd;x\n01/02/2024;1,5\n02/03/2024;2,5\n"
    known = {"header_row": 2, "date_order": "day-month-year"}
    drafted = draft(one_service, owner, dates, format=known).json()
    assert drafted["metadata"]["columns"]["d"]["bounds"] == ["2024-02-01", "2024-03-02"]
    assert drafted["metadata"]["format"] == {"decimal": ","} | known
    (left_out,) = draft(one_service, owner, dates, format={"header_row": 2}).json()["left_out"]
    assert left_out["column"] == "d"
    assert "date_order" in left_out["reason"]
    headless = draft(one_service, owner, b"1,a\n2,b\n3,b\n", has_header=False).json()["metadata"]
    assert headless["format"] == {"column_names": ["column_1", "column_2"]}
    named = draft(one_service, owner, b"1,2\n2,3\n3,4\n")
    assert (named.status_code, "has_header" in named.text) == (422, True)
    book = workbook({"S": [["x"], [1], [2]], "T": [["y"], [3], [4]]})
    assert "sheet" in draft(one_service, owner, book).json()["errors"][0]["what"]
    assert [*draft(one_service, owner, book, format={"sheet": "T"}).json()["metadata"]["columns"]] == ["y"]


def test_a_file_that_can_not_be_drafted_is_a_problem_without_its_values(one_service: Service) -> None:
    _, owner = one_service.principal("owner")
    for content in (b"", b"x\n1,secret\n2\n", b"PAR1secret"):
        answer = draft(one_service, owner, content)
        assert (answer.status_code, answer.json()["type"]) == (422, "/problems/invalid-request"), content
        assert "secret" not in answer.text
    contradiction = draft(one_service, owner, b"x\n1\n", has_header=False, format={"header_row": 1})
    assert (contradiction.status_code, contradiction.json()["errors"][0]["where"]) == (422, "body")
    for body in ({"decimal": ","}, {"format": {"decimal": ","}}, {"format": {"sheet": 0}}):
        assert draft(one_service, owner, b"x\n1\n2\n", **body).status_code == 422


def test_a_table_of_names_and_remarks_has_a_draft_without_columns(one_service: Service) -> None:
    _, owner = one_service.principal("owner")
    answer = draft(one_service, owner, b"name\n" + b"".join(b"person %d\n" % i for i in range(200)))
    assert (answer.status_code, answer.json()["metadata"]["columns"]) == (200, {})
    assert answer.json()["left_out"] == [{"column": "name", "reason": "looks like names, remarks, times or a constant"}]


def test_a_wide_table_has_a_draft_that_can_be_registered(one_service: Service) -> None:
    """At most 1 MiB: the columns with the longest lists of categories are left out, with the reason."""
    _, owner = one_service.principal("owner")
    header = [*(f"n{i}" for i in range(500)), *(f"t{i}" for i in range(120))]
    rows = [[*(str(row + i) for i in range(500)), *(f"{row:03d}" + "x" * 200 for _ in range(120))] for row in range(90)]
    text = io.StringIO()
    csv.writer(text).writerows([header, *rows])
    answer = draft(one_service, owner, text.getvalue().encode())
    assert answer.status_code == 200, answer.text
    assert len(answer.content) < 2**20
    document = answer.json()
    assert {one["reason"] for one in document["left_out"]} == {"would make the draft longer than a registration may be"}
    assert 0 < len(document["left_out"]) < 120
    assert {*document["metadata"]["columns"], *(one["column"] for one in document["left_out"])} == {*header}
    made = one_service.upload(owner, confirm(document["metadata"]), text.getvalue().encode())
    assert made.status_code == 201, made.text


def test_only_owners_and_admins_have_drafts(service: Service) -> None:
    """401, then 403, then errors in the body; nothing of the body is read before."""
    for role in ("analyst", "auditor"):
        _, client = service.principal(role)
        assert draft(service, client, numbers_csv(3).encode(), wrong=1).status_code == 403
        assert client.get("/v1/connections").status_code == 403
    assert draft(service, service.stranger, b"x\n1\n").status_code == 401
    _, owner = service.principal("owner")
    assert owner.get("/v1/connections").json() == {"connections": []}
    answer = owner.post(DRAFTS, json={"source": {"connection": "nowhere", "table": "t"}})
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "source.connection")


@pytest.mark.parametrize("headers", [{"Content-Type": "text/csv"}, {"Content-Type": "multipart/form-data"}])
def test_other_bodies_are_refused(one_service: Service, headers: dict[str, str]) -> None:
    _, owner = one_service.principal("owner")
    assert owner.post(DRAFTS, content=b"x\n1\n", headers=headers).status_code in {415, 422}
