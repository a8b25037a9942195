"""All calls of the API: what each sends, and how its response is parsed. This module does no network access."""

import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import IO, Any, Generic, Self, TypeVar, Unpack, cast
from urllib.parse import quote

import httpx
from pydantic_core import from_json

from snapledger_client.derived_statistics import DerivedStatistic
from snapledger_client.models.accounts import (
    AuditRecord,
    Budget,
    BudgetRequest,
    Connections,
    DatasetFacts,
    Draft,
    Entry,
    GrantedAllowance,
    Grantee,
    Health,
    IssuedKey,
    LatestVerification,
    Limit,
    Me,
    Principal,
    Verification,
)
from snapledger_client.models.base import TaggedAnswer
from snapledger_client.models.batches import Batch, BatchPlan
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.figures import Collection, Figure
from snapledger_client.models.plans import FreePlan, Plan
from snapledger_client.models.releases import Estimate, Histogram, Release, parse_release
from snapledger_client.models.reports import Report
from snapledger_client.numbers import Number, decimal_text, json_value, value_text
from snapledger_client.options import (
    AnyOptions,
    BatchOptions,
    BatchPlanOptions,
    DerivedOptions,
    DerivedPlanOptions,
    PlanOptions,
    ReleaseOptions,
)
from snapledger_client.problems import Unauthenticated, UnexpectedAnswer, parse_problem
from snapledger_client.statistics import Statistic

T = TypeVar("T")

Match = str | GrantedAllowance | Limit | Figure | Collection | Report
"""An entity tag, or an answer that has one."""

KEY_HEADER = "Idempotency-Key"
PAGE_SIZE = 1_000


@dataclass(frozen=True)
class Call(Generic[T]):
    """One call.

    A `repeatable` call has the same effect however often the service receives it. Before the response to one that
    `reads_table`, the service reads a whole table.
    """

    method: str
    path: str
    read: Callable[[bytes], T]
    query: Mapping[str, str | int] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    files: Mapping[str, tuple[str | None, bytes | IO[bytes]]] | None = None
    repeatable: bool = True
    reads_table: bool = False

    @property
    def can_be_sent_again(self) -> bool:
        """Whether a lost attempt can be repeated: the body of an upload from a pipe is gone after the first one."""
        return all(getattr(file, "can_be_sent_again", True) for _, file in (self.files or {}).values())

    @property
    def key(self) -> str | None:
        """The idempotency key of a release."""
        return self.headers.get(KEY_HEADER)

    def with_json(self, body: Mapping[str, Any], key: str | None = None) -> Self:
        """Return the call with a JSON body and, for a release, an idempotency key."""
        keyed = {} if key is None else {KEY_HEADER: key}
        return replace(self, body=_encode_json(body), headers={"Content-Type": "application/json"} | keyed)

    def only_if(self, match: Match | None) -> Self:
        """Return a change that is refused if the thing is no longer as an answer showed it, or at an entity tag.

        A lost attempt is not repeated: the thing has changed if it took effect.

        Raises:
            ValueError: the answer has no entity tag.
        """
        if match is None:
            return self
        etag = match if isinstance(match, str) else match.etag
        if not etag:
            raise ValueError(
                "`if_match` has no entity tag: give an answer that was read from the service, or its `etag`"
            )
        return replace(self, headers={**self.headers, "If-Match": etag}, repeatable=False)

    def only_if_new(self, only_new: bool) -> Self:  # noqa: FBT001 - an option of the caller
        """Return a change that, with `only_new`, is refused if the thing exists; a lost attempt is not repeated."""
        if not only_new:
            return self
        return replace(self, headers={**self.headers, "If-None-Match": "*"}, repeatable=False)

    def as_rehearsal(self) -> Self:
        """Return a call for releases as one for a rehearsal of them; any other call as it is."""
        if self.key is None or self.body is None:
            return self
        return replace(self, body=_encode_json(json.loads(self.body) | {"rehearse": True}))


@dataclass(frozen=True)
class Page(Generic[T]):
    """A page of a list, and the `after` of the next page, or None."""

    items: list[T]
    next: str | int | None


Pages = Callable[[str | int | None], Call[Page[T]]]
"""A function that returns the call for the page after a name, number or id."""


def read_response(call: Call[T], response: httpx.Response) -> T:
    """Return the parsed response to a call.

    Raises:
        Problem: the service refused the call.
        UnexpectedAnswer: the response is not one of this API.
    """
    if response.is_success:
        try:
            answer = call.read(response.content)
        except ValueError as error:
            raise UnexpectedAnswer(
                f"{call.method} {call.path}: the answer is not from Snapledger; check the URL"
            ) from error
        if isinstance(answer, TaggedAnswer):
            answer.tag(response.headers.get("ETag", ""))
        return answer
    try:
        document = from_json(response.content)
    except ValueError:
        document = None
    problem = parse_problem(response.status_code, document)
    problem.idempotency_key = call.key
    if isinstance(problem, Unauthenticated):
        problem.anonymous = "Authorization" not in response.request.headers
    raise problem


def _make_path(*parts: str) -> str:
    """Return a path below /v1. Refuse an empty or dotted part, which would lead to another resource."""
    if any(part.strip(".") == "" for part in parts):
        raise ValueError("a name or an id must have letters or digits")
    return "/v1/" + "/".join(quote(part, safe="") for part in parts)


def _read_nothing(_: bytes) -> None:
    return None


def _encode_json(body: Mapping[str, Any]) -> bytes:
    return json.dumps(body, default=json_value, allow_nan=False).encode()


def _list_pages(
    path: str,
    member: str,
    read: Callable[[Any], T],
    query: Mapping[str, str] | None = None,
    *,
    newest: bool = False,
) -> Pages[T]:
    def parse(content: bytes) -> Page[T]:
        document = from_json(content)
        try:
            return Page([read(item) for item in document[member]], document["next"])
        except (KeyError, TypeError) as error:
            raise ValueError("the answer is not a page of a list") from error

    def request_page(last: str | int | None) -> Call[Page[T]]:
        asked: dict[str, str | int] = {"limit": PAGE_SIZE, **(query or {}), **({"order": "newest"} if newest else {})}
        return Call("GET", path, parse, query=asked if last is None else asked | {"after": last})

    return request_page


# Questions

_DECIMAL_OPTIONS = {"epsilon", "accuracy", "relative_accuracy", "alpha", "gamma", "guess"}


def _make_body(options: Mapping[str, Any], **members: Any) -> dict[str, Any]:  # noqa: ANN401 - JSON is any value
    """Return a body with the members and the options, but without the idempotency key, which is a header.

    Options that are None, and the default of `reuse`, are left to the service.
    """
    for name, value in options.items():
        if value is None or (name == "reuse" and value is True):
            continue
        if name == "curve":
            try:
                first, last, points = value
            except (TypeError, ValueError) as error:
                raise ValueError(
                    "`curve` must be the first ε, the last ε and the number of points, such as (0.1, 10, 50)"
                ) from error
            members[name] = {"from": decimal_text(first), "to": decimal_text(last), "points": points}
        elif name == "guesses":
            members[name] = {guess: value_text(number) for guess, number in value.items()}
        elif name != "key":
            members[name] = decimal_text(value) if name in _DECIMAL_OPTIONS else value
    return members


def choose_release_options(options: AnyOptions) -> ReleaseOptions:
    """Return the options of a release, from those that its method takes.

    Raises:
        ValueError: there are guesses of a derived statistic.
    """
    if options.get("guesses"):
        raise ValueError("`guesses` goes with a derived statistic: give one number as `guess`")
    return cast("ReleaseOptions", {name: value for name, value in options.items() if name != "guesses"})


def choose_derived_options(statistic: DerivedStatistic, options: AnyOptions) -> DerivedOptions:
    """Return the options of a derived statistic, from those that its method takes; a `guess` is one of its value."""
    chosen = {name: value for name, value in options.items() if name != "guess"}
    if options.get("guess") is not None:
        chosen["guesses"] = {statistic["kind"]: options["guess"], **(options.get("guesses") or {})}
    return cast("DerivedOptions", chosen)


def _post_plan(read: Callable[[bytes], T], path: str, body: Mapping[str, Any]) -> Call[T]:
    """Return a call that is free."""
    return Call("POST", path, read).with_json(body)


def _post_release(read: Callable[[bytes], T], path: str, body: Mapping[str, Any], key: str | None) -> Call[T]:
    """Return a call that may be charged. It is repeatable, since each attempt sends the same key."""
    return Call("POST", path, read).with_json(body, key or uuid.uuid4().hex)


def plan(dataset: str, statistic: Statistic, **options: Unpack[PlanOptions]) -> Call[Plan]:
    """Plan a release: what it would cost and promise."""
    return _post_plan(Plan.parse, _make_path("datasets", dataset, "plan"), _make_body(options, statistic=statistic))


def plan_without_dataset(
    statistic: Statistic, n: int, rows_per_unit: int, columns: Mapping[str, Any] | None, **options: Unpack[PlanOptions]
) -> Call[FreePlan]:
    """Plan a release on any dataset of `n` rows."""
    public = {"n": n, "rows_per_unit": rows_per_unit} | ({} if columns is None else {"columns": columns})
    return _post_plan(FreePlan.parse, _make_path("plan"), _make_body(options, statistic=statistic, **public))


def _release(read: Callable[[bytes], T], dataset: str, statistic: Statistic, options: ReleaseOptions) -> Call[T]:
    path = _make_path("datasets", dataset, "releases")
    return _post_release(read, path, _make_body(options, statistic=statistic), options.get("key"))


def release(dataset: str, statistic: Statistic, **options: Unpack[ReleaseOptions]) -> Call[Release]:
    """Release any statistic."""
    return _release(parse_release, dataset, statistic, options)


def release_estimate(dataset: str, statistic: Statistic, **options: Unpack[ReleaseOptions]) -> Call[Estimate]:
    """Release a statistic that is one number."""
    return _release(Estimate.parse, dataset, statistic, options)


def release_histogram(dataset: str, statistic: Statistic, **options: Unpack[ReleaseOptions]) -> Call[Histogram]:
    """Release a statistic that has a number for each bin."""
    return _release(Histogram.parse, dataset, statistic, options)


def plan_batch(
    dataset: str, items: Sequence[Mapping[str, Any]], **options: Unpack[BatchPlanOptions]
) -> Call[BatchPlan]:
    """Plan a batch: what it would cost and promise."""
    path = _make_path("datasets", dataset, "batches", "plan")
    return _post_plan(BatchPlan.parse, path, _make_body(options, items=list(items)))


def release_batch(dataset: str, items: Sequence[Mapping[str, Any]], **options: Unpack[BatchOptions]) -> Call[Batch]:
    """Release many statistics at once."""
    path = _make_path("datasets", dataset, "batches")
    return _post_release(Batch.parse, path, _make_body(options, items=list(items)), options.get("key"))


def plan_derived(dataset: str, derived: DerivedStatistic, **options: Unpack[DerivedPlanOptions]) -> Call[DerivedPlan]:
    """Plan a derived statistic: its components, and what they would cost."""
    path = _make_path("datasets", dataset, "derived", "plan")
    return _post_plan(DerivedPlan.parse, path, _make_body(options, derived=derived))


def derive(dataset: str, derived: DerivedStatistic, **options: Unpack[DerivedOptions]) -> Call[Derived]:
    """Derive a statistic from releases."""
    path = _make_path("datasets", dataset, "derived")
    return _post_release(Derived.parse, path, _make_body(options, derived=derived), options.get("key"))


# Records


def get_release(release_id: str) -> Call[Release]:
    """Get an earlier release."""
    return Call("GET", _make_path("releases", release_id), parse_release)


def list_own_releases(*, newest: bool = False) -> Pages[Release]:
    """List the caller's releases."""
    return _list_pages(_make_path("releases"), "releases", parse_release, newest=newest)


def list_releases(dataset: str, *, newest: bool = False) -> Pages[Release]:
    """List a dataset's releases."""
    return _list_pages(_make_path("datasets", dataset, "releases"), "releases", parse_release, newest=newest)


def list_ledger(dataset: str, *, newest: bool = False) -> Pages[Entry]:
    """List the entries of a dataset's ledger."""
    return _list_pages(_make_path("datasets", dataset, "ledger"), "entries", Entry.model_validate, newest=newest)


def verify_ledger(dataset: str, *, incremental: bool = False) -> Call[Verification]:
    """Verify a dataset's ledger, whole or from its latest verified entry on."""
    query = {"incremental": "true"} if incremental else {}
    return Call("GET", _make_path("datasets", dataset, "ledger", "verification"), Verification.parse, query=query)


def get_latest_verification(dataset: str) -> Call[LatestVerification]:
    """Get the latest verification of a dataset's ledger."""
    path = _make_path("datasets", dataset, "ledger", "verification", "latest")
    return Call("GET", path, LatestVerification.parse)


# Datasets and their budgets


def register_source(metadata: Mapping[str, Any]) -> Call[DatasetFacts]:
    """Register a dataset whose `source` is in the metadata."""
    call = Call("POST", _make_path("datasets"), DatasetFacts.parse, repeatable=False, reads_table=True)
    return call.with_json(metadata)


def register_dataset(metadata: Mapping[str, Any], file: IO[bytes]) -> Call[DatasetFacts]:
    """Register a dataset; `file` is of `uploads.open_table`."""
    files: dict[str, tuple[str | None, bytes | IO[bytes]]] = {
        "metadata": (None, _encode_json(metadata)),
        "file": ("table", file),
    }
    path = _make_path("dataset-uploads")
    return Call("POST", path, DatasetFacts.parse, files=files, repeatable=False, reads_table=True)


def draft_source(source: Mapping[str, Any]) -> Call[Draft]:
    """Draft the metadata of a table of a connection."""
    return Call("POST", _make_path("drafts"), Draft.parse, reads_table=True).with_json({"source": source})


def draft_file(known: Mapping[str, Any], file: IO[bytes]) -> Call[Draft]:
    """Draft the metadata of a file, which is of `uploads.open_table`; `known` is what is known of its format."""
    files: dict[str, tuple[str | None, bytes | IO[bytes]]] = {
        "metadata": (None, _encode_json(known)),
        "file": ("table", file),
    }
    return Call("POST", _make_path("draft-uploads"), Draft.parse, files=files, reads_table=True)


def list_datasets() -> Pages[DatasetFacts]:
    """List the datasets that the caller may see."""
    return _list_pages(_make_path("datasets"), "datasets", DatasetFacts.model_validate)


def describe_dataset(dataset: str) -> Call[DatasetFacts]:
    """Get a dataset's public facts."""
    return Call("GET", _make_path("datasets", dataset), DatasetFacts.parse)


def revalidate_dataset(dataset: str) -> Call[DatasetFacts]:
    """Repeat the checks of registration on a live table."""
    path = _make_path("datasets", dataset, "revalidation")
    return Call("POST", path, DatasetFacts.parse, reads_table=True)


def list_connections() -> Call[Connections]:
    """List the connections that the operator configured."""
    return Call("GET", _make_path("connections"), Connections.parse)


def delete_dataset(dataset: str) -> Call[None]:
    """Delete a dataset's data."""
    return Call("DELETE", _make_path("datasets", dataset), _read_nothing, repeatable=False)


def get_budget(dataset: str) -> Call[Budget]:
    """Get a dataset's budget."""
    return Call("GET", _make_path("datasets", dataset, "budget"), Budget.parse)


def set_allowance(  # noqa: PLR0913 - the members of the request
    dataset: str,
    principal: str,
    epsilon_limit: Number,
    window_days: int | None,
    if_match: Match | None,
    *,
    only_new: bool,
) -> Call[Budget]:
    """Set an allowance."""
    body: dict[str, Any] = {"epsilon_limit": decimal_text(epsilon_limit), "window_days": window_days}
    call = Call("PUT", _make_path("datasets", dataset, "allowances", principal), Budget.parse)
    return call.with_json(body).only_if(if_match).only_if_new(only_new)


def revoke_allowance(dataset: str, principal: str, if_match: Match | None) -> Call[None]:
    """Revoke an allowance."""
    path = _make_path("datasets", dataset, "allowances", principal)
    return Call("DELETE", path, _read_nothing, repeatable=False).only_if(if_match)


def get_allowance(dataset: str, principal: str) -> Call[GrantedAllowance]:
    """Get an allowance as it was granted."""
    return Call("GET", _make_path("datasets", dataset, "allowances", principal), GrantedAllowance.parse)


def get_limit(dataset: str) -> Call[Limit]:
    """Get a dataset's limit."""
    return Call("GET", _make_path("datasets", dataset, "budget", "limit"), Limit.parse)


def get_entry(dataset: str, seq: int) -> Call[Entry]:
    """Get one entry of a dataset's ledger."""
    return Call("GET", _make_path("datasets", dataset, "ledger", str(seq)), Entry.parse)


def get_budget_request(dataset: str, request_id: str) -> Call[BudgetRequest]:
    """Get one request for budget."""
    return Call("GET", _make_path("datasets", dataset, "budget-requests", request_id), BudgetRequest.parse)


def get_principal(name: str) -> Call[Principal]:
    """Get a principal."""
    return Call("GET", _make_path("principals", name), Principal.parse)


def adjust_budget(dataset: str, epsilon_limit: Number, reason: str, if_match: Match | None) -> Call[Budget]:
    """Set a dataset's limit."""
    body = {"epsilon_limit": decimal_text(epsilon_limit), "reason": reason}
    path = _make_path("datasets", dataset, "budget", "adjustments")
    return Call("POST", path, Budget.parse, repeatable=False).with_json(body).only_if(if_match)


def list_grantees(dataset: str, to: str) -> Pages[Grantee]:
    """List the principals that may get an allowance (`spend`), or that may be made viewers (`view`)."""
    query = {} if to == "spend" else {"to": to}  # services of 1.0 do not know it
    return _list_pages(_make_path("datasets", dataset, "grantees"), "grantees", Grantee.model_validate, query)


def request_budget(dataset: str, epsilon: Number, reason: str) -> Call[BudgetRequest]:
    """Ask for a larger allowance. The same request, sent again while it is open, is the same."""
    body = {"epsilon": decimal_text(epsilon), "reason": reason}
    return Call("POST", _make_path("datasets", dataset, "budget-requests"), BudgetRequest.parse).with_json(body)


def list_budget_requests(dataset: str) -> Pages[BudgetRequest]:
    """List the requests for budget that the caller may see."""
    path = _make_path("datasets", dataset, "budget-requests")
    return _list_pages(path, "budget_requests", BudgetRequest.model_validate)


def grant_request(dataset: str, request_id: str, epsilon: Number | None, answer: str | None) -> Call[BudgetRequest]:
    """Grant a request for budget."""
    body = {"epsilon": None if epsilon is None else decimal_text(epsilon), "answer": answer}
    path = _make_path("datasets", dataset, "budget-requests", request_id, "grant")
    return Call("POST", path, BudgetRequest.parse).with_json(body)


def decline_request(dataset: str, request_id: str, answer: str | None) -> Call[BudgetRequest]:
    """Decline a request for budget."""
    path = _make_path("datasets", dataset, "budget-requests", request_id, "decline")
    return Call("POST", path, BudgetRequest.parse).with_json({"answer": answer})


# Operations


def get_health(*, database: bool) -> Call[Health]:
    """Ask whether the service is ready or, without its database, whether its process answers."""
    return Call("GET", "/readyz" if database else "/healthz", Health.parse)


def get_metrics() -> Call[str]:
    """Get the counts for Prometheus."""
    return Call("GET", "/metrics", bytes.decode, headers={"Accept": "text/plain"})


# Principals


def get_me() -> Call[Me]:
    """Get the caller's name, role and allowances."""
    return Call("GET", _make_path("me"), Me.parse)


def replace_own_key() -> Call[IssuedKey]:
    """Replace the caller's key."""
    return Call("POST", _make_path("me", "key"), IssuedKey.parse, repeatable=False)


def list_principals() -> Pages[Principal]:
    """List all principals."""
    return _list_pages(_make_path("principals"), "principals", Principal.model_validate)


def _encode_expiry(key_expires_at: datetime | None) -> dict[str, str]:
    if key_expires_at is None:
        return {}
    if key_expires_at.tzinfo is None:
        raise ValueError("key_expires_at needs a time zone")
    return {"key_expires_at": key_expires_at.isoformat()}


def create_principal(
    name: str, role: str, key_expires_at: datetime | None = None, display_name: str | None = None
) -> Call[IssuedKey]:
    """Create a principal."""
    call = Call("POST", _make_path("principals"), IssuedKey.parse, repeatable=False)
    shown = {} if display_name is None else {"display_name": display_name}
    return call.with_json({"name": name, "role": role} | _encode_expiry(key_expires_at) | shown)


def set_display_name(name: str, display_name: str | None) -> Call[Principal]:
    """Set a principal's display name."""
    call = Call("PUT", _make_path("principals", name, "display-name"), Principal.parse)
    return call.with_json({"display_name": display_name})


def replace_key(name: str, key_expires_at: datetime | None = None) -> Call[IssuedKey]:
    """Replace a principal's key."""
    call = Call("POST", _make_path("principals", name, "keys"), IssuedKey.parse, repeatable=False)
    return call.with_json(_encode_expiry(key_expires_at))


def list_audit() -> Pages[AuditRecord]:
    """List the records of the audit log."""
    return _list_pages(_make_path("audit"), "records", AuditRecord.model_validate)


def verify_audit() -> Call[Verification]:
    """Verify the audit log."""
    return Call("GET", _make_path("audit", "verification"), Verification.parse)


def get_latest_audit_verification() -> Call[LatestVerification]:
    """Get the latest verification of the audit log."""
    return Call("GET", _make_path("audit", "verification", "latest"), LatestVerification.parse)


def disable_principal(name: str) -> Call[None]:
    """Disable a principal."""
    return Call("DELETE", _make_path("principals", name), _read_nothing, repeatable=False)
