"""Tables by upload: what a file holds is what is counted."""

import io
import json
from collections.abc import Callable
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from service_world import X_COLUMNS, Service, Table, a_name

from app.engines.stored_columns import encode_name

ALMOST_SURELY = {"epsilon": 1000, "alpha": "1e-9"}


def mean_of(table: Table, column: str, **members: Any) -> Any:
    """The mean of a column, to within a radius that is missed once in 10⁹ times."""
    answer = table.fresh({"kind": "mean", "column": column, **members}, **ALMOST_SURELY)
    return pytest.approx(answer["value"], abs=answer["accuracy"]["radius"] + answer["accuracy"]["resolution"])


def counts_of(table: Table, column: str, **members: Any) -> dict[str, int]:
    answer = table.fresh({"kind": "histogram", "column": column, **members}, **ALMOST_SURELY)
    return {one["label"]: round(value) for one, value in zip(answer["bins"], answer["value"], strict=True)}


@pytest.fixture
def register(one_service: Service) -> Callable[..., httpx.Response]:
    """Uploads as an owner that is there already."""
    _, owner = one_service.principal("owner")

    def upload(columns: dict[str, Any], content: bytes, **members: Any) -> httpx.Response:
        metadata = {"name": a_name("table"), "epsilon_limit": 1, "columns": columns, **members}
        return one_service.upload(owner, metadata, content)

    return upload


def parquet(**columns: pa.Array) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.table(columns), file)
    return file.getvalue()


def test_a_registration_answers_with_what_get_returns(service: Service) -> None:
    """201 with what `GET` returns: name, description, n, columns as declared, neighbours, rows_per_unit, created_at,
    state."""
    name, (_, owner) = a_name("table"), service.principal("owner")
    columns = {
        "whole": {"kind": "integer", "bounds": [-5, "1e3"], "null_value": 7},
        "real": {"kind": "real", "bounds": ["0.1", 0.25], "nullable": False, "unit": "€", "label": "Price"},
        "exact": {"kind": "decimal", "scale": 2, "bounds": ["-0.05", 1]},
        "yes": {"kind": "boolean", "null_value": True},
        "kind": {
            "kind": "category",
            "categories": ["b", "", "a"],
            "category_labels": {"b": "Big"},
            "description": "As told.",
        },
    }
    metadata = {
        "name": name,
        "description": "Of\nlines: „é“",
        "epsilon_limit": 1,
        "rows_per_unit": 2,
        "columns": columns,
    }
    made = service.upload(owner, metadata, b"whole,real,exact,yes,kind\n1,0.2,0.50,1,a\n2,0.2,0.50,0,b\n")
    assert made.status_code == 201
    document = made.json()
    none = {"missing": 0, "clamped_low": 0, "clamped_high": 0}
    assert document.pop("report") == {
        "rows": 2,
        "columns": {
            "whole": none,
            "real": none,
            "exact": none,
            "yes": {"missing": 0},
            "kind": {"missing": 0, "undeclared": 0},
        },
        "advice": [],
    }
    assert document == owner.get(f"/v1/datasets/{name}").json() | {"created_at": document["created_at"]}
    assert document["columns"] == {
        "whole": {"kind": "integer", "bounds": [-5, 1000], "nullable": True, "null_value": 7},
        "real": {"kind": "real", "bounds": [0.1, 0.25], "nullable": False, "unit": "€", "label": "Price"},
        "exact": {"kind": "decimal", "scale": 2, "bounds": [-0.05, 1], "nullable": True},
        "yes": {"kind": "boolean", "nullable": True, "null_value": True},
        "kind": columns["kind"] | {"nullable": True},
    }
    path, (analyst_name, analyst) = f"/v1/datasets/{name}", service.principal("analyst")
    owner.put(f"{path}/allowances/{analyst_name}", json={"epsilon_limit": "1"}).raise_for_status()
    for kind, unit in (("mean", "€"), ("sum", "€"), ("variance", "€²")):
        plan = {"statistic": {"kind": kind, "column": "real"}, "epsilon": "1"}
        planned = analyst.post(f"{path}/plan", json=plan).json()
        assert f" {unit} of the truth" in planned["summary"]
        assert (planned["unit"], planned["columns"]) == (unit, {"real": {"unit": "€", "label": "Price"}})
    spread = {"derived": {"kind": "standard_deviation", "column": "real"}, "epsilon": "1"}
    planned, known = (analyst.post(f"{path}/derived{part}", json=spread).json() for part in ("/plan", ""))
    assert " €, whatever the data" in planned["summary"]
    for answer in (planned, known):
        assert answer["units"] == {"standard_deviation": "€"}
        assert answer["columns"] == {"real": {"unit": "€", "label": "Price"}}
    shares = {"statistic": {"kind": "histogram", "column": "kind"}, "epsilon": "1"}
    released = analyst.post(f"{path}/plan", json=shares).json()
    assert (released.get("unit"), released["columns"]) == (None, {"kind": {"category_labels": {"b": "Big"}}})
    assert (document["n"], document["rows_per_unit"], document["neighbours"]) == (2, 2, "replace_one")
    assert (document["description"], document["state"]) == ("Of\nlines: „é“", "open")


def test_csv_and_parquet_are_told_apart_by_content(one_service: Service) -> None:
    """`file` (CSV or Parquet, told apart by content)."""
    rows = [3, 7, None, 100]
    for content in (b"x\n3\n7\nNA\n100\n", parquet(x=pa.array(rows)), parquet(x=pa.array(rows, pa.float32()))):
        assert mean_of(one_service.table(X_COLUMNS, content, limit="1000", allowance="1000"), "x") == 40


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfx,t\n40,a\n60,b\n",
        b"x,t\r\n40,a\r\n60,b\r\n",
        b"x,t\n40,a\n60,b",
        b'"x","t"\n"40","a"\n"60","b"\n',
        b't,x\n"over\ntwo ""lines""",40\n"a,b",60\n',
        b"x,t\n40.0,a\n6e1,b\n",
        b"x,t\n+40,a\n0060,b\n",
        "x,t\n40,gr\u00fcn\n60,\u202eright to left\n".encode(),
        b"a,b,c,x\n1,2,3,40\n4,5,6,60\n",
    ],
)
def test_what_is_a_csv(one_service: Service, content: bytes) -> None:
    """CSV: UTF-8, optional BOM, LF or CRLF, RFC 4180; `3750.0` is an integer."""
    assert mean_of(one_service.table(X_COLUMNS, content, limit="1000", allowance="1000"), "x") == 50


def test_booleans_are_in_any_case(one_service: Service) -> None:
    """Booleans are true/false/1/0 in any case."""
    content = "yes\ntrue\nTRUE\nTrue\n1\nfalse\nFALSE\n0\nNA\n"
    table = one_service.table({"yes": {"kind": "boolean"}}, content, limit="2000", allowance="2000")
    assert counts_of(table, "yes") == {"false": 3, "true": 4, "missing": 1}
    assert mean_of(table, "yes") == 0.5


def test_a_null_counts_as_the_declared_constant(one_service: Service) -> None:
    """`null_value`: default the middle of the bounds in use; false for booleans."""
    columns = {
        "plain": {"kind": "integer", "bounds": [0, 100]},
        "declared": {"kind": "real", "bounds": [0, 100], "null_value": 80},
        "no": {"kind": "boolean"},
        "yes": {"kind": "boolean", "null_value": True},
    }
    content = "plain,declared,no,yes\n" + "NA,NaN,,null\n" * 10
    table = one_service.table(columns, content, limit="10000", allowance="10000")
    assert mean_of(table, "plain") == 50
    assert mean_of(table, "plain", bounds=[10, 30]) == 20
    assert mean_of(table, "declared") == 80
    assert mean_of(table, "declared", bounds=[10, 30]) == 30
    assert mean_of(table, "no") == 0
    assert mean_of(table, "yes") == 1


def test_only_the_owner_is_told_how_the_declaration_fits_and_only_once(service: Service) -> None:
    """Of two tables with the same public facts, every answer but the one to the registration is the same."""
    name, (_, owner) = "fit", service.principal("owner")
    columns = {
        "income": {"kind": "real", "bounds": [0, 100]},
        "debt": {"kind": "decimal", "scale": 1, "bounds": ["0.5", 10]},
        "age": {"kind": "integer", "bounds": [0, 120]},
        "moved": {"kind": "date", "bounds": ["2020-01-01", "2020-12-31"]},
        "region": {"kind": "category", "categories": ["north", "south"]},
    }
    odd = [f"{'NaN' if i < 4 else 50},{'10.1' if i % 2 else 0.4},121,2019-01-01,west" for i in range(10)]
    answers = []
    for i, rows in enumerate((odd, ["50,1,40,2020-05-05,north"] * 10)):
        metadata = {"name": f"{name}-{i}", "epsilon_limit": 1, "columns": columns}
        content = "\n".join(["income,debt,age,moved,region", *rows, ""]).encode()
        made = service.upload(owner, metadata, content)
        assert made.status_code == 201, made.text
        report = made.json()["report"]
        path, (analyst_name, analyst) = f"/v1/datasets/{name}-{i}", service.principal("analyst")
        owner.put(f"{path}/allowances/{analyst_name}", json={"epsilon_limit": "1"}).raise_for_status()
        plan = {"statistic": {"kind": "mean", "column": "income"}, "epsilon": "1"}
        seen = [
            analyst.get(path).json(),
            owner.get(path).json(),
            analyst.get(f"{path}/budget").json(),
            analyst.post(f"{path}/plan", json=plan).json(),
            owner.get(f"{path}/ledger").json(),
        ]
        assert "report" not in json.dumps(seen)
        for member in ("name", "dataset", "created_at", "source"):
            for each in seen:
                each.pop(member, None)
        answers.append((report, seen[0], seen[3]))
    assert answers[0][1:] == answers[1][1:]
    assert answers[0][0]["columns"] == {
        "income": {"missing": 4, "clamped_low": 0, "clamped_high": 0},
        "debt": {"missing": 0, "clamped_low": 5, "clamped_high": 5},
        "age": {"missing": 0, "clamped_low": 0, "clamped_high": 10},
        "moved": {"missing": 0, "clamped_low": 10, "clamped_high": 0},
        "region": {"missing": 0, "undeclared": 10},
    }
    assert [advice.partition(" rows")[0] for advice in answers[0][0]["advice"]] == [
        "income: 4 of 10",
        "debt: 5 of 10",
        "debt: 5 of 10",
        "age: 10 of 10",
        "moved: 10 of 10",
        "region: 10 of 10",
    ]
    assert answers[1][0]["advice"] == []
    assert "of 10 rows" not in service.log.read_text()


def test_the_owner_is_told_what_missing_values_count_as(service: Service) -> None:
    _, owner = service.principal("owner")
    columns = {
        "bmi": {"kind": "real", "bounds": [12, 60]},
        "debt": {"kind": "integer", "bounds": [0, 9000], "null_value": 4000},
        "yes": {"kind": "boolean"},
        "born": {"kind": "date", "bounds": ["2020-01-01", "2020-01-03"]},
        "region": {"kind": "category", "categories": ["north"]},
    }
    made = service.upload(
        owner, {"name": "gaps", "epsilon_limit": 1, "columns": columns}, b"bmi,debt,yes,born,region\n" + b",,,,\n" * 9
    )
    in_means, leave_out = "in means and sums", "Tell the analysts, who can leave them out."
    assert made.json()["report"]["advice"] == [
        f"{told} {leave_out}" if in_means in told else told
        for told in (
            f"bmi: 9 of 9 rows have no value, and count as 36, the middle of the bounds, {in_means}.",
            f"debt: 9 of 9 rows have no value, and count as 4,000 {in_means}.",
            f"yes: 9 of 9 rows have no value, and count as false {in_means}.",
            f"born: 9 of 9 rows have no value, and count as 2020-01-02, the middle of the bounds, {in_means}.",
            "region: 9 of 9 rows have no value, and are in the bin `missing`. Tell the analysts.",
        )
    ]


def test_nullable_is_declared(one_service: Service, register) -> None:
    """`nullable` is declared, default true; false makes a null a 422 for the owner and removes the bin `missing`."""
    columns = {"t": {"kind": "category", "categories": ["a"], "nullable": False}}
    refused = register(columns, b"t\na\nNA\nb\n")
    assert refused.status_code == 422
    assert "line 3" in refused.json()["errors"][0]["where"]
    table = one_service.table(columns, "t\na\na\nb\n", limit="1000", allowance="1000")
    assert counts_of(table, "t") == {"a": 2, "other": 1}


def test_which_texts_are_null_is_declared(one_service: Service) -> None:
    """`null_values`: which texts are null in a CSV, default empty, `NA`, `NaN`, `null`; declared texts are values."""
    columns = {"t": {"kind": "category", "categories": ["a", "NA", "-"]}}
    default = one_service.table(columns, "t,u\na,1\n-,1\nNA,1\nNaN,1\nnull,1\n,1\n", limit="1000", allowance="1000")
    assert counts_of(default, "t") == {"a": 1, "NA": 1, "-": 1, "other": 0, "missing": 3}
    content = "t,u\na,1\n-,1\n.,1\nNA,1\nNaN,1\nnull,1\n,1\n"
    other = one_service.table(columns, content, limit="1000", allowance="1000", null_values=["-", "."])
    assert counts_of(other, "t") == {"a": 1, "NA": 1, "-": 1, "other": 3, "missing": 1}


def test_columns_that_are_not_named_are_not_stored(one_service: Service) -> None:
    """Columns of the file that the metadata does not name are not stored."""
    before = set(one_service.data.glob("*.parquet"))
    one_service.table(X_COLUMNS, "secret,x,more\n111,1,a\n222,2,b\n")
    (stored,) = set(one_service.data.glob("*.parquet")) - before
    assert pq.read_schema(stored).names == [encode_name("x")]


@pytest.mark.parametrize(
    ("column", "content", "line"),
    [
        (X_COLUMNS["x"], "x\n1\n2\n9223372036854775808\n", 4),
        (X_COLUMNS["x"], "x\n1\n2.5\n3\n", 3),
        ({"kind": "decimal", "scale": 1, "bounds": [0, 9]}, "x\n1.5\n1.50\n1.55\n", 4),
        ({"kind": "boolean"}, "x\n1\n0\nyes\n", 4),
        ({"kind": "real", "bounds": [0, 9]}, "x\n1\n1,5\n2\n", 3),
        (X_COLUMNS["x"], 'x\n"1\n2"\n3\n', 2),
    ],
)
def test_the_owner_is_told_the_line(
    one_service: Service, register, column: dict[str, Any], content: str, line: int
) -> None:
    """Beyond int64, or more decimals than `scale`, is a 422. The owner is told which line is malformed."""
    with one_service.unchanged():
        refused = register({"x": column}, content.encode())
    assert refused.status_code == 422
    assert f"line {line}" in refused.json()["errors"][0]["where"]


def test_two_rows_are_enough(register) -> None:
    """Fewer than two rows: 422."""
    for content, status in ((b"x\n", 422), (b"x\n1\n", 422), (b"x\n1\n2\n", 201)):
        assert register(X_COLUMNS, content).status_code == status
    assert register(X_COLUMNS, parquet(x=pa.array([1]))).status_code == 422


def test_an_upload_has_no_source(register) -> None:
    source = {"source": {"connection": "c", "table": "t"}}
    assert register(X_COLUMNS, b"x\n1\n2\n", **source).status_code == 422
