"""What owners may say of an upload, and what they alone are told of it."""

import hashlib
import io
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from service_world import X_COLUMNS, Service, Table, a_name, serving

MEAN = {"kind": "mean", "column": "x"}
NUMBERS = b"x\n40\n60\n"


def registered(service: Service, content: bytes, **metadata: Any) -> tuple[httpx.Response, httpx.Client]:
    _, owner = service.principal("owner")
    named = {"name": a_name("table"), "epsilon_limit": "1000", "columns": X_COLUMNS}
    return service.upload(owner, named | metadata, content), owner


def test_the_owner_alone_sees_the_fingerprint(service: Service) -> None:
    """SHA-256 fingerprint in the owner's view: others could check a guess at a small table by it."""
    table = service.table(X_COLUMNS, NUMBERS)
    digest = hashlib.sha256(NUMBERS).hexdigest()
    for client in (table.owner, service.admin):
        assert client.get(table.path).json()["source"] == {"sha256": digest, "unit_column": None, "truncate": False}
    _, auditor = service.principal("auditor")
    for client in (table.analyst, auditor):
        listed = client.get("/v1/datasets", params={"limit": 1000})
        for answer in (client.get(table.path), listed):
            assert digest not in answer.text
    assert table.owner.delete(table.path).status_code == 204
    assert digest not in table.owner.get(table.path).text


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("declared", [True, False])
def test_the_delimiter_is_declared_or_told_from_the_header(one_service: Service, delimiter: str, declared) -> None:
    """CSV (delimiter declared or told from the header)."""
    lines = [["a,b", "x", "t;|"], ["1", "40", "a,b|c;d\te"], ["2", "60", "x"]]
    content = "\n".join(delimiter.join(f'"{cell}"' for cell in line) for line in lines).encode()
    columns = X_COLUMNS | {"t;|": {"kind": "category", "categories": ["x"]}, "a,b": X_COLUMNS["x"]}
    more = {"delimiter": delimiter} if declared else {}
    table = one_service.table(columns, content, limit="1000", allowance="1000", **more)
    answer = table.fresh(MEAN, epsilon=1000, alpha="1e-9")
    assert answer["value"] == pytest.approx(50, abs=answer["accuracy"]["radius"])


def test_a_declared_delimiter_is_the_only_one(one_service: Service) -> None:
    answer, _ = registered(one_service, b"x;y\n1;2\n3;4\n", delimiter=",")
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "column x")
    for wrong in ("", "::", "\n", '"', "x", None, 1):
        refused = registered(one_service, b"x\n1\n2\n", delimiter=wrong)[0]
        assert refused.status_code == (201 if wrong is None else 422)


def test_a_declared_format_is_read_and_stays_with_the_owner(service: Service) -> None:
    columns = {
        "größe": {"kind": "decimal", "scale": 1, "bounds": [0, 9_999], "symbols": ["€"]},
        "ja": {"kind": "boolean", "true_values": ["ja"], "false_values": ["nein"]},
    }
    content = "Preise;2026\rgröße;ja\r1.250,5 €;Ja\r-;nein\r".encode("cp1252")
    declared = {"encoding": "windows-1252", "decimal": ",", "thousands": ".", "header_row": 2}
    table = service.table(columns, content, null_values=["-"], format=declared)
    facts = table.owner.get(table.path).json()
    assert facts["columns"]["ja"]["true_values"] == ["ja"]
    assert facts["columns"]["größe"]["symbols"] == ["€"]
    assert facts["source"]["format"] == declared
    assert "source" not in table.analyst.get(table.path).json()


def test_what_describes_texts_is_refused_where_there_are_none(one_service: Service) -> None:
    parquet = io.BytesIO()
    pq.write_table(pa.table({"x": [1, 2]}), parquet)
    symbols = {"x": X_COLUMNS["x"] | {"symbols": ["€"]}}
    answer, owner = registered(one_service, parquet.getvalue(), format={"decimal": ","}, columns=symbols)
    assert [error["where"] for error in answer.json()["errors"]] == ["format", "column x"]
    source = {"connection": "lake", "table": "t"}
    for more in ({"columns": symbols}, {"format": {}, "columns": X_COLUMNS}):
        refused = owner.post("/v1/datasets", json={"name": "never", "epsilon_limit": 1, "source": source} | more)
        assert (refused.status_code, "file" in refused.json()["errors"][0]["what"]) == (422, True)


@pytest.mark.slow
def test_thousands_of_columns(one_service: Service) -> None:
    """CSV (… thousands of columns)."""
    names = [f"c{i}" for i in range(5000)]
    content = "\n".join([";".join(names), *(";".join(str((i + j) % 10) for i in range(5000)) for j in range(20))])
    columns = {name: {"kind": "integer", "bounds": [0, 9]} for name in names}
    table = one_service.table(columns, content, limit="1000", allowance="1000")
    answer = table.fresh({"kind": "mean", "column": "c4999"}, epsilon=1000, alpha="1e-9")
    assert answer["value"] == pytest.approx(4.5, abs=answer["accuracy"]["radius"])


def test_each_cause_is_told_once_with_its_first_lines(one_service: Service) -> None:
    content = b"x,y\n1,a\nb,2\n" + b"c,d\n" * 50 + b"1\n1\n"
    answer, _ = registered(one_service, content, columns=X_COLUMNS | {"y": X_COLUMNS["x"]})
    assert answer.status_code == 422
    assert answer.json()["errors"] == [
        {"where": "51 lines, column y", "what": "is not a number (the first are lines 2, 4 and 5)"},
        {"where": "51 lines, column x", "what": "is not a number (the first are lines 3, 4 and 5)"},
        {"where": "lines 54 and 55", "what": "has 1 fields where the header has 2"},
    ]


def test_people_not_rows(service: Service) -> None:
    """With `unit_column`, registration verifies that nobody has more than c rows, or keeps c of each."""
    content = b"who,x\n" + b"".join(b"p%d,%d\n" % (i % 40, i % 100) for i in range(100))
    _, owner = service.principal("owner")
    named = {
        "name": a_name("table"),
        "epsilon_limit": 1,
        "columns": X_COLUMNS,
        "unit_column": "who",
        "rows_per_unit": 2,
    }
    with service.unchanged():
        refused = service.upload(owner, named, content)
    assert refused.json()["errors"] == [
        {
            "where": "column who",
            "what": "20 units have more than 2 rows (`rows_per_unit`), and the largest has 3: "
            "raise `rows_per_unit`, or set `truncate`",
        }
    ]
    made, owner = registered(service, content, unit_column="who", rows_per_unit=3)
    assert (made.status_code, made.json()["n"]) == (201, 100)
    cut, owner = registered(service, content, unit_column="who", rows_per_unit=2, truncate=True)
    assert (cut.status_code, cut.json()["n"], cut.json()["rows_per_unit"]) == (201, 80, 2)
    assert (cut.json()["source"]["unit_column"], cut.json()["source"]["truncate"]) == ("who", True)
    assert "who" not in owner.get(f"/v1/datasets/{cut.json()['name']}").json()["columns"]


@pytest.mark.parametrize("more", [{"truncate": True}, {"unit_column": ""}, {"unit_column": "nowhere"}, {"truncate": 1}])
def test_units_that_make_no_sense(one_service: Service, more: dict[str, Any]) -> None:
    assert registered(one_service, NUMBERS, **more)[0].status_code == 422


@pytest.mark.parametrize("drafted", [["bounds"], ["categories"], ["bounds", "categories"]])
def test_what_is_not_confirmed_is_refused(one_service: Service, drafted: list[str]) -> None:
    """Bounds and categories taken from the data leak it: a draft is refused until the owner has confirmed each."""
    columns = {"x": X_COLUMNS["x"] | {"unconfirmed": drafted}}
    answer, _ = registered(one_service, NUMBERS, columns=columns)
    assert (answer.status_code, answer.json()["errors"][0]["where"]) == (422, "columns.0.unconfirmed")
    confirmed, _ = registered(one_service, NUMBERS, columns={"x": X_COLUMNS["x"] | {"unconfirmed": []}})
    assert (confirmed.status_code, "unconfirmed" in confirmed.text) == (201, False)


@pytest.fixture
def restarted(tmp_path: Path) -> Any:
    database, key = f"sqlite:///{tmp_path}/ledger.sqlite3", secrets.token_urlsafe(32)

    @contextmanager
    def start() -> Iterator[Service]:
        with serving(tmp_path, database, ADMIN_KEY=key) as service:
            service.admin.headers["Authorization"] = f"Bearer {key}"
            yield service

    return start


@pytest.mark.slow
def test_a_restart_scans_nothing_that_is_known(restarted: Any) -> None:
    """Sums persisted beside the data, so that a restart or another process does not scan again."""
    wide = MEAN | {"bounds": [-1000, 1000]}
    with restarted() as service:
        table: Table = service.table(X_COLUMNS, b"x\n" + b"40\n60\n" * 500, limit="2000", allowance="2000")
        table.fresh(wide, epsilon=1)
        owner_key, analyst_key = (
            c.headers["Authorization"].removeprefix("Bearer ") for c in (table.owner, table.analyst)
        )
    (data,) = service.data.glob("*.parquet")
    assert len(list(service.data.glob("*.sums/*"))) == 1
    data.write_bytes(b"cannot be read any more")
    with restarted() as service:
        again = Table(
            service, table.name, table.owner_name, service.client(owner_key), "a", service.client(analyst_key)
        )
        for statistic in (wide, MEAN):  # one that was asked, and one that was prepared when the table was stored
            answer = again.fresh(statistic, epsilon=900, alpha="1e-9")
            assert answer["value"] == pytest.approx(50, abs=answer["accuracy"]["radius"])
        assert again.release({"kind": "variance", "column": "x", "bounds": [0, 999]}, epsilon=1).status_code == 503
        assert again.owner.delete(again.path).status_code == 204
        assert not [
            path for path in service.data.rglob("*") if path.suffix in {".parquet", ".prepared", ".json", ".sums"}
        ]
