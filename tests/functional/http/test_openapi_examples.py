"""Each example of the OpenAPI document is what the service takes and answers; `make examples` records them anew."""

import json
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from service_world import Service, becomes, serving
from sqlalchemy import make_url

from app.api.openapi import examples
from app.api.openapi.examples import Example

PATH = Path(str(files("app.api.openapi") / "examples.json"))
PENGUINS = (files("app.demo") / "penguins.csv").read_text()
# What differs from one run to the next, while its shape stays: ids, times, hashes and keys; and noise.
OF_THE_MOMENT = {
    *("id", "key", "created_at", "at", "release_id", "hash", "previous_hash", "head", "answer_hash", "facts_hash"),
    *("secret_id", "key_seal", "request_id", "answered_at", "full_at", "published_at", "granted_at", "released_at"),
    *("changed_at", "queued_at", "ended_at"),
}
NOISY = {"value", "value_exact", "value_in_range", "interval", "interval_lower", "interval_upper"}
NUMBER = re.compile(r"[-−]?\d[\d,]*(?:\.\d+)?")


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory, postgres_server: str) -> Iterator[Service]:
    """A service of its own, since the story begins with an empty database; and a warehouse with a table."""
    folder = tmp_path_factory.mktemp("story")
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE story")
    warehouse = make_url(postgres_server).set(database="story").render_as_string(hide_password=False)
    with psycopg.connect(warehouse, autocommit=True) as connection:
        connection.execute("CREATE TABLE people AS SELECT 18 + id % 60 AS age FROM generate_series(1, 1000) AS id")
    settings = {
        "MAX_EPSILON_PER_RELEASE": "10",
        "CONNECTION_WAREHOUSE": warehouse,
        "OIDC_ISSUER": "https://id.example.org",  # nobody signs on there
        "OIDC_AUDIENCE": "snapledger",
        "OIDC_ROLE_MAP": "statistics=analyst",
        "OIDC_CLIENT_ID": "snapledger",
        "PUBLIC_URL": "https://snapledger.example.org",
    }
    with serving(folder, f"sqlite:///{folder}/ledger.sqlite3", **settings) as service:
        yield service


def shape(value: Any) -> Any:
    if isinstance(value, list):
        return [shape(item) for item in value]
    return "number" if isinstance(value, int | float) else type(value).__name__


def comparable(value: Any) -> Any:
    """What is the same in each run: of ids, times and noise the shape, and of sentences with noise all but numbers."""
    if isinstance(value, list):
        return [comparable(item) for item in value]
    if not isinstance(value, dict):
        return value
    same = {}
    for name, member in value.items():
        if name in OF_THE_MOMENT | NOISY or (name == "releases" and all(isinstance(each, str) for each in member)):
            same[name] = shape(member)
        elif name == "summary" and not value.keys().isdisjoint({"value", "estimates"}):
            same[name] = NUMBER.sub("#", member)
        else:
            same[name] = comparable(member)
    return same


def ordered_text(example: Example) -> str:
    """An example as a text in which the order of members counts."""
    return json.dumps([example.name, example.status, comparable(example.response)], indent=1, ensure_ascii=False)


def ask(service: Service, caller: httpx.Client, example: Example, release_id: str) -> Example:
    """The example as the service answers it now."""
    parameters = example.parameters | {
        name: release_id for name in ("release_id", "request_id") if name in example.parameters
    }
    if example.path.endswith("/runs"):  # a report's worker may still be at it
        path = example.path.format(**parameters)
        assert becomes(lambda: all(run["state"] == "done" for run in caller.get(path).json()["runs"]))
    if isinstance(example.request, dict) and "file" in example.request:
        assert PENGUINS.startswith(example.request["file"])
        answer = service.upload(caller, example.request["metadata"], PENGUINS.encode(), path=example.path)
    else:
        answer = caller.request(example.method, example.path.format(**parameters), json=example.request)
    if answer.status_code == 201:
        assert service.admin.get(answer.headers["location"]).status_code == 200, example.name
    document = answer.json() if answer.content else None
    return example._replace(parameters=parameters, status=answer.status_code, response=document)


def run_story(service: Service) -> list[Example]:
    """All examples as the service answers them now, each from what the earlier ones left."""
    callers, release_id, answered = {"anybody": service.stranger, "admin": service.admin}, "", []
    for example in examples.load_examples():
        now = ask(service, callers[example.caller], example, release_id)
        answered.append(now)
        if isinstance(now.response, dict):
            if "key" in now.response:
                callers[now.response["name"]] = service.client(now.response["key"])
            release_id = now.response.get("id", release_id)
    return answered


def test_every_example_is_what_the_service_takes_and_answers(alone: Service, request: pytest.FixtureRequest) -> None:
    recorded, now = examples.load_examples(), run_story(alone)
    if request.config.getoption("--examples", default=False) and any(
        ordered_text(one) != ordered_text(other) for one, other in zip(recorded, now, strict=True)
    ):
        PATH.write_text(json.dumps([each._asdict() for each in now], indent=1, ensure_ascii=False) + "\n")
        return
    for one, other in zip(recorded, now, strict=True):
        assert ordered_text(one) == ordered_text(other), "run make examples, and look at what it changes"
