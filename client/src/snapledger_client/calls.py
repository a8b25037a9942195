"""Every call of the interface, as what is sent and how its answer is read. Nothing here touches a network."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import IO, Any, Generic, Self, TypedDict, TypeVar, Unpack
from urllib.parse import quote

import httpx
from pydantic_core import from_json

from snapledger_client.accounts import Budget, DatasetFacts, Entry, IssuedKey, Me, Principal, Verification
from snapledger_client.base import Answer
from snapledger_client.numbers import Number, decimal_text
from snapledger_client.problems import UnexpectedAnswer, problem_of
from snapledger_client.releases import Estimate, Histogram, Plan, Release, parse_release
from snapledger_client.statistics import Statistic

T = TypeVar("T")
Model = TypeVar("Model", bound=Answer)

KEY_HEADER = "Idempotency-Key"
PAGE = 1_000


class Question(TypedDict, total=False):
    """How a statistic is asked for, as keyword arguments: exactly one of `epsilon` and `accuracy`, and what may differ.

    `epsilon` is what the release may cost, `accuracy` the radius wanted; it holds with probability 1 - `alpha`, by
    default 0.95. `gamma` and `grid_refinement` shape the mechanism. With `reuse=False` no earlier release answers.

    Examples:
        >>> from snapledger_client import Question
        >>> precise: Question = {"accuracy": 50, "alpha": "0.01"}
        >>> penguins.plan(mean("body_mass_g"), **precise).accuracy.alpha
        0.01
    """

    epsilon: Number
    accuracy: Number
    alpha: Number
    gamma: Number
    grid_refinement: int
    reuse: bool


class Asked(Question, total=False):
    """A `Question`, and the idempotency key of its release: by default a new one.

    Examples:
        >>> from snapledger_client import Asked
        >>> asked: Asked = {"epsilon": "0.5", "key": "monday's report"}
        >>> first, again = (penguins.mean("body_mass_g", **asked) for _ in range(2))
        >>> first.id == again.id
        True
    """

    key: str


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


def _question(statistic: Statistic, question: Question) -> dict[str, Any]:
    body: dict[str, Any] = {"statistic": statistic}
    for name, value in question.items():
        exact = name in {"epsilon", "accuracy", "alpha", "gamma"}
        body[name] = decimal_text(value) if exact else value  # type: ignore[arg-type]
    return body


def plan(dataset: str, statistic: Statistic, **question: Unpack[Question]) -> Call[Plan]:
    """What a release would cost and promise."""
    path = _path("datasets", dataset, "plan")
    return Call("POST", path, Plan.parse).with_json(_question(statistic, question))


def _released(read: Callable[[bytes], T], dataset: str, statistic: Statistic, asked: Asked) -> Call[T]:
    """A release: it may be repeated, since its key is the same each time."""
    question = {name: value for name, value in asked.items() if name != "key"}
    key = asked.get("key") or uuid.uuid4().hex
    path = _path("datasets", dataset, "releases")
    body = _question(statistic, question)  # type: ignore[arg-type]
    return Call("POST", path, read).with_json(body, key)


def release(dataset: str, statistic: Statistic, **asked: Unpack[Asked]) -> Call[Release]:
    """A release of any statistic."""
    return _released(parse_release, dataset, statistic, asked)


def estimate(dataset: str, statistic: Statistic, **asked: Unpack[Asked]) -> Call[Estimate]:
    """A release of one number."""
    return _released(Estimate.parse, dataset, statistic, asked)


def histogram(dataset: str, statistic: Statistic, **asked: Unpack[Asked]) -> Call[Histogram]:
    """A release of a histogram."""
    return _released(Histogram.parse, dataset, statistic, asked)


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


def create_principal(name: str, role: str) -> Call[IssuedKey]:
    """A new principal."""
    call = Call("POST", _path("principals"), IssuedKey.parse, repeatable=False)
    return call.with_json({"name": name, "role": role})


def replace_key(name: str) -> Call[IssuedKey]:
    """A new key for a principal."""
    return Call("POST", _path("principals", name, "keys"), IssuedKey.parse, repeatable=False)


def disable_principal(name: str) -> Call[None]:
    """Disable a principal."""
    return Call("DELETE", _path("principals", name), _nothing, repeatable=False)
