"""The OpenAPI document: complete, with examples that fit its schemas."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from service_world import X_COLUMNS, Service, a_name, numbers_csv

from app.api import problems

VERBS = "|".join(
    (
        *(
            "adjust",
            "close",
            "create",
            "decline",
            "define",
            "delete",
            "disable",
            "get",
            "grant",
            "list",
            "plan",
            "publish",
            "register",
        ),
        *("replace", "retry", "revalidate", "revoke", "set", "upload", "verify", "withdraw"),
    )
)
SCHEMAS_INSIDE = ("items", "additionalProperties", "propertyNames", "not", "if", "then", "else")
KEYWORDS = {
    *("$ref", "type", "enum", "const", "default", "title", "description", "examples", "discriminator", "required"),
    *("format", "pattern", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength"),
    *("minItems", "maxItems", "minProperties", "maxProperties", "uniqueItems", "properties", "prefixItems"),
    *("anyOf", "oneOf", "allOf", *SCHEMAS_INSIDE),
}


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, of_path in document["paths"].items():
        for method, operation in of_path.items():
            yield f"{method.upper()} {path}", operation


def every_schema(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield each schema of the document, those inside others too."""
    waiting = list(document["components"]["schemas"].values())
    for _, operation in operations(document):
        waiting += [parameter["schema"] for parameter in operation.get("parameters", ())]
        for described in [operation.get("requestBody", {}), *operation["responses"].values()]:
            waiting += [content["schema"] for content in described.get("content", {}).values()]
    while waiting:
        schema = waiting.pop()
        yield schema
        inside = [schema.get(one) for one in SCHEMAS_INSIDE]
        inside += [each for many in ("anyOf", "oneOf", "allOf", "prefixItems") for each in schema.get(many, ())]
        waiting += [each for each in [*inside, *schema.get("properties", {}).values()] if isinstance(each, dict)]


def test_every_operation_has_examples_that_fit_its_schemas(one_service: Service) -> None:
    document = one_service.contract.document
    validators: dict[str, Draft202012Validator] = {}  # one takes long to make, and many answers have one schema
    for name, operation in operations(document):
        success = [described for status, described in operation["responses"].items() if status.startswith("2")]
        for described in [operation.get("requestBody", {}), *success]:
            for content in described.get("content", {}).values():
                assert content.get("examples"), name
        for parameter in operation.get("parameters", ()):
            assert parameter["in"] != "path" or "example" in parameter, name
        for described in [operation.get("requestBody", {}), *operation["responses"].values()]:
            for content in described.get("content", {}).values():
                schema = json.dumps(content["schema"])
                if schema not in validators:
                    validators[schema] = Draft202012Validator(
                        {**content["schema"], "components": document["components"]}
                    )
                for example in content.get("examples", {}).values():
                    validators[schema].validate(example["value"])


def test_examples_of_single_members_fit_their_schemas(one_service: Service) -> None:
    document = one_service.contract.document
    found = 0
    for schema in document["components"]["schemas"].values():
        for member in schema.get("properties", {}).values():
            for example in member.get("examples", ()):
                found += 1
                Draft202012Validator({**member, "components": document["components"]}).validate(example)
    assert found


def test_every_call_needs_a_key_but_those_before_one_has_it(one_service: Service) -> None:
    open_to_all = {name for name, operation in operations(one_service.contract.document) if operation["security"] == []}
    assert open_to_all == {"GET /healthz", "GET /readyz", "GET /v1/sign-on"}


def list_problems(document: dict[str, Any], response: dict[str, Any]) -> list[str]:
    """The problems of a response, by the constant of each schema's `type`."""
    schema = response.get("content", {}).get("application/problem+json", {}).get("schema", {})
    named = [Path(each["$ref"]).name for each in schema.get("oneOf", [schema] if schema else [])]
    return [document["components"]["schemas"][name]["properties"]["type"]["const"] for name in named]


def test_every_problem_is_typed_and_declared_where_it_occurs(one_service: Service) -> None:
    document = one_service.contract.document
    declared: set[str] = set()
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            found = list_problems(document, response)
            assert bool(found) == (status[0] in "45"), f"{name} {status}"
            declared.update(found)
            assert "X-Request-Id" in response["headers"]
            assert ("Retry-After" in response["headers"]) >= (status in {"408", "429", "503"})
            assert ("WWW-Authenticate" in response["headers"]) == (status == "401")
    assert declared == {f"/problems/{each.slug}" for each in (*problems.PROBLEMS.values(), problems.BAD_REQUEST)}
    release = document["paths"]["/v1/datasets/{name}/releases"]["post"]["responses"]
    conflicts = ["budget-exhausted", "closed", "stale", "storage-exhausted"]
    assert list_problems(document, release["409"]) == [f"/problems/{slug}" for slug in conflicts]
    assert release["409"]["content"]["application/problem+json"]["schema"]["discriminator"]["propertyName"] == "type"
    assert {"Idempotency-Replayed"} <= release["200"]["headers"].keys() & release["201"]["headers"].keys()
    exhausted = document["components"]["schemas"]["BudgetExhausted"]
    assert {"scope", "requested", "remaining", "limit"} < set(exhausted["required"])
    assert exhausted["properties"]["status"]["const"] == 409


def test_the_page_of_the_interface_asks_no_other_host(one_service: Service) -> None:
    """`/docs` (OpenAPI, from our own files: no page asks another host)."""
    page = one_service.stranger.get("/docs").text
    assert "http://" not in page
    assert "https://" not in page
    for asset in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert one_service.stranger.get(f"/docs/assets/{asset}").status_code == 200


def test_the_document_describes_a_release(one_service: Service) -> None:
    release = one_service.contract.document["paths"]["/v1/datasets/{name}/releases"]["post"]
    content = release["requestBody"]["content"]["application/json"]
    assert content["schema"]["$ref"].endswith("ReleaseRequest")
    assert {"200", "201", "400", "401", "403", "404", "408", "409", "413", "415", "422", "429", "503"} == release[
        "responses"
    ].keys()
    assert json.dumps(release).count("Idempotency-Key") >= 1
    assert Path(content["schema"]["$ref"]).name in one_service.contract.document["components"]["schemas"]


def test_operations_have_names_that_people_write(one_service: Service) -> None:
    """An operation's name is a verb phrase, since it becomes the name of a function in a generated client."""
    described = list(operations(one_service.contract.document))
    names = [operation["operationId"] for _, operation in described]
    assert len(set(names)) == len(names)
    assert [name for name in names if not re.fullmatch(rf"({VERBS})([A-Z][a-z]+)+", name)] == []
    assert all(operation["summary"] and operation["description"] for _, operation in described)
    # A title is what the framework makes of a function's name where a route has no summary.
    assert [each["summary"] for _, each in described if each["summary"] == each["summary"].title()] == []


def test_every_tag_is_declared_and_used(one_service: Service) -> None:
    document = one_service.contract.document
    used = {tag for _, operation in operations(document) for tag in operation["tags"]}
    assert {tag["name"] for tag in document["tags"] if tag["description"]} == used


def test_the_schemas_have_no_keyword_of_another_language(one_service: Service) -> None:
    """Pydantic leaks its own names of limits (`ge`, `le`) where it cannot translate them."""
    assert {keyword for schema in every_schema(one_service.contract.document) for keyword in schema} <= KEYWORDS


def test_every_schema_and_every_member_is_described(one_service: Service) -> None:
    schemas = one_service.contract.document["components"]["schemas"]
    assert [name for name, schema in schemas.items() if not schema.get("description")] == []
    members = [
        (f"{name}.{member}", described.get("description", ""))
        for name, schema in schemas.items()
        for member, described in schema.get("properties", {}).items()
    ]
    assert len(members) > 600
    assert [path for path, words in members if not re.fullmatch(r"(?s)[A-Z0-9`Σ|].*[.`]", words)] == []


def fits(document: dict[str, Any], name: str, value: object) -> bool:
    schema = {"$ref": f"#/components/schemas/{name}", "components": document["components"]}
    return Draft202012Validator(schema).is_valid(value)


MEAN = {"kind": "mean", "column": "x"}
COUNT = {"kind": "histogram", "columns": ["x", "y"], "bins": [2, None]}


@pytest.mark.parametrize(
    ("name", "body", "valid"),
    [
        ("ReleaseRequest", {"statistic": MEAN, "epsilon": "0.5"}, True),
        ("ReleaseRequest", {"statistic": MEAN, "epsilon": "0.5", "accuracy": None}, True),
        ("ReleaseRequest", {"statistic": MEAN, "relative_accuracy": 0.1, "guess": 5}, True),
        ("ReleaseRequest", {"statistic": MEAN}, False),
        ("ReleaseRequest", {"statistic": MEAN, "epsilon": None}, False),
        ("ReleaseRequest", {"statistic": MEAN, "epsilon": "0.5", "accuracy": 2}, False),
        ("PlanRequest", {"statistic": MEAN, "accuracy": 2, "relative_accuracy": 0.1}, False),
        ("DerivedRequest", {"derived": {"kind": "correlation", "columns": ["x", "y"]}}, False),
        ("Statistic", {"kind": "histogram", "column": "x", "edges": [1, 2, 3]}, True),
        ("Statistic", COUNT, True),
        ("Statistic", COUNT | {"column": "x"}, False),
        ("Statistic", {"kind": "histogram"}, False),
        ("DeclaredFormat", {"decimal": ",", "thousands": " "}, True),
        ("DeclaredFormat", {"thousands": ", "}, False),
    ],
)
def test_the_schemas_tell_what_excludes_what(
    one_service: Service, name: str, body: dict[str, Any], *, valid: bool
) -> None:
    assert fits(one_service.contract.document, name, body) is valid


def test_unions_are_named_and_have_a_discriminator(one_service: Service) -> None:
    """A client that is generated from a union without them may lose an answer that was paid for."""
    schemas = one_service.contract.document["components"]["schemas"]
    kinds = {
        name: sorted(schemas[name]["discriminator"]["mapping"]) for name in ("Statistic", "DerivedStatistic", "Column")
    }
    for name, of_name in kinds.items():
        targets = schemas[name]["discriminator"]["mapping"].values()
        assert sorted(targets) == sorted(each["$ref"] for each in schemas[name]["oneOf"])
        assert {schemas[Path(target).name]["properties"]["kind"]["const"] for target in targets} == set(of_name)
    assert all("discriminator" in each for each in every_schema(one_service.contract.document) if "oneOf" in each)


def test_answers_may_get_new_members(one_service: Service) -> None:
    """A later version may add a member, and a client that validates what it reads must not lose the answer."""
    schemas = one_service.contract.document["components"]["schemas"]
    open_schemas = (
        "Release",
        "Accuracy",
        "DatasetPlan",
        "DerivedAnswer",
        "BatchAnswer",
        "Statistic",
        "Mean",
        "Dataset",
    )
    assert not any("additionalProperties" in schemas[name] for name in open_schemas)
    assert schemas["ReleaseRequest"]["additionalProperties"] is False


def test_every_operation_takes_one_media_type(one_service: Service) -> None:
    for name, operation in operations(one_service.contract.document):
        assert len(operation.get("requestBody", {"content": [""]})["content"]) == 1, name


def test_uploads_go_to_paths_of_their_own_and_where_they_went_before(one_service: Service) -> None:
    content = numbers_csv(20).encode()
    for path in ("/v1/draft-uploads", "/v1/drafts"):
        drafted = one_service.upload(one_service.admin, {}, content, path=path)
        assert (drafted.status_code, list(drafted.json()["metadata"]["columns"])) == (200, ["x"])
    for path in ("/v1/dataset-uploads", "/v1/datasets"):
        metadata = {"name": a_name("uploaded"), "epsilon_limit": 1, "columns": X_COLUMNS}
        uploaded = one_service.upload(one_service.admin, metadata, content, path=path)
        assert (uploaded.status_code, uploaded.json()["n"]) == (201, 20)
        refused = one_service.admin.post(path, content=b"x", headers={"Content-Type": "text/csv"})
        assert refused.status_code == 415
    assert one_service.admin.post("/v1/dataset-uploads", json={}).status_code == 415


def test_each_problem_has_a_page_at_its_type(one_service: Service) -> None:
    described = (*problems.PROBLEMS.values(), *problems.OF_HTTP)
    for problem in described:
        answer = one_service.stranger.get(f"/problems/{problem.slug}")
        assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert f"<h1>{problem.title}</h1>" in answer.text
        assert f"status {problem.status}" in answer.text
    page = one_service.stranger.get("/problems/budget-exhausted").text
    assert "<dt><code>remaining</code></dt><dd>The ε that is left.</dd>" in page
    assert "<script" not in page
    assert "http://" not in page
    assert one_service.stranger.get("/problems/no-such-problem").status_code == 404
