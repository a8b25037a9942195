"""The exceptions: one class for each problem (RFC 9457) of the service, with its members."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar


class SnapledgerError(Exception):
    """Anything that kept a call from being answered; `idempotency_key` is that of a release, to be repeated with it.

    Examples:
        >>> from snapledger_client import SnapledgerError
        >>> try:
        ...     client.dataset("no-such").budget()
        ... except SnapledgerError as error:
        ...     print(error)
        Not found. It does not exist, or your key may not see it: check the name in the path.
    """

    idempotency_key: str | None = None


class Unreachable(SnapledgerError):
    """No answer came, however often it was tried. Whether a release was charged is open: repeat it with its key.

    Examples:
        >>> from snapledger_client import Client, Unreachable
        >>> try:
        ...     with Client("http://127.0.0.1:9", key="any", retries=0) as away:
        ...         away.dataset("penguins").mean("body_mass_g", epsilon="0.5", key="my first question")
        ... except Unreachable as error:
        ...     print(error.idempotency_key)
        my first question
    """


class UnexpectedAnswer(SnapledgerError):
    """What answered does not speak as this service does: a proxy's page perhaps, or another version.

    Examples:
        >>> from snapledger_client import UnexpectedAnswer
        >>> issubclass(UnexpectedAnswer, SnapledgerError)
        True
    """


class Problem(SnapledgerError):
    """The service's refusal: `type`, `title`, `status`, `detail`, and `members`, which has all of these and its own.

    A problem whose type is unknown here is an instance of this class itself.

    Examples:
        >>> from snapledger_client import Problem
        >>> try:
        ...     penguins.mean("no_such_column", epsilon="0.5")
        ... except Problem as problem:
        ...     print(problem.status, problem.type)
        422 /problems/invalid-request
    """

    slug: ClassVar[str] = ""

    def __init__(self, members: Mapping[str, Any]) -> None:
        super().__init__(members)  # what pickle makes it again from
        self.members = dict(members)

    @property
    def type(self) -> str:
        """A stable path that names the problem."""
        return str(self.members.get("type", "about:blank"))

    @property
    def title(self) -> str:
        """The problem in a few words."""
        return str(self.members.get("title", "Refused"))

    @property
    def status(self) -> int:
        """The HTTP status."""
        return int(self.members["status"])

    @property
    def detail(self) -> str:
        """What to do about it."""
        return str(self.members.get("detail", ""))

    def __str__(self) -> str:
        return f"{self.title}. {self.detail}".rstrip()


class BudgetExhausted(Problem):
    """The dataset or the caller's allowance has less left than this costs; nothing was charged.

    Examples:
        >>> from snapledger_client import BudgetExhausted
        >>> try:
        ...     penguins.mean("body_mass_g", epsilon=600, reuse=False)
        ... except BudgetExhausted as exhausted:
        ...     print(exhausted.scope, exhausted.requested, exhausted.remaining <= exhausted.limit)
        allowance 600 True
    """

    slug = "budget-exhausted"

    @property
    def scope(self) -> str:
        """Whose budget it is: `dataset` or `allowance`."""
        return str(self.members["scope"])

    @property
    def requested(self) -> Decimal:
        """The ε that was asked for."""
        return Decimal(self.members["requested"])

    @property
    def remaining(self) -> Decimal:
        """The ε that is left."""
        return Decimal(self.members["remaining"])

    @property
    def limit(self) -> Decimal:
        """The ε that may be spent in all."""
        return Decimal(self.members["limit"])


class AccuracyUnattainable(Problem):
    """The wanted accuracy costs more than one release may; `epsilon` is what it would take.

    Examples:
        >>> from snapledger_client import AccuracyUnattainable
        >>> try:
        ...     penguins.plan(mean("body_mass_g"), accuracy="0.001")
        ... except AccuracyUnattainable as problem:
        ...     print(problem.epsilon > 1000)
        True
    """

    slug = "accuracy-unattainable"

    @property
    def epsilon(self) -> Decimal:
        """The ε that it would take."""
        return Decimal(self.members["epsilon"])


class EpsilonTooLarge(Problem):
    """One release may cost `limit` at most.

    Examples:
        >>> from snapledger_client import EpsilonTooLarge
        >>> try:
        ...     penguins.plan(mean("body_mass_g"), epsilon=5000)
        ... except EpsilonTooLarge as problem:
        ...     print(problem.limit)
        1000
    """

    slug = "epsilon-too-large"

    @property
    def limit(self) -> Decimal:
        """The most that one release may cost."""
        return Decimal(self.members["limit"])


class InvalidRequest(Problem):
    """The request is not valid; `errors` says where and what.

    Examples:
        >>> from snapledger_client import InvalidRequest
        >>> try:
        ...     penguins.plan(mean("body_mass_g"), epsilon="0.5", accuracy=50)
        ... except InvalidRequest as problem:
        ...     print(problem.errors)
        [('body', 'needs either `epsilon` or `accuracy`, not both')]
    """

    slug = "invalid-request"

    @property
    def errors(self) -> list[tuple[str, str]]:
        """Each as (where, what)."""
        return [(error["where"], error["what"]) for error in self.members["errors"]]

    def __str__(self) -> str:
        return f"{self.title}: " + "; ".join(f"{where} {what}" for where, what in self.errors)


class Unauthenticated(Problem):
    """The key is missing, replaced or of somebody who was disabled.

    Examples:
        >>> from snapledger_client import Unauthenticated
        >>> with Client(key="wrong") as stranger:
        ...     stranger.me()
        Traceback (most recent call last):
        snapledger_client.problems.Unauthenticated: ...
    """

    slug = "unauthenticated"

    @property
    def reason(self) -> str:
        """Why the token of an identity provider is refused; empty for a key, about which nothing is said."""
        return "" if "Authorization" in self.detail else self.detail  # a header is not what users of this client send

    def __str__(self) -> str:
        reason = self.reason or "The service does not know this key: it may be mistyped, replaced or expired."
        return f"{self.title}. {reason} Give another with Client(key=…) or SNAPLEDGER_KEY."


class Forbidden(Problem):
    """The caller's role does not allow this.

    Examples:
        >>> from snapledger_client import Forbidden
        >>> client.create_principal("eve", "admin")
        Traceback (most recent call last):
        snapledger_client.problems.Forbidden: ...
    """

    slug = "forbidden"


class NotFound(Problem):
    """There is no such thing, or the key does not show it.

    Examples:
        >>> from snapledger_client import NotFound
        >>> client.dataset("no-such").describe()
        Traceback (most recent call last):
        snapledger_client.problems.NotFound: ...
    """

    slug = "not-found"


class AccuracyTrivial(Problem):
    """The statistic's public range is within the wanted radius already.

    Examples:
        >>> from snapledger_client import AccuracyTrivial
        >>> penguins.plan(mean("body_mass_g"), accuracy=9000)
        Traceback (most recent call last):
        snapledger_client.problems.AccuracyTrivial: ...
    """

    slug = "accuracy-trivial"


class KeyReused(Problem):
    """The idempotency key belongs to another request.

    Examples:
        >>> from snapledger_client import KeyReused
        >>> _ = penguins.mean("body_mass_g", epsilon="0.1", key="twice")
        >>> penguins.mean("body_mass_g", epsilon="0.2", key="twice")
        Traceback (most recent call last):
        snapledger_client.problems.KeyReused: ...
    """

    slug = "key-reused"


class NameTaken(Problem):
    """A name is given once, and for ever.

    Examples:
        >>> from snapledger_client import NameTaken
        >>> admin.create_principal("admin", "analyst")
        Traceback (most recent call last):
        snapledger_client.problems.NameTaken: ...
    """

    slug = "name-taken"


class StorageExhausted(Problem):
    """The stored answers of the dataset or the caller take as many bytes as they may; nothing was charged.

    Examples:
        >>> from snapledger_client import StorageExhausted
        >>> StorageExhausted.slug
        'storage-exhausted'
    """

    slug = "storage-exhausted"

    @property
    def scope(self) -> str:
        """Whose answers they are: those of the whole `dataset`, or of the caller's `allowance`."""
        return str(self.members["scope"])

    @property
    def stored_bytes(self) -> int:
        """How many bytes are stored."""
        return int(self.members["stored_bytes"])

    @property
    def limit_bytes(self) -> int:
        """How many bytes may be stored."""
        return int(self.members["limit_bytes"])


class DatasetClosed(Problem):
    """The dataset's data is deleted; its ledger and releases can still be read.

    Examples:
        >>> from snapledger_client import DatasetClosed
        >>> DatasetClosed.slug
        'closed'
    """

    slug = "closed"


class DatasetStale(Problem):
    """The table behind the dataset is not the one that was registered; nothing can be released of it.

    Examples:
        >>> from snapledger_client import DatasetStale
        >>> DatasetStale.slug
        'stale'
    """

    slug = "stale"


class LastAdmin(Problem):
    """The last admin cannot be disabled.

    Examples:
        >>> from snapledger_client import LastAdmin
        >>> LastAdmin.slug
        'last-admin'
    """

    slug = "last-admin"


class MalformedJson(Problem):
    """The body is not JSON.

    Examples:
        >>> from snapledger_client import MalformedJson
        >>> MalformedJson.slug
        'malformed-json'
    """

    slug = "malformed-json"


class KeyRequired(Problem):
    """A fresh draw needs an idempotency key; this client always sends one.

    Examples:
        >>> from snapledger_client import KeyRequired
        >>> KeyRequired.slug
        'key-required'
    """

    slug = "key-required"


class TooLarge(Problem):
    """The body is larger than the service takes.

    Examples:
        >>> from snapledger_client import TooLarge
        >>> TooLarge.slug
        'too-large'
    """

    slug = "too-large"


class TooSlow(Problem):
    """The body did not come in the time that it has; nothing was done.

    Examples:
        >>> from snapledger_client import TooSlow
        >>> TooSlow.slug
        'too-slow'
    """

    slug = "too-slow"


class UnsupportedMediaType(Problem):
    """The form of the body is not read there.

    Examples:
        >>> from snapledger_client import UnsupportedMediaType
        >>> UnsupportedMediaType.slug
        'unsupported-media-type'
    """

    slug = "unsupported-media-type"


class MethodNotAllowed(Problem):
    """The service does not know this call: it may be of another version.

    Examples:
        >>> from snapledger_client import MethodNotAllowed
        >>> MethodNotAllowed.slug
        'method-not-allowed'
    """

    slug = "method-not-allowed"


class BadRequest(Problem):
    """The request cannot be read.

    Examples:
        >>> from snapledger_client import BadRequest
        >>> BadRequest.slug
        'bad-request'
    """

    slug = "bad-request"


class RateLimited(Problem):
    """Too many requests, after all retries; wait a little.

    Examples:
        >>> from snapledger_client import RateLimited
        >>> RateLimited.slug
        'rate-limited'
    """

    slug = "rate-limited"


class Unavailable(Problem):
    """The service is busy or away, after all retries. Repeat a release with the same key: it is never charged twice.

    Examples:
        >>> from snapledger_client import Unavailable
        >>> Unavailable.slug
        'unavailable'
    """

    slug = "unavailable"


class Overloaded(Problem):
    """The service has too many calls at once, after all retries; nothing was done.

    Examples:
        >>> from snapledger_client import Overloaded
        >>> Overloaded.slug
        'overloaded'
    """

    slug = "overloaded"


class SealBroken(Problem):
    """What is stored was changed outside the service; nothing was charged. Tell the operator.

    Examples:
        >>> from snapledger_client import SealBroken
        >>> SealBroken.slug
        'seal-broken'
    """

    slug = "seal-broken"


class Internal(Problem):
    """A fault of the service's own.

    Examples:
        >>> from snapledger_client import Internal
        >>> Internal.slug
        'internal'
    """

    slug = "internal"


PROBLEM_TYPES = {kind.slug: kind for kind in Problem.__subclasses__()}


def parse_problem(status: int, document: object) -> Problem:
    """The problem that a refusal's document describes; whatever it is, there is one."""
    members = dict(document) if isinstance(document, Mapping) else {"title": f"HTTP status {status}"}
    members["status"] = status
    try:
        known = PROBLEM_TYPES[str(members["type"]).rpartition("/")[2]](members)
        for member in [name for name, of_kind in vars(type(known)).items() if isinstance(of_kind, property)]:
            getattr(known, member)
    except (ArithmeticError, KeyError, TypeError, ValueError):  # not known here, or not as it is known
        return Problem(members)
    return known
