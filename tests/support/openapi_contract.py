"""Every answer of the service, held against the OpenAPI document that it gives of itself."""

import copy
import json
import re
from functools import cache
from typing import Any

import httpx
import pytest
from jsonschema_rs import Draft202012Validator

from app.api.openapi.schemas import walk
from app.api.schemas.responses import Problem
from app.config import Settings
from app.json_text import encode_json
from app.main import create_app

PROBLEM = "application/problem+json"
PAGES = re.compile(r"/docs|/docs/assets/.*|/problems/[^/]*|/openapi\.json|/(figures|collections)/.*|/web/.*")
METHODS = frozenset({"GET", "PUT", "POST", "DELETE"})


def close_schemas(schemas: dict[str, Any]) -> dict[str, Any]:
    """Return the schemas without room for undeclared members: later versions may add some, but not this one."""
    closed = copy.deepcopy(schemas)
    for schema in closed.values():
        for each in walk(schema):
            if "properties" in each and "type" in each:
                each.setdefault("additionalProperties", False)
    return closed


class Contract:
    """An OpenAPI document as a check: each answer is of a declared status and medium, and fits the declared schema."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self._components = {"components": {"schemas": close_schemas(document["components"]["schemas"])}}
        self._paths = [
            (re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path)), operations)
            for path, operations in document["paths"].items()
        ]
        self._validators: dict[str, Draft202012Validator] = {}
        self._problem = Problem.model_json_schema()

    def check(self, response: httpx.Response) -> None:
        """Read an answer and compare it; httpx calls this for each."""
        response.read()
        path = response.request.url.raw_path.decode().partition("?")[0]
        if PAGES.fullmatch(path) is None:
            medium = response.headers.get("content-type", "")
            self.check_answer(response.request.method, path, response.status_code, medium, response.content)
            self._check_headers(response, path)

    def _check_headers(self, response: httpx.Response, path: str) -> None:
        """Each header that the document describes anywhere is declared where it is sent, and sent where it must be."""
        told = f"{response.request.method} {path} answered {response.status_code}"
        if response.headers["content-type" if response.content else "x-request-id"] == PROBLEM:
            assert response.json()["request_id"] == response.headers["x-request-id"], told
        assert (response.status_code == 401) == ("www-authenticate" in response.headers), told
        if (operation := self._operation(response.request.method, path)) is not None:
            declared = operation["responses"][str(response.status_code)]["headers"]
            sent = {name for name in self.document["components"]["headers"] if name in response.headers}
            assert sent <= declared.keys(), told
            assert "Location" in sent or response.status_code != 201, told

    def check_answer(self, method: str, path: str, status: int, medium: str, body: bytes) -> None:
        """Compare one answer.

        Raises:
            AssertionError: it is none that the document declares.
        """
        told = f"{method} {path} answered {status}"
        operation = self._operation(method, path)
        if operation is None:
            assert status in {401, 404, 405}, told
            declared: dict[str, Any] = {PROBLEM: {"schema": self._problem}}
        else:
            assert str(status) in operation["responses"], f"{told}, which is not declared"
            declared = operation["responses"][str(status)].get("content", {})
        if not declared:
            assert (medium, body) == ("", b""), f"{told} with a body"
            return
        kind = medium.partition(";")[0]
        assert kind in declared, f"{told} as {medium}"
        assert len(declared) > 1 or kind == medium, f"{told} as {medium}"
        if "json" not in kind:
            return
        document = json.loads(body, parse_constant=lambda constant: pytest.fail(f"{told} with {constant}"))
        error = next(self._validator(declared[kind]["schema"]).iter_errors(document), None)
        assert error is None, f"{told} with a body that is not as declared: {error}"
        if medium == PROBLEM:
            assert document["status"] == status, told
            assert document["type"].startswith("/problems/"), told

    def _operation(self, method: str, path: str) -> dict[str, Any] | None:
        for pattern, operations in self._paths:
            if pattern.fullmatch(path):
                found: dict[str, Any] | None = operations.get(method.lower())
                return found
        return None

    def _validator(self, schema: dict[str, Any]) -> Draft202012Validator:
        key = json.dumps(schema)
        if key not in self._validators:
            self._validators[key] = Draft202012Validator({**schema, **self._components}, validate_formats=True)
        return self._validators[key]


@cache
def service_contract() -> Contract:
    """The contract of every service of this version: no setting changes it."""
    return Contract(json.loads(encode_json(create_app(Settings(admin_key=None)).openapi())))
