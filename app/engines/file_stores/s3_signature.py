"""Sign requests to S3 by AWS Signature Version 4: requests without a body, and their headers."""

import hmac
from collections.abc import Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import urlsplit

_ALGORITHM = "AWS4-HMAC-SHA256"
_NO_BODY = sha256(b"").hexdigest()


class Credentials(NamedTuple):
    """A pair of access keys for the buckets of a region."""

    key: str
    secret: str
    region: str


def sign_request(
    credentials: Credentials, method: str, url: str, at: datetime | None = None, also: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Return the headers that authorise a request without a body.

    `url` has its path and query escaped, and the query sorted. The headers `also` are signed and returned, too.

    Source: AWS, "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)".
    """
    parts, time = urlsplit(url), (at or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    headers = {
        **{name.lower(): value for name, value in (also or {}).items()},
        "host": parts.netloc,
        "x-amz-content-sha256": _NO_BODY,
        "x-amz-date": time,
    }
    signed = ";".join(sorted(headers))
    lines = "".join(f"{name}:{headers[name]}\n" for name in sorted(headers))
    request = f"{method}\n{parts.path or '/'}\n{parts.query}\n{lines}\n{signed}\n{_NO_BODY}"
    scope = f"{time[:8]}/{credentials.region}/s3/aws4_request"
    text = f"{_ALGORITHM}\n{time}\n{scope}\n{sha256(request.encode()).hexdigest()}"
    key = f"AWS4{credentials.secret}".encode()
    for part in scope.split("/"):
        key = _digest(key, part)
    signature = _digest(key, text).hex()
    headers["authorization"] = (
        f"{_ALGORITHM} Credential={credentials.key}/{scope},SignedHeaders={signed},Signature={signature}"
    )
    return headers


def _digest(key: bytes, text: str) -> bytes:
    return hmac.digest(key, text.encode(), "sha256")
