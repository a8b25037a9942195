"""The errors of the domain, independent of any framework.

Each class carries the public facts of its problem; `app.api.problems` writes the message. No error may hold a value of
the data, or a value that a caller sent.
"""


class SnapledgerError(Exception):
    """Anything that the service refuses or cannot do."""


class UnauthenticatedError(SnapledgerError):
    """There is no key or token, or it is not valid; the text may say why a valid token gives no access."""


class NoCredentialError(UnauthenticatedError):
    """The request has no key and no token, or more than one."""


class MalformedJsonError(SnapledgerError):
    """The body is not JSON; the text says where, and never repeats what is there."""


class KeyRequiredError(SnapledgerError):
    """A fresh draw needs an idempotency key: without one, a lost answer would be paid twice."""


class BodyTooLargeError(SnapledgerError):
    """The body is larger than its limit in bytes."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the body is larger than {limit_bytes:,} bytes")
        self.limit_bytes = limit_bytes


class BodyTooSlowError(SnapledgerError):
    """The body did not arrive in time."""


class NotAcceptableError(SnapledgerError):
    """The answer has no form that the Accept header takes."""


class UnsupportedMediaError(SnapledgerError):
    """This call does not read bodies of this media type; the text says which it reads."""


class RateLimitedError(SnapledgerError):
    """The principal sent too many requests; it may send the next one in `seconds`."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"too many requests: wait {seconds} seconds")
        self.seconds = seconds


class NotFoundError(SnapledgerError):
    """The thing does not exist, or the caller may not know that it exists. The text says which thing, if any does."""


NO_DATASET = "there is no such dataset, or your key may not see it: check its name"
NO_PRINCIPAL = "there is no such principal, or it is disabled: check its name"
NO_ALLOWANCE = "You have no allowance on this dataset: its owner can grant one."


class ForbiddenError(SnapledgerError):
    """The caller may see the thing, but may not do this to it."""


class InvalidRequestError(SnapledgerError):
    """The request is not valid: each problem says where and what, and never repeats a value that was sent."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{where}: {what}" for where, what in problems))
        self.problems = problems


class PreconditionFailedError(SnapledgerError):
    """The thing to change is not what the caller read: its entity tag is none of those in If-Match."""


class AlreadyExistsError(SnapledgerError):
    """The thing to make exists already, and the caller asked with If-None-Match for a new one."""


class ConflictError(SnapledgerError):
    """The request is valid, but the present state does not allow it."""


class NameTakenError(ConflictError):
    """A name is never used twice."""


class DatasetClosedError(ConflictError):
    """The dataset was deleted; only its ledger and releases can still be read."""


class DatasetStaleError(ConflictError):
    """A live table is no longer the one that was registered; its owner has to act."""


class LastAdminError(ConflictError):
    """There must always be one admin, since only admins give access."""


class RequestOpenError(ConflictError):
    """The principal has an open request for budget on this dataset already."""


class RequestAnsweredError(ConflictError):
    """The request for budget was answered already."""


class NotReleasedError(ConflictError):
    """A derived answer that is to be published does not follow from earlier releases alone."""


class AllowanceRevokedError(ConflictError):
    """A request for budget can't be granted: the principal has no allowance in force, or is disabled."""


class BudgetExhaustedError(ConflictError):
    """An account has less left than the debit.

    Attributes:
        scope: `dataset`, `allowance` or `report`: whose budget refused.
        requested_nano, remaining_nano, limit_nano: in ledger units of 10⁻⁹ ε.
        renews_at: when a window ends, if the account could pay the debit in the next one.
    """

    def __init__(
        self, scope: str, requested_nano: int, remaining_nano: int, limit_nano: int, renews_at: str | None = None
    ) -> None:
        super().__init__(f"the {scope} has less ε left than this debit")
        self.scope = scope
        self.requested_nano = requested_nano
        self.remaining_nano = remaining_nano
        self.limit_nano = limit_nano
        self.renews_at = renews_at


class StorageExhaustedError(ConflictError):
    """The stored answers have reached their limit in bytes.

    Attributes:
        scope: `dataset` or `allowance`: the answers of all principals on the dataset, or of the caller alone.
        stored_bytes, limit_bytes: how much is stored, and the limit.
    """

    def __init__(self, scope: str, stored_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"the storage for answers of this {scope} is full")
        self.scope = scope
        self.stored_bytes = stored_bytes
        self.limit_bytes = limit_bytes


class KeyReusedError(SnapledgerError):
    """The idempotency key already belongs to another request."""


class AccuracyTrivialError(SnapledgerError):
    """The public bounds of the statistic already guarantee this accuracy."""


class EpsilonTooLargeError(SnapledgerError):
    """The ε is more than one release may cost, which is `limit_nano`."""

    def __init__(self, limit_nano: int) -> None:
        super().__init__("this ε is more than one release may cost")
        self.limit_nano = limit_nano


class AccuracyUnattainableError(SnapledgerError):
    """The accuracy would cost `epsilon_nano`, and one release may cost `limit_nano` at most."""

    def __init__(self, epsilon_nano: int, limit_nano: int) -> None:
        super().__init__("this accuracy costs more than one release may")
        self.epsilon_nano = epsilon_nano
        self.limit_nano = limit_nano


class UnavailableError(SnapledgerError):
    """The database or a data engine is busy or does not answer. Repeating the request is safe."""


class OverloadedError(UnavailableError):
    """The service has reached its limit of concurrent requests."""


class DamagedAnswerError(UnavailableError):
    """A stored answer was changed after it was written, so it is not shown; verification says which."""


class ProviderAwayError(UnavailableError):
    """The identity provider did not answer, so the token cannot be checked."""


class SealBrokenError(UnavailableError):
    """A stored record does not match its seal: somebody changed it without the ledger's secret."""


class TransactionAbortedError(UnavailableError):
    """The database rolled the transaction back in favour of another one; it may run again."""
