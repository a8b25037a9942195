"""The exceptions of the client, with one class for each problem (RFC 9457) of the service."""

from collections.abc import Mapping
from decimal import Decimal
from http import HTTPStatus
from typing import Any, ClassVar


class SnapledgerError(Exception):
    """Any failure of a call. `idempotency_key` is the key of a failed release: repeat the release with it.

    Examples:
        >>> from snapledger_client import SnapledgerError
        >>> try:
        ...     client.dataset("no-such").budget()
        ... except SnapledgerError as error:
        ...     print(error)
        Not found. There is no such dataset, or your key may not see it: check its name.
    """

    idempotency_key: str | None = None

    def _append_key(self, text: str) -> str:
        """Return a text about a call with an unknown outcome; for a release, it says how to ask again."""
        if self.idempotency_key is None:
            return text
        return f"{text}. It may have been charged: ask again with key={self.idempotency_key!r}, and you pay once"


class Unreachable(SnapledgerError):
    """The service did not respond to any attempt. A release may have been charged: repeat it with the same key.

    Examples:
        >>> from snapledger_client import Client, Unreachable
        >>> try:
        ...     with Client("http://127.0.0.1:9", key="any", retries=0) as away:
        ...         away.dataset("penguins").mean("body_mass_g", epsilon="0.5", key="my first question")
        ... except Unreachable as error:
        ...     print(error.idempotency_key)
        my first question
    """

    def __str__(self) -> str:
        return self._append_key(super().__str__())


class UnexpectedAnswer(SnapledgerError):
    """The response is not one of this service, but perhaps a proxy's page or from another version.

    Examples:
        >>> from snapledger_client import UnexpectedAnswer
        >>> issubclass(UnexpectedAnswer, SnapledgerError)
        True
    """

    def __str__(self) -> str:
        return self._append_key(super().__str__())


class SignInError(SnapledgerError):
    """Nobody signed in with an organisation's account, or the session has ended.

    Examples:
        >>> from snapledger_client import SignInError
        >>> try:
        ...     Client.sign_in()
        ... except SignInError as error:
        ...     print(error)
        The service at ... does not let programs sign people in: use a key.
    """


class Problem(SnapledgerError):
    """A problem that the service reports: `type`, `title`, `status` and `detail`; `members` has all members.

    A problem of a type that this client does not know is an instance of this class itself.

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
        super().__init__(members)  # pickle passes these arguments again
        self.members = dict(members)

    @property
    def type(self) -> str:
        """The stable path that identifies the type of problem."""
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

    @property
    def request_id(self) -> str | None:
        """The id of the request, which the operator finds in the service's log; None if the answer has none."""
        identity = self.members.get("request_id")
        return identity if isinstance(identity, str) else None

    def __str__(self) -> str:
        text = f"{self.title}. {self.detail}".rstrip()
        return self._append_key(text.rstrip(".")) if self.status >= HTTPStatus.INTERNAL_SERVER_ERROR else text


class BudgetExhausted(Problem):
    """The dataset or the caller's allowance has less left than the request costs; nothing was charged.

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
        """Which budget is exhausted: `dataset` or `allowance`."""
        return str(self.members["scope"])

    @property
    def requested(self) -> Decimal:
        """The ε that the request would cost."""
        return Decimal(self.members["requested"])

    @property
    def remaining(self) -> Decimal:
        """The ε that is left."""
        return Decimal(self.members["remaining"])

    @property
    def limit(self) -> Decimal:
        """The total ε of this budget."""
        return Decimal(self.members["limit"])


class AccuracyUnattainable(Problem):
    """The requested accuracy costs more than one release may; `epsilon` is what it would cost.

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
        """The ε that the accuracy would cost."""
        return Decimal(self.members["epsilon"])


class EpsilonTooLarge(Problem):
    """The ε is larger than `limit`, the maximum for one release.

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
        """The maximum ε of one release."""
        return Decimal(self.members["limit"])


class InvalidRequest(Problem):
    """The request is not valid; `errors` says where and what.

    Examples:
        >>> from snapledger_client import InvalidRequest
        >>> try:
        ...     penguins.plan(mean("body_mass_g"), epsilon="0.5", accuracy=50)
        ... except InvalidRequest as problem:
        ...     print(problem.errors)
        [('body', 'needs exactly one of `epsilon`, `accuracy` and `relative_accuracy`')]
    """

    slug = "invalid-request"

    @property
    def errors(self) -> list[tuple[str, str]]:
        """The errors of the request, each as (where, what)."""
        return [(error["where"], error["what"]) for error in self.members["errors"]]

    def __str__(self) -> str:
        return f"{self.title}: " + "; ".join(f"{where} {what}" for where, what in self.errors)


class Unauthenticated(Problem):
    """The key is missing, unknown, replaced or expired, or its principal is disabled.

    Examples:
        >>> from snapledger_client import Unauthenticated
        >>> with Client(key="wrong") as stranger:
        ...     stranger.me()
        Traceback (most recent call last):
        snapledger_client.problems.Unauthenticated: ...
    """

    slug = "unauthenticated"
    anonymous: bool = False
    """Whether no key was sent, so that only what is public is read."""

    @property
    def reason(self) -> str:
        """Why a token of an identity provider was refused; empty for a key, whose refusal has no stated reason."""
        return "" if "Authorization" in self.detail else self.detail  # users of this client do not see headers

    def __str__(self) -> str:
        if self.anonymous:
            return "Not found, or not public. Give a key with Client(key=…) or SNAPLEDGER_KEY."
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
    """The resource does not exist, or the caller may not see it.

    Examples:
        >>> from snapledger_client import NotFound
        >>> client.dataset("no-such").describe()
        Traceback (most recent call last):
        snapledger_client.problems.NotFound: ...
    """

    slug = "not-found"


class AccuracyTrivial(Problem):
    """The statistic's public range already guarantees the requested accuracy.

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
    """The name is or was in use; a name is never used twice.

    Examples:
        >>> from snapledger_client import NameTaken
        >>> admin.create_principal("admin", "analyst")
        Traceback (most recent call last):
        snapledger_client.problems.NameTaken: ...
    """

    slug = "name-taken"


class StorageExhausted(Problem):
    """The stored answers of the dataset or the caller have reached their limit in bytes; nothing was charged.

    Examples:
        >>> from snapledger_client import StorageExhausted
        >>> StorageExhausted.slug
        'storage-exhausted'
    """

    slug = "storage-exhausted"

    @property
    def scope(self) -> str:
        """Whose answers reached the limit: those of the whole `dataset`, or of the caller's `allowance`."""
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


class PreconditionFailed(Problem):
    """Somebody else has changed what was to be changed, since it was read; nothing was done.

    Examples:
        >>> from snapledger_client import PreconditionFailed
        >>> PreconditionFailed.slug
        'precondition-failed'
    """

    slug = "precondition-failed"


class AlreadyExists(Problem):
    """What was to be made only if it does not exist, exists already; nothing was done.

    Examples:
        >>> from snapledger_client import AlreadyExists
        >>> AlreadyExists.slug
        'already-exists'
    """

    slug = "already-exists"


class NotAcceptable(Problem):
    """A figure has none of the forms that were asked for.

    Examples:
        >>> from snapledger_client import NotAcceptable
        >>> NotAcceptable.slug
        'not-acceptable'
    """

    slug = "not-acceptable"


class NotReleased(Problem):
    """A figure shows what was released before, and this is not released yet.

    Examples:
        >>> from snapledger_client import NotReleased
        >>> NotReleased.slug
        'not-released'
    """

    slug = "not-released"


class DatasetStale(Problem):
    """The dataset's table is no longer as it was registered, so no new release is possible.

    Examples:
        >>> from snapledger_client import DatasetStale
        >>> DatasetStale.slug
        'stale'
    """

    slug = "stale"


class RequestOpen(Problem):
    """The caller has an open request for budget on this dataset; another one has to wait for the answer.

    Examples:
        >>> from snapledger_client import RequestOpen
        >>> RequestOpen.slug
        'request-open'
    """

    slug = "request-open"


class RequestAnswered(Problem):
    """Somebody has answered the request for budget already.

    Examples:
        >>> from snapledger_client import RequestAnswered
        >>> RequestAnswered.slug
        'request-answered'
    """

    slug = "request-answered"


class AllowanceRevoked(Problem):
    """A request for budget can't be granted: its principal's allowance was revoked, or the principal is disabled.

    Examples:
        >>> from snapledger_client import AllowanceRevoked
        >>> AllowanceRevoked.slug
        'revoked'
    """

    slug = "revoked"


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
    """The body is larger than the service accepts.

    Examples:
        >>> from snapledger_client import TooLarge
        >>> TooLarge.slug
        'too-large'
    """

    slug = "too-large"


class TooSlow(Problem):
    """The body did not arrive in time; nothing was changed.

    Examples:
        >>> from snapledger_client import TooSlow
        >>> TooSlow.slug
        'too-slow'
    """

    slug = "too-slow"


class UnsupportedMediaType(Problem):
    """The service does not accept this media type here.

    Examples:
        >>> from snapledger_client import UnsupportedMediaType
        >>> UnsupportedMediaType.slug
        'unsupported-media-type'
    """

    slug = "unsupported-media-type"


class MethodNotAllowed(Problem):
    """The service does not have this method at this path: it may be another version.

    Examples:
        >>> from snapledger_client import MethodNotAllowed
        >>> MethodNotAllowed.slug
        'method-not-allowed'
    """

    slug = "method-not-allowed"


class BadRequest(Problem):
    """The request is not valid HTTP, or cannot be parsed.

    Examples:
        >>> from snapledger_client import BadRequest
        >>> BadRequest.slug
        'bad-request'
    """

    slug = "bad-request"


class RateLimited(Problem):
    """The caller has sent too many requests, even after all retries; wait a little.

    Examples:
        >>> from snapledger_client import RateLimited
        >>> RateLimited.slug
        'rate-limited'
    """

    slug = "rate-limited"


class Unavailable(Problem):
    """The service is unavailable after all retries. Repeat a release with the same key: it is never charged twice.

    Examples:
        >>> from snapledger_client import Unavailable
        >>> Unavailable.slug
        'unavailable'
    """

    slug = "unavailable"


class Overloaded(Problem):
    """The service has too many concurrent requests, even after all retries; nothing was changed.

    Examples:
        >>> from snapledger_client import Overloaded
        >>> Overloaded.slug
        'overloaded'
    """

    slug = "overloaded"


class SealBroken(Problem):
    """A stored record was changed outside the service; nothing was charged. Tell the operator.

    Examples:
        >>> from snapledger_client import SealBroken
        >>> SealBroken.slug
        'seal-broken'
    """

    slug = "seal-broken"


class Internal(Problem):
    """An internal error of the service.

    Examples:
        >>> from snapledger_client import Internal
        >>> Internal.slug
        'internal'
    """

    slug = "internal"


PROBLEM_TYPES = {kind.slug: kind for kind in Problem.__subclasses__()}


def parse_problem(status: int, document: object) -> Problem:
    """Return the problem for a JSON document of an error; any document gives a `Problem`."""
    members = dict(document) if isinstance(document, Mapping) else {"title": f"HTTP status {status}"}
    members["status"] = status
    try:
        known = PROBLEM_TYPES[str(members["type"]).rpartition("/")[2]](members)
        for member in [name for name, of_kind in vars(type(known)).items() if isinstance(of_kind, property)]:
            getattr(known, member)
    except (ArithmeticError, KeyError, TypeError, ValueError):  # an unknown type, or without its members
        return Problem(members)
    return known
