"""Options of httpx: where the service is, with which key, and how a call is sent."""

import os
from typing import Any

import httpx

from snapledger_client.calls import Call


def make_client_options(url: str | None, key: str | None, timeout: float) -> dict[str, Any]:
    """Options of an httpx client, from the arguments or, where they are None, SNAPLEDGER_URL and SNAPLEDGER_KEY.

    Raises:
        ValueError: one of them is given nowhere, or cannot be one.
    """
    url, key = url or os.environ.get("SNAPLEDGER_URL"), key or os.environ.get("SNAPLEDGER_KEY")
    if not url:
        raise ValueError("no URL of a service: give url=…, or set SNAPLEDGER_URL")
    if not _is_service_url(url):
        complete = f"http://{url}"  # as it was meant, if only the scheme is missing; never with somebody's password
        meant = f", such as {complete}" if "://" not in url and "@" not in url and _is_service_url(complete) else ""
        raise ValueError(f"the service's URL must begin with https:// or http:// and name a host{meant}")
    if not key:
        raise ValueError("no key: give key=…, or set SNAPLEDGER_KEY")
    if not (key.isascii() and key.isprintable()):
        raise ValueError("this is not a key: it has characters that keys never have")  # and the key is not repeated
    headers = {"Authorization": f"Bearer {key}", "Accept": "application/json", "User-Agent": "snapledger-client"}
    return {"base_url": url, "headers": headers, "timeout": timeout, "follow_redirects": False}


def _is_service_url(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    port = 443 if parsed.port is None else parsed.port
    return parsed.scheme in {"http", "https"} and bool(parsed.host) and 0 < port < 2**16


def make_request_options(call: Call[Any], timeout: float) -> dict[str, Any]:
    """Options of an httpx request; an upload's answer may take as long as reading the table does."""
    timeouts = httpx.Timeout(timeout, read=None) if call.files else httpx.Timeout(timeout)
    return {
        "method": call.method,
        "url": call.path,
        "params": dict(call.query),
        "headers": dict(call.headers),
        "content": call.body,
        "files": call.files,
        "timeout": timeouts,
    }
