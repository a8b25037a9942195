"""Bad requests: a clear 4xx as a problem, and nothing changed."""

import json
from typing import Any

import pytest
from service_world import X_COLUMNS, Service, Table, numbers_csv

MEAN = {"kind": "mean", "column": "x"}
COLUMNS = {
    "x": {"kind": "integer", "bounds": [0, 100]},
    "y": {"kind": "real", "bounds": [0, 100]},
    "kind": {"kind": "category", "categories": ["a", "b"]},
    "yes": {"kind": "boolean"},
}


@pytest.fixture(scope="module")
def table(running) -> Table:
    service: Service = running("sqlite")
    rows = "".join(f"{i},{i}.5,{'ab'[i % 2]},true\n" for i in range(20))
    return service.table(COLUMNS, "x,y,kind,yes\n" + rows)


def post(table: Table, call: str, body: Any) -> Any:
    content = body if isinstance(body, str) else json.dumps(body)
    headers = {"Content-Type": "application/json", "Idempotency-Key": "k"}
    return table.analyst.post(f"{table.path}/{call}", content=content, headers=headers)


def refused(table: Table, body: Any, status: int = 422, kind: str = "invalid-request") -> dict[str, Any]:
    """The problem that both a plan and a release answer with; the budget stays as it is, and so does the key."""
    for call in ("plan", "releases"):
        answer = post(table, call, body)
        assert answer.status_code == status, answer.text
        assert answer.headers["content-type"] == "application/problem+json"
        problem: dict[str, Any] = answer.json()
        assert problem["type"] == f"/problems/{kind}"
        assert problem["status"] == status
        assert problem["title"]
        assert problem["detail"]
    assert table.budget()["epsilon_spent"] == "0"
    return problem


def question(**members: Any) -> dict[str, Any]:
    return {"statistic": MEAN, "epsilon": "0.5"} | members


@pytest.mark.parametrize(
    "epsilon",
    [
        *("0", "-1", "NaN", "Infinity", "1e999", "1e-400", '"1e1000000000"', '"1_0"', "true", "null", "[]", "{}", '""'),
        *("0.1234567891", '"0.1234567891"', "1e-10", "1000000.000000001", '"٣"', '"+-1"', '" 1"', '"1."', "0x1"),
        "1" * 5000,
    ],
)
def test_an_epsilon_that_is_none(table: Table, epsilon: str) -> None:
    body = f'{{"statistic": {json.dumps(MEAN)}, "epsilon": {epsilon}}}'
    if epsilon in {"NaN", "Infinity", "0x1"}:
        refused(table, body, 400, "malformed-json")
    else:
        problem = refused(table, body)
        assert problem["errors"][0]["where"] == ("epsilon" if epsilon != "null" else "body")


@pytest.mark.parametrize("name", ["alpha", "gamma"])
@pytest.mark.parametrize("value", ["0", "1.5", "-0.1", '"nan"', "false", '"0.05 "'])
def test_an_alpha_or_gamma_that_is_none(table: Table, name: str, value: str) -> None:
    problem = refused(table, f'{{"statistic": {json.dumps(MEAN)}, "epsilon": 1, "{name}": {value}}}')
    assert problem["errors"][0]["where"] == name


def test_an_alpha_of_one_is_none_and_a_gamma_of_one_is_one(table: Table) -> None:
    refused(table, question(alpha=1))
    assert table.plan(MEAN, epsilon=1, gamma=1).status_code == 200


@pytest.mark.parametrize(
    "members",
    [
        {"accuracy": 5},
        {"epsilon": None},
        {"grid_refinement": 31},
        {"grid_refinement": -1},
        {"grid_refinement": 0.5},
        {"grid_refinement": True},
        {"reuse": 1},
        {"reuse": "true"},
        {"unknown": 1},
        {"statistic": None},
        {"statistic": []},
        {"statistic": "mean"},
        {"epsilon": None, "accuracy": 0},
        {"epsilon": None, "accuracy": -5},
        {"epsilon": None, "accuracy": "1.0000000000000000000000000000001"},
    ],
    ids=json.dumps,
)
def test_a_question_that_is_none(table: Table, members: dict[str, Any]) -> None:
    refused(table, question(**members))


@pytest.mark.parametrize(
    "statistic",
    [
        {},
        {"kind": "median", "column": "x"},
        {"kind": "mean"},
        {"kind": "mean", "column": "nowhere"},
        {"kind": "mean", "column": 1},
        {"kind": "mean", "column": "x", "columns": ["x"]},
        {"kind": "mean", "column": "x", "edges": [1, 2, 3]},
        {"kind": "mean", "column": "kind"},
        {"kind": "mean", "column": "yes", "bounds": [0, 1]},
        {"kind": "variance", "column": "kind"},
        {"kind": "covariance", "columns": ["x", "x"]},
        {"kind": "covariance", "columns": ["x"]},
        {"kind": "covariance", "columns": ["x", "kind"]},
        {"kind": "covariance", "columns": ["x", "y"], "bounds": [0, 1]},
        {"kind": "mean", "column": "x", "bounds": [5, 5]},
        {"kind": "mean", "column": "x", "bounds": [6, 5]},
        {"kind": "mean", "column": "x", "bounds": ["-Infinity", 5]},
        {"kind": "mean", "column": "x", "bounds": [0, "1e101"]},
        {"kind": "mean", "column": "x", "bounds": [1]},
        {"kind": "mean", "column": "y", "bounds": [1, "1.00000000000000000001"]},
        {"kind": "mean", "column": "y", "bounds": [0, "2e-300"]},
        {"kind": "histogram", "column": "x"},
        {"kind": "histogram", "column": "x", "edges": [1]},
        {"kind": "histogram", "column": "x", "edges": [1, 2]},
        {"kind": "histogram", "column": "x", "edges": [1, 3, 2]},
        {"kind": "histogram", "column": "x", "edges": [1, 2, 2]},
        {"kind": "histogram", "column": "x", "edges": [0, 1, 2], "bins": 2},
        {"kind": "histogram", "column": "x", "edges": [0, 1, 2], "bounds": [0, 2]},
        {"kind": "histogram", "column": "x", "bins": 1},
        {"kind": "histogram", "column": "x", "bins": 1_000_001},
        {"kind": "histogram", "column": "y", "edges": [0, "1", "1.00000000000000000001"]},
        {"kind": "histogram", "column": "kind", "bins": 2},
        {"kind": "histogram", "column": "yes", "edges": [0, 1, 2]},
    ],
    ids=json.dumps,
)
def test_a_statistic_that_is_none(table: Table, statistic: dict[str, Any]) -> None:
    problem = refused(table, question(statistic=statistic))
    assert all(error["where"].startswith("statistic") for error in problem["errors"])


MEMBERS = "statistic, epsilon, accuracy, relative_accuracy, guess, alpha, gamma, grid_refinement, reuse, rehearse"
KINDS = (
    "'mean', 'variance', 'covariance', 'histogram', 'count', 'missing', 'sum', 'quantile_search',"
    " 'adaptive_histogram', 'pair_differences'"
)
MEDIAN = '; for a median, send {"kind": "quantile", "probabilities": [0.5]}'
NAMED = "has an unknown member: its members are "
NO_COLUMN = "is not a column of this dataset: 'x', 'y', 'kind', 'yes'"


@pytest.mark.parametrize(
    ("members", "where", "what"),
    [
        ({"more": 1}, "body", f"{NAMED}{MEMBERS}"),
        ({"statistic": 3}, "statistic", "must be an object"),
        ({"statistic": {}}, "statistic.kind", f"is missing: it must be one of {KINDS}"),
        ({"statistic": {"kind": "men"}}, "statistic.kind", f"must be one of {KINDS}; did you mean 'mean'?"),
        ({"statistic": {"kind": "median"}}, "statistic.kind", f"must be one of {KINDS}{MEDIAN} to the path `derived`"),
        ({"statistic": {"kind": "mean"}}, "statistic.column", "is missing"),
        ({"statistic": MEAN | {"more": 1}}, "statistic", f"{NAMED}kind, column, bounds"),
        (
            {"statistic": {"kind": "histogram", "column": "x", "more": 1}},
            "statistic",
            f"{NAMED}kind, column, edges, bins, bounds, where",
        ),
        (
            {"statistic": {"kind": "histogram", "columns": ["x", "y"], "column": "x"}},
            "statistic",
            (
                "has an unknown member 'column': its members are kind, columns, edges, bins, bounds, where; "
                "did you mean 'columns'?"
            ),
        ),
        (
            {"statistic": {"kind": "count", "where": {"kind": {"nothing": ["a"]}}}},
            "statistic.where.0",
            f"{NAMED}in, between, at_least, above, at_most, below, is_missing, not",
        ),
        ({"statistic": {"kind": "mean", "column": "z"}}, "statistic.column", NO_COLUMN),
        ({"statistic": {"kind": "mean", "column": "Kinds"}}, "statistic.column", f"{NO_COLUMN}; did you mean 'kind'?"),
        ({"statistic": {"kind": "count", "group_by": "z"}}, "statistic.group_by", NO_COLUMN),
        ({"statistic": {"kind": "count", "where": {"z": {"in": [1]}}}}, "statistic.where.0", NO_COLUMN),
        (
            {"statistic": {"kind": "count", "where": {"kind": {"in": ["z"]}}}},
            "statistic.where.0.in.0",
            "(column 'kind') is not one of the declared categories: 'a', 'b'",
        ),
        ({"epsilon": -1}, "epsilon", "must be above 0, with at most 9 decimals"),
        ({"epsilon": 0}, "epsilon", "must be above 0, with at most 9 decimals"),
        ({"epsilon": 10**7}, "epsilon", "must be at most 1,000,000; a release may have a lower limit"),
    ],
    ids=json.dumps,
)
def test_a_refusal_says_what_is_allowed(table: Table, members: dict[str, Any], where: str, what: str) -> None:
    assert refused(table, question(**members))["errors"] == [{"where": where, "what": what}]


def test_a_refusal_of_what_follows_says_what_is_allowed(table: Table) -> None:
    kinds = "'standard_deviation', 'sum', 'proportion', 'mean', 'variance', 'covariance', 'correlation', "
    kinds += "'regression', 'cumulative', "
    for derived, where, what in (
        ({}, "derived.kind", f"is missing: it must be one of {kinds}'quantile', 'margin'"),
        ({"kind": "median"}, "derived.kind", f"must be one of {kinds}'quantile', 'margin'{MEDIAN}"),
        ({"kind": "sum", "column": "z"}, "derived.column", NO_COLUMN),
        (
            {"kind": "proportion", "column": "kind", "category": "z"},
            "derived.category",
            "is not one of the declared categories: 'a', 'b'",
        ),
    ):
        answer = post(table, "derived", {"derived": derived, "epsilon": 1})
        assert (answer.status_code, answer.json()["errors"]) == (422, [{"where": where, "what": what}])


def test_a_refusal_of_a_batch_says_what_is_allowed(table: Table) -> None:
    items = [{"statistic": MEAN, "epsilon": 1}, {"statistic": MEAN | {"more": 1}, "epsilon": 1}]
    (error,) = post(table, "batches", {"items": items}).json()["errors"]
    assert error == {"where": "items.1.statistic", "what": f"{NAMED}kind, column, bounds"}


def test_a_plan_without_a_dataset_repeats_no_column(table: Table) -> None:
    hidden = {"hidden": {"kind": "category", "categories": ["unseen"]}}
    for statistic in (MEAN, {"kind": "count", "where": {"hidden": {"in": ["z"]}}}):
        body = {"statistic": statistic, "epsilon": 1, "n": 10, "columns": hidden}
        answer = table.analyst.post("/v1/plan", json=body)
        assert answer.status_code == 422, answer.text
        assert "hidden" not in answer.text
        assert "unseen" not in answer.text


def test_a_refusal_lists_some_of_many_names(one_service: Service) -> None:
    columns = {"x": {"kind": "category", "categories": [f"c{i}" for i in range(1_100)]}}
    wide = one_service.table(columns, "x\nc0\nc1\n")
    (error,) = wide.plan({"kind": "count", "where": {"x": {"in": ["z"]}}}, epsilon=1).json()["errors"]
    assert error["what"].endswith("'c18', 'c19' and 1,080 more")


@pytest.mark.parametrize("column", ["bounds", "kind", "sum", "integer", "columns"])
def test_a_column_may_be_called_as_a_member_is(one_service: Service, column: str) -> None:
    _, owner = one_service.principal("owner")
    allowed = "bounds, kind, nullable, label, description, unconfirmed, null_value, unit, symbols (column 1 of 1)"
    declared = {column: {"kind": "integer", "bounds": [0, 9], "more": 1}}
    answer = one_service.upload(owner, {"name": "never", "epsilon_limit": 1, "columns": declared}, b"x\n1\n2\n")
    assert answer.json()["errors"] == [{"where": "columns.0", "what": f"{NAMED}{allowed}"}]


def test_a_misspelt_member_of_a_column_has_a_hint(one_service: Service) -> None:
    """A column is named by its position, since its name may be confidential; its kind is no part of the path."""
    _, owner = one_service.principal("owner")
    good = {"kind": "integer", "bounds": [0, 9]}
    columns = {"x": good, "y": good, "secret": {"kind": "category", "category": ["a"]}}
    answer = one_service.upload(owner, {"name": "never", "epsilon_limit": 1, "columns": columns}, b"x\n1\n2\n")
    members = "kind, categories, nullable, label, description, unconfirmed, category_labels"
    hint = f"its members are {members}; did you mean 'categories'? (column 3 of 3)"
    assert answer.json()["errors"] == [
        {"where": "columns.2.categories", "what": "is missing (column 3 of 3)"},
        {"where": "columns.2", "what": f"has an unknown member 'category': {hint}"},
    ]


@pytest.mark.parametrize("body", ["1", '"text"', "[]", "null"])
def test_a_body_that_is_no_object(table: Table, body: str) -> None:
    refused(table, body)


def test_the_ends_of_what_one_release_may_cost(table: Table) -> None:
    problem = refused(table, question(epsilon="1000.000000001"), 422, "epsilon-too-large")
    assert problem["limit"] == "1000"
    refused(table, {"statistic": MEAN, "accuracy": 100}, 422, "accuracy-trivial")
    problem = refused(table, {"statistic": MEAN, "accuracy": "1e-9"}, 422, "accuracy-unattainable")
    assert float(problem["epsilon"]) > 1000


def test_other_media_are_refused(table: Table) -> None:
    body = json.dumps(question())
    for headers in ({"Content-Type": "text/plain"}, {"Content-Type": "application/json", "Content-Encoding": "gzip"}):
        answer = table.analyst.post(f"{table.path}/plan", content=body, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (415, "/problems/unsupported-media-type")


@pytest.mark.parametrize(
    ("column", "where"),
    [
        ({"kind": "integer"}, "columns.0.bounds"),
        ({"kind": "integer", "bounds": [9, 0]}, "columns.0.bounds"),
        ({"kind": "real", "bounds": [0, "1e-300"]}, "columns.0.bounds"),
        ({"kind": "text"}, "columns.0.kind"),
        ({"kind": "integer", "bounds": [0, 9], "scale": 1}, "columns.0"),
        ({"kind": "decimal", "bounds": [0, 9]}, "columns.0.scale"),
        ({"kind": "category"}, "columns.0.categories"),
        ({"kind": "category", "categories": ["a", "a"]}, "columns.0.categories"),
        ({"kind": "boolean", "bounds": [0, 1]}, "columns.0"),
        ({"kind": "integer", "bounds": [0, 9], "nullable": "no"}, "columns.0.nullable"),
        ({"kind": "integer", "bounds": [0, 9], "null_value": "x"}, "columns.0.null_value"),
    ],
)
def test_a_column_that_is_none(one_service: Service, column: dict[str, Any], where: str) -> None:
    _, owner = one_service.principal("owner")
    metadata = {"name": "never", "epsilon_limit": 1, "columns": {"secret name": column}}
    answer = one_service.upload(owner, metadata, b"secret name\n1\n2\n")
    assert answer.status_code == 422, answer.text
    assert [error["where"] for error in answer.json()["errors"]] == [where]
    assert "secret" not in answer.text


@pytest.mark.parametrize(
    "member",
    [
        {"name": "Upper"},
        {"name": ""},
        {"name": "-x"},
        {"name": "x" * 64},
        {"name": "x\n"},
        {"epsilon_limit": -1},
        {"epsilon_limit": "1000001"},
        {"rows_per_unit": 0},
        {"rows_per_unit": 1.5},
        {"columns": {}},
        {"columns": {"": {"kind": "boolean"}}},
        {"columns": {"a\u0007": {"kind": "boolean"}}},
        {"columns": {"\ud800": {"kind": "boolean"}}},
        {"columns": {"x" * 256: {"kind": "boolean"}}},
        {"null_values": "NA"},
        {"more": 1},
        {"format": {"decimal": ",", "thousands": ","}},
        {"format": {"encoding": "utf-7"}},
        {"format": {"thousands": "x"}},
        {"format": {"header_row": 0}},
        {"format": {"header_row": 1, "column_names": ["x"]}},
        {"format": {"column_names": ["x"] * 5_001}},
        {"format": {"separator": ","}},
        {"columns": {"x": {"kind": "boolean", "true_values": ["yes"]}}},
        {"columns": {"x": {"kind": "boolean", "true_values": ["yes"], "false_values": ["YES"]}}},
        {"columns": {"x": {"kind": "boolean", "true_values": [], "false_values": []}}},
        {"columns": {"x": {"kind": "integer", "bounds": [0, 1], "symbols": ["5"]}}},
        {"columns": {"x": {"kind": "integer", "bounds": [0, 1], "symbols": ["-"]}}},
        {"columns": {"x": {"kind": "integer", "bounds": [0, 1], "symbols": [" €"]}}},
        {"source": {"connection": "lake", "table": "t"}},
    ],
    ids=lambda member: str(member)[:80],
)
def test_metadata_that_is_none(one_service: Service, member: dict[str, Any]) -> None:
    _, owner = one_service.principal("owner")
    metadata = {"name": "never", "epsilon_limit": 1, "columns": {"x": {"kind": "boolean"}}} | member
    answer = one_service.upload(owner, metadata, b"x\n1\n0\n")
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"]


def test_an_upload_needs_its_two_parts(one_service: Service) -> None:
    _, owner = one_service.principal("owner")
    """`multipart/form-data` with `metadata` (JSON) and `file`."""
    for files in ({"file": ("t.csv", b"x\n1\n")}, {"metadata": (None, "{}")}, {"a": (None, "b"), "c": (None, "d")}):
        assert owner.post("/v1/datasets", files=files).status_code == 422
    assert owner.post("/v1/datasets", json={}).status_code == 422  # a table elsewhere, of which nothing is said
    assert owner.post("/v1/datasets", content=b"x\n1\n2\n", headers={"Content-Type": "text/csv"}).status_code == 415
    malformed = owner.post("/v1/datasets", files={"metadata": (None, "{"), "file": ("t.csv", b"x\n1\n")})
    assert (malformed.status_code, malformed.json()["type"]) == (400, "/problems/malformed-json")


def test_no_refusal_repeats_what_was_sent(table: Table) -> None:
    hidden = "nobody-may-see-this"
    for body in (
        question(**{hidden: hidden}),
        question(epsilon=hidden),
        question(statistic={"kind": hidden}),
        question(statistic={"kind": "mean", "column": hidden}),
        question(statistic={"kind": "mean", "column": "x", hidden: 1}),
        question(statistic={"kind": "mean", "column": "x", "bounds": hidden}),
    ):
        assert hidden not in post(table, "plan", body).text


def test_numbers_are_the_decimals_that_were_written(one_service: Service) -> None:
    table = one_service.table(X_COLUMNS, numbers_csv(30))
    for text in ("0.3", '"0.3"', "3e-1", '"+3E-01"', "0.30"):
        answer = post(table, "plan", f'{{"statistic": {json.dumps(MEAN)}, "epsilon": {text}}}')
        assert answer.json()["privacy"]["epsilon"] == "0.3"
