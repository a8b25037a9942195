"""Requests to the identity provider: its configuration, its keys, and its endpoints for tokens.

Each has a timeout and a limit on the size of the answer, follows no redirect, and goes only to URLs that nobody on the
network can change answers of.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

import httpx

from app.config import is_private_url

TIMEOUT_SECONDS: Final = 5
_MAX_BYTES: Final = 2**20

FAILURES: Final = (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError, TypeError, RecursionError)
"""What a request to the provider can raise: it is away, or its answer is not valid."""


def open_client() -> httpx.AsyncClient:
    """Return a client for some requests to the provider."""
    return httpx.AsyncClient(timeout=TIMEOUT_SECONDS, follow_redirects=False)


async def _read_object(answer: httpx.Response) -> Mapping[str, Any]:
    content = b""
    async for chunk in answer.aiter_bytes():
        content += chunk
        if len(content) > _MAX_BYTES:
            raise ValueError("the identity provider's answer is too large")
    document = json.loads(content)
    if not isinstance(document, dict):
        raise TypeError("the identity provider's answer is not a JSON object")
    return document


async def fetch_json(client: httpx.AsyncClient, url: str) -> Mapping[str, Any]:
    """Return the JSON object at a URL."""
    async with client.stream("GET", url) as answer:
        answer.raise_for_status()
        return await _read_object(answer)


async def fetch_metadata(client: httpx.AsyncClient, issuer: str) -> Mapping[str, Any]:
    """Return the provider's configuration (OpenID Connect Discovery 1.0).

    Raises:
        ValueError: it is that of another issuer.
    """
    document = await fetch_json(client, f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if document.get("issuer") != issuer:
        raise ValueError("the identity provider's configuration names another issuer")
    return document


def read_url(metadata: Mapping[str, Any], name: str) -> str:
    """Return a URL from the provider's configuration.

    Raises:
        ValueError: it is missing, or answers from it could be changed on the network.
    """
    url = metadata.get(name)
    if not isinstance(url, str) or not is_private_url(url):
        raise ValueError(f"the identity provider's configuration has no valid {name}")
    return url


async def post_form(
    client: httpx.AsyncClient, url: str, form: Mapping[str, str], auth: tuple[str, str] | None
) -> tuple[int, Mapping[str, Any]]:
    """Send a form, and return the answer's status and its JSON object; an empty answer is an empty object."""
    given = httpx.BasicAuth(*auth) if auth else httpx.USE_CLIENT_DEFAULT
    async with client.stream(
        "POST", url, data=dict(form), headers={"Accept": "application/json"}, auth=given
    ) as answer:
        if answer.status_code >= httpx.codes.INTERNAL_SERVER_ERROR or answer.headers.get("content-length") == "0":
            return answer.status_code, {}
        return answer.status_code, await _read_object(answer)
