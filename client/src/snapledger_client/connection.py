"""Options for httpx: the service's URL, the key, and how a call is sent."""

import os
from typing import Any

import httpx

from snapledger_client.calls import Call


def make_client_options(url: str | None, key: str | None, timeout: float, *, anonymous: bool) -> dict[str, Any]:
    """Return the options of an httpx client; the defaults of `url` and `key` are SNAPLEDGER_URL and SNAPLEDGER_KEY.

    Raises:
        ValueError: the URL or the key is missing or not valid, or there is a key that an anonymous client has not.
    """
    if anonymous and key is not None:
        raise ValueError("an anonymous client has no key: give key=… or anonymous=True")
    headers = {"Accept": "application/json", "User-Agent": "snapledger-client"}
    options = {"base_url": find_url(url), "headers": headers, "timeout": timeout, "follow_redirects": False}
    return options if anonymous else with_token(options, _find_key(key))


def _find_key(key: str | None) -> str:
    key = key or os.environ.get("SNAPLEDGER_KEY")
    if not key:
        raise ValueError("no key: give key=…, set SNAPLEDGER_KEY, or sign in with Client.sign_in()")
    if not (key.isascii() and key.isprintable()):
        raise ValueError("this is not a key: it has characters that keys never have")  # never show the key
    return key


def find_url(url: str | None) -> str:
    """Return the service's URL, which is SNAPLEDGER_URL by default.

    Raises:
        ValueError: the URL is missing or not valid.
    """
    url = url or os.environ.get("SNAPLEDGER_URL")
    if not url:
        raise ValueError("no URL of a service: give url=…, or set SNAPLEDGER_URL")
    if not _is_service_url(url):
        complete = f"http://{url}"  # suggested if only the scheme is missing
        meant = f", such as {complete}" if "://" not in url and "@" not in url and _is_service_url(complete) else ""
        raise ValueError(f"the service's URL must begin with https:// or http:// and name a host{meant}")
    return url


def _is_service_url(url: str) -> bool:
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return False
    port = 443 if parsed.port is None else parsed.port
    return parsed.scheme in {"http", "https"} and bool(parsed.host) and 0 < port < 2**16


def make_request_options(call: Call[Any], timeout: float) -> dict[str, Any]:
    """Return the options of an httpx request. A registration has no read timeout: checking a large table takes long."""
    timeouts = httpx.Timeout(timeout, read=None) if call.reads_table else httpx.Timeout(timeout)
    return {
        "method": call.method,
        "url": call.path,
        "params": dict(call.query),
        "headers": dict(call.headers),
        "content": call.body,
        "files": call.files,
        "timeout": timeouts,
    }


def with_token(options: dict[str, Any], token: str) -> dict[str, Any]:
    """Return the options of a client or a request that sends a key or an access token."""
    return options | {"headers": options["headers"] | {"Authorization": f"Bearer {token}"}}
