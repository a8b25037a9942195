"""The OpenAPI document: complete, and each of its examples is what the service takes and answers."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from jsonschema_rs import Draft202012Validator
from service_world import Service, serving
from sqlalchemy import make_url

from app.api.openapi import examples
from app.api.openapi.examples import Example

# What differs from one telling of the story to the next; its shape does not.
OF_THE_MOMENT = {
    "id",
    "key",
    "created_at",
    "at",
    "release_id",
    "hash",
    "previous_hash",
    "head",
    "answer_hash",
    "facts_hash",
    "secret_id",
    "key_seal",
    "request_id",
}
OF_THE_MOMENT |= {"value", "value_exact", "value_in_range", "interval", "summary"}
PENGUINS = (files("app.demo") / "penguins.csv").read_text()


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[Service]:
    """A service of its own, since the story begins with an empty database; and a warehouse with a table."""
    folder = tmp_path_factory.mktemp("story")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE story")
    warehouse = make_url(postgres_server).set(database="story").render_as_string(hide_password=False)
    with psycopg.connect(warehouse, autocommit=True) as connection:
        connection.execute("CREATE TABLE people AS SELECT 18 + id % 60 AS age FROM generate_series(1, 1000) AS id")
    settings = {"MAX_EPSILON_PER_RELEASE": "10", "CONNECTION_WAREHOUSE": warehouse}
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", **settings) as service:
        yield service


def shape(value: Any) -> Any:
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


def assert_same(told: Any, found: Any, where: str) -> None:
    """Equal, but for what is of the moment: of that, the same shape."""
    if isinstance(told, dict) and isinstance(found, dict):
        assert list(told) == list(found), where
        for name, value in told.items():
            if name in OF_THE_MOMENT:
                assert shape(value) == shape(found[name]), f"{where}.{name}"
            else:
                assert_same(value, found[name], f"{where}.{name}")
    elif isinstance(told, list) and isinstance(found, list):
        assert len(told) == len(found), where
        for position, (one, other) in enumerate(zip(told, found, strict=True)):
            assert_same(one, other, f"{where}.{position}")
    else:
        assert told == found, where


def tell(service: Service, caller: httpx.Client, example: Example, release_id: str) -> httpx.Response:
    parameters = example.parameters | ({"release_id": release_id} if "release_id" in example.parameters else {})
    path = example.path.format(**parameters)
    if isinstance(example.request, dict) and "file" in example.request:
        assert PENGUINS.startswith(example.request["file"])
        return service.upload(caller, example.request["metadata"], PENGUINS.encode())
    return caller.request(example.method, path, json=example.request)


def test_every_example_is_what_the_service_takes_and_answers(alone: Service) -> None:
    callers, release_id = {"anybody": alone.stranger, "admin": alone.admin}, ""
    for example in examples.load_examples():
        answer = tell(alone, callers[example.caller], example, release_id)
        assert answer.status_code == example.status, f"{example.name}: {answer.text}"
        document = answer.json() if answer.content else None
        assert_same(example.response, document, example.name)
        if document and "key" in document:
            callers[document["name"]] = alone.client(document["key"])
        if document and "id" in document:
            release_id = document["id"]


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, of_path in document["paths"].items():
        for method, operation in of_path.items():
            yield f"{method.upper()} {path}", operation


def test_every_operation_has_examples_that_fit_its_schemas(one_service: Service) -> None:
    document = one_service.contract.document
    for name, operation in operations(document):
        success = [described for status, described in operation["responses"].items() if status.startswith("2")]
        for described in [operation.get("requestBody", {}), *success]:
            for content in described.get("content", {}).values():
                assert content.get("examples"), name
        for parameter in operation.get("parameters", ()):
            assert parameter["in"] != "path" or "example" in parameter, name
        for described in [operation.get("requestBody", {}), *operation["responses"].values()]:
            for content in described.get("content", {}).values():
                validator = Draft202012Validator({**content["schema"], "components": document["components"]})
                for example in content.get("examples", {}).values():
                    validator.validate(example["value"])


def test_examples_of_single_members_fit_their_schemas(one_service: Service) -> None:
    document = one_service.contract.document
    found = 0
    for schema in document["components"]["schemas"].values():
        for member in schema.get("properties", {}).values():
            for example in member.get("examples", ()):
                found += 1
                Draft202012Validator({**member, "components": document["components"]}).validate(example)
    assert found


def test_every_call_needs_a_key_but_those_about_health(one_service: Service) -> None:
    open_to_all = {name for name, operation in operations(one_service.contract.document) if "security" not in operation}
    assert open_to_all == {"GET /healthz", "GET /readyz"}


def test_every_problem_of_the_table_is_declared_somewhere(one_service: Service) -> None:
    """A problem is told as `type` (a stable path under `/problems/`), `title`, `status`, `detail`."""
    kinds: set[str] = set()
    for _, operation in operations(one_service.contract.document):
        for described in operation["responses"].values():
            if "application/problem+json" in described.get("content", {}):
                kinds.update(described["description"].split(", "))
    assert kinds >= {"budget-exhausted", "name-taken", "closed", "last-admin", "invalid-request", "accuracy-trivial"}
    assert kinds >= {"accuracy-unattainable", "epsilon-too-large", "key-reused", "malformed-json", "key-required"}


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
