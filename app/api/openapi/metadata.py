"""What the OpenAPI document says of the whole interface."""

from typing import Any, Final

DESCRIPTION: Final = """A REST service for differentially private statistics with a privacy budget ledger.

* **Numbers.** Every number in a request is read as the decimal that was written. A string of the same form is accepted
  wherever a number is. An ε is a whole number of units of 10⁻⁹; answers give it as a decimal string.
* **Order of errors.** 401 comes first, then 404 (also for what a key may not see), then 403, then errors in the body.
* **Lists.** `limit` is from 1 to 1,000 (100 by default), and the oldest item comes first unless `order` is `newest`.
  `next` is the `after` of the following page; the header `Link` has its address.
* **Query.** A parameter that a path does not have, or has once and gets twice, is a 422 before anything else but the
  key is looked at.
* **Made things.** A 201 has the path of what was made in `Location`. To change a limit or an allowance only if nobody
  else has changed it, send the `ETag` that you read as `If-Match`; otherwise the answer is 412. To make something with
  `PUT` only if it does not exist, send `If-None-Match: *`.
* **Errors.** `application/problem+json` (RFC 9457). No error depends on the values of a table.
* **Retries.** After a 503 or a lost answer, send the request again with the same `Idempotency-Key`. It is never charged
  twice.
"""

_TAGS: Final = {
    "releases": "Plans, which are free, and releases, batches and derived statistics, which debit their ε.",
    "budgets": "What datasets and principals may spend, the requests for more, and the ledger of what was spent.",
    "datasets": "Registering tables, and what everybody with access may know of them.",
    "figures": "Published answers under names, which others read in their own tools and cannot spend with.",
    "reports": "Batches that are released and published when a dataset succeeds another, within a budget set before.",
    "principals": "Who may call the service, and with which key.",
    "audit": "The audit log of administrative acts.",
    "operations": "What monitoring asks.",
}

METADATA: Final[dict[str, Any]] = {
    "description": DESCRIPTION,
    "contact": {"name": "The Snapledger authors"},
    "license_info": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    "servers": [{"url": "/", "description": "The service that answers this document."}],
    "openapi_tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
}
"""The arguments of `FastAPI` that describe the interface."""
