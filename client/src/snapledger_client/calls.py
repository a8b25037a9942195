"""Every call of the interface, as what is sent and how its answer is read. Nothing here touches a network."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from typing import IO, Any, Generic, Self, TypeVar, Unpack
from urllib.parse import quote

import httpx
from pydantic_core import from_json

from snapledger_client.accounts import AuditRecord, Budget, DatasetFacts, Entry, IssuedKey, Me, Principal, Verification
from snapledger_client.base import Answer
from snapledger_client.following import Following
from snapledger_client.numbers import Number, decimal_text
from snapledger_client.plans import BatchPlan, FreePlan, Plan
from snapledger_client.problems import UnexpectedAnswer, problem_of
from snapledger_client.questions import Asked, PlanAsked, Shared, SharedAsked, Together, TogetherAsked
from snapledger_client.releases import Estimate, Histogram, Release, parse_release
from snapledger_client.statistics import Statistic
from snapledger_client.together import Batch, Derived, DerivedPlan

T = TypeVar("T")
Model = TypeVar("Model", bound=Answer)

KEY_HEADER = "Idempotency-Key"
PAGE = 1_000


@dataclass(frozen=True)
class Call(Generic[T]):
    """One call. One that is `repeatable` has the same effect however often it arrives."""

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    files: Mapping[str, tuple[str | None, bytes | IO[bytes]]] | None = None
    repeatable: bool = True

    @property
    def key(self) -> str | None:
        """The idempotency key of a release."""
        return self.headers.get(KEY_HEADER)

    def with_json(self, body: Mapping[str, Any], key: str | None = None) -> Self:
        """The call with a JSON body and, for a release, its idempotency key."""
        keyed = {} if key is None else {KEY_HEADER: key}
        return replace(self, body=_json(body), headers={"Content-Type": "application/json"} | keyed)


@dataclass(frozen=True)
class Page(Generic[T]):
    """A part of a list, and what the next part comes after, if there is one."""

    items: list[T]
    next: str | int | None


Pages = Callable[[str | int | None], Call[Page[T]]]
"""Makes the call for the page after a name, number or id."""


def answer_of(call: Call[T], response: httpx.Response) -> T:
    """What a response says.

    Raises:
        Problem: it refuses.
        UnexpectedAnswer: it is none of this interface's.
    """
    if response.is_success:
        try:
            return call.read(response.content)
        except ValueError as error:
            raise UnexpectedAnswer(f"{call.method} {call.path} was answered by something else") from error
    try:
        document = from_json(response.content)
    except ValueError:
        document = None
    problem = problem_of(response.status_code, document)
    problem.idempotency_key = call.key
    raise problem


def _path(*parts: str) -> str:
    """A path below /v1; a part that is empty or dots would name something else."""
    if any(part.strip(".") == "" for part in parts):
        raise ValueError("a name or an id has letters or digits")
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _nothing(_: bytes) -> None:
    return None


def _json(body: Mapping[str, Any]) -> bytes:
    def exact(value: object) -> str:
        if isinstance(value, Decimal):
            return decimal_text(value)
        raise TypeError(f"{type(value).__name__} is no JSON value")

    return json.dumps(body, default=exact, allow_nan=False).encode()


def _pages(path: str, member: str, read: Callable[[Any], T]) -> Pages[T]:
    def parse(content: bytes) -> Page[T]:
        document = from_json(content)
        try:
            return Page([read(item) for item in document[member]], document["next"])
        except (KeyError, TypeError) as error:
            raise ValueError("no page") from error

    def after(last: str | int | None) -> Call[Page[T]]:
        return Call("GET", path, parse, query={"limit": PAGE} | ({} if last is None else {"after": last}))

    return after


# Questions

_EXACT = {"epsilon", "accuracy", "alpha", "gamma", "guess"}


def _body(question: Mapping[str, Any], **asked: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON is any value
    """What is asked, and how, but for the key, which is a header."""
    body = dict(asked)
    for name, value in question.items():
        if name == "curve":
            first, last, points = value
            body[name] = {"from": decimal_text(first), "to": decimal_text(last), "points": points}
        elif name != "key":
            body[name] = decimal_text(value) if name in _EXACT and value is not None else value
    return body


def _free(read: Callable[[bytes], T], path: str, body: Mapping[str, Any]) -> Call[T]:
    return Call("POST", path, read).with_json(body)


def _paid(read: Callable[[bytes], T], path: str, body: Mapping[str, Any], key: str | None) -> Call[T]:
    """What may be charged: it may be repeated, since its key is the same each time."""
    return Call("POST", path, read).with_json(body, key or uuid.uuid4().hex)


def plan(dataset: str, statistic: Statistic, **asked: Unpack[PlanAsked]) -> Call[Plan]:
    """What a release would cost and promise."""
    return _free(Plan.parse, _path("datasets", dataset, "plan"), _body(asked, statistic=statistic))


def free_plan(
    statistic: Statistic, n: int, rows_per_unit: int, columns: Mapping[str, Any] | None, **asked: Unpack[PlanAsked]
) -> Call[FreePlan]:
    """What a release would promise on any dataset of so many rows."""
    public = {"n": n, "rows_per_unit": rows_per_unit} | ({} if columns is None else {"columns": columns})
    return _free(FreePlan.parse, _path("plan"), _body(asked, statistic=statistic, **public))


def _released(read: Callable[[bytes], T], dataset: str, statistic: Statistic, asked: Asked) -> Call[T]:
    path = _path("datasets", dataset, "releases")
    return _paid(read, path, _body(asked, statistic=statistic), asked.get("key"))


def release(dataset: str, statistic: Statistic, **asked: Unpack[Asked]) -> Call[Release]:
    """A release of any statistic."""
    return _released(parse_release, dataset, statistic, asked)


def estimate(dataset: str, statistic: Statistic, **asked: Unpack[Asked]) -> Call[Estimate]:
    """A release of one number."""
    return _released(Estimate.parse, dataset, statistic, asked)


def histogram(dataset: str, statistic: Statistic, **asked: Unpack[Asked]) -> Call[Histogram]:
    """A release of a number for each bin."""
    return _released(Histogram.parse, dataset, statistic, asked)


def plan_batch(dataset: str, items: Sequence[Mapping[str, Any]], **asked: Unpack[Shared]) -> Call[BatchPlan]:
    """What a batch would cost and promise."""
    return _free(BatchPlan.parse, _path("datasets", dataset, "batches", "plan"), _body(asked, items=list(items)))


def batch(dataset: str, items: Sequence[Mapping[str, Any]], **asked: Unpack[SharedAsked]) -> Call[Batch]:
    """Many releases at once."""
    return _paid(Batch.parse, _path("datasets", dataset, "batches"), _body(asked, items=list(items)), asked.get("key"))


def plan_derived(dataset: str, derived: Following, **asked: Unpack[Together]) -> Call[DerivedPlan]:
    """What a derived statistic would cost, and from what it would follow."""
    return _free(DerivedPlan.parse, _path("datasets", dataset, "derived", "plan"), _body(asked, derived=derived))


def derive(dataset: str, derived: Following, **asked: Unpack[TogetherAsked]) -> Call[Derived]:
    """A derived statistic."""
    return _paid(Derived.parse, _path("datasets", dataset, "derived"), _body(asked, derived=derived), asked.get("key"))


# Records


def one_release(release_id: str) -> Call[Release]:
    """An earlier release."""
    return Call("GET", _path("releases", release_id), parse_release)


def own_releases() -> Pages[Release]:
    """The caller's releases."""
    return _pages(_path("releases"), "releases", parse_release)


def releases(dataset: str) -> Pages[Release]:
    """A dataset's releases."""
    return _pages(_path("datasets", dataset, "releases"), "releases", parse_release)


def ledger(dataset: str) -> Pages[Entry]:
    """A dataset's ledger."""
    return _pages(_path("datasets", dataset, "ledger"), "entries", Entry.model_validate)


def verify(dataset: str) -> Call[Verification]:
    """A ledger's verification."""
    return Call("GET", _path("datasets", dataset, "ledger", "verification"), Verification.parse)


# Datasets and their budgets


def register(metadata: Mapping[str, Any], file: bytes | IO[bytes]) -> Call[DatasetFacts]:
    """A new dataset."""
    files: dict[str, tuple[str | None, bytes | IO[bytes]]] = {
        "metadata": (None, _json(metadata)),
        "file": ("table", file),
    }
    return Call("POST", _path("datasets"), DatasetFacts.parse, files=files, repeatable=False)


def datasets() -> Pages[DatasetFacts]:
    """The datasets that the caller may see."""
    return _pages(_path("datasets"), "datasets", DatasetFacts.model_validate)


def describe(dataset: str) -> Call[DatasetFacts]:
    """A dataset's public facts."""
    return Call("GET", _path("datasets", dataset), DatasetFacts.parse)


def close(dataset: str) -> Call[None]:
    """Delete a dataset's data."""
    return Call("DELETE", _path("datasets", dataset), _nothing, repeatable=False)


def budget(dataset: str) -> Call[Budget]:
    """A dataset's budget."""
    return Call("GET", _path("datasets", dataset, "budget"), Budget.parse)


def allow(dataset: str, principal: str, epsilon_limit: Number, window_days: int | None) -> Call[Budget]:
    """Set an allowance."""
    body: dict[str, Any] = {"epsilon_limit": decimal_text(epsilon_limit), "window_days": window_days}
    return Call("PUT", _path("datasets", dataset, "allowances", principal), Budget.parse).with_json(body)


def revoke(dataset: str, principal: str) -> Call[None]:
    """Revoke an allowance."""
    return Call("DELETE", _path("datasets", dataset, "allowances", principal), _nothing, repeatable=False)


def adjust(dataset: str, epsilon_limit: Number, reason: str) -> Call[Budget]:
    """Set a dataset's limit."""
    body = {"epsilon_limit": decimal_text(epsilon_limit), "reason": reason}
    path = _path("datasets", dataset, "budget", "adjustments")
    return Call("POST", path, Budget.parse, repeatable=False).with_json(body)


# Principals


def me() -> Call[Me]:
    """Who the caller is."""
    return Call("GET", _path("me"), Me.parse)


def replace_own_key() -> Call[IssuedKey]:
    """A new key for the caller."""
    return Call("POST", _path("me", "key"), IssuedKey.parse, repeatable=False)


def principals() -> Pages[Principal]:
    """All principals."""
    return _pages(_path("principals"), "principals", Principal.model_validate)


def _end(key_expires_at: datetime | None) -> dict[str, str]:
    if key_expires_at is None:
        return {}
    if key_expires_at.tzinfo is None:
        raise ValueError("key_expires_at needs a time zone")
    return {"key_expires_at": key_expires_at.isoformat()}


def create_principal(name: str, role: str, key_expires_at: datetime | None = None) -> Call[IssuedKey]:
    """A new principal."""
    call = Call("POST", _path("principals"), IssuedKey.parse, repeatable=False)
    return call.with_json({"name": name, "role": role} | _end(key_expires_at))


def replace_key(name: str, key_expires_at: datetime | None = None) -> Call[IssuedKey]:
    """A new key for a principal."""
    call = Call("POST", _path("principals", name, "keys"), IssuedKey.parse, repeatable=False)
    return call.with_json(_end(key_expires_at))


def audit() -> Pages[AuditRecord]:
    """The record of administrative acts."""
    return _pages(_path("audit"), "records", AuditRecord.model_validate)


def verify_audit() -> Call[Verification]:
    """That record's verification."""
    return Call("GET", _path("audit", "verification"), Verification.parse)


def disable_principal(name: str) -> Call[None]:
    """Disable a principal."""
    return Call("DELETE", _path("principals", name), _nothing, repeatable=False)
