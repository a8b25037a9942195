"""The domain's error tree, free of any framework.

Each class carries the public facts of its problem; `app.api.problems` says how they are told. Nothing here may hold a
value of the data or a text that a stranger sent.
"""


class SnapledgerError(Exception):
    """Anything that the service refuses or cannot do."""


class UnauthenticatedError(SnapledgerError):
    """No key or token, or none that opens anything; the text may say why a token that is its provider's does not."""


class MalformedJsonError(SnapledgerError):
    """The body is no JSON; the text says where, never what stood there."""


class KeyRequiredError(SnapledgerError):
    """A fresh draw needs an idempotency key, or a lost answer would be paid twice."""


class BodyTooLargeError(SnapledgerError):
    """The body is over its limit, in bytes."""

    def __init__(self, limit_bytes: int) -> None:
        super().__init__(f"the body is over {limit_bytes} bytes")
        self.limit_bytes = limit_bytes


class BodyTooSlowError(SnapledgerError):
    """The body did not come in the time that it has."""


class UnsupportedMediaError(SnapledgerError):
    """The body is in no form that this call reads; the text says which it does."""


class RateLimitedError(SnapledgerError):
    """The principal has called too often; `seconds` until it may again."""

    def __init__(self, seconds: int) -> None:
        super().__init__(f"again in {seconds} seconds")
        self.seconds = seconds


class NotFoundError(SnapledgerError):
    """It does not exist, or the caller may not know that it does."""


class ForbiddenError(SnapledgerError):
    """The caller may see it, but may not do this to it."""


class InvalidRequestError(SnapledgerError):
    """The request is understood and wrong: each problem says where and what, never the input."""

    def __init__(self, *problems: tuple[str, str]) -> None:
        super().__init__("; ".join(f"{where}: {what}" for where, what in problems))
        self.problems = problems


class ConflictError(SnapledgerError):
    """The request is right, but the present state refuses it."""


class NameTakenError(ConflictError):
    """A name is given once and for ever."""


class DatasetClosedError(ConflictError):
    """The dataset was deleted; only its ledger and releases can still be read."""


class DatasetStaleError(ConflictError):
    """A live table no longer has the number of rows that was registered; its owner has to act."""


class LastAdminError(ConflictError):
    """Without an admin nobody could let anybody in again."""


class BudgetExhaustedError(ConflictError):
    """An account cannot bear the debit.

    Attributes:
        scope: `dataset` or `allowance`, the account that refused.
        requested_nano, remaining_nano, limit_nano: in ledger units of 10⁻⁹ ε.
        renews_at: when a window ends, if the account could bear the debit in the next one.
    """

    def __init__(
        self, scope: str, requested_nano: int, remaining_nano: int, limit_nano: int, renews_at: str | None = None
    ) -> None:
        super().__init__(f"the {scope} cannot bear this debit")
        self.scope = scope
        self.requested_nano = requested_nano
        self.remaining_nano = remaining_nano
        self.limit_nano = limit_nano
        self.renews_at = renews_at


class StorageExhaustedError(ConflictError):
    """As many bytes of answers are stored as may be.

    Attributes:
        scope: `dataset` or `allowance`: what all have stored on the dataset, or the caller alone.
        stored_bytes, limit_bytes: how much there is, and how much there may be.
    """

    def __init__(self, scope: str, stored_bytes: int, limit_bytes: int) -> None:
        super().__init__(f"the {scope} has no room for another answer")
        self.scope = scope
        self.stored_bytes = stored_bytes
        self.limit_bytes = limit_bytes


class KeyReusedError(SnapledgerError):
    """The idempotency key already belongs to another request."""


class AccuracyTrivialError(SnapledgerError):
    """The public range of the statistic already answers it."""


class EpsilonTooLargeError(SnapledgerError):
    """More than one release may cost here; `limit_nano` is the most."""

    def __init__(self, limit_nano: int) -> None:
        super().__init__("more than one release may cost")
        self.limit_nano = limit_nano


class AccuracyUnattainableError(SnapledgerError):
    """The accuracy would cost `epsilon_nano`, more than one release may (`limit_nano`)."""

    def __init__(self, epsilon_nano: int, limit_nano: int) -> None:
        super().__init__("the accuracy costs more than one release may")
        self.epsilon_nano = epsilon_nano
        self.limit_nano = limit_nano


class UnavailableError(SnapledgerError):
    """The database or a data engine is busy or away. Nothing was debited, or the outcome is safe to ask for again."""


class OverloadedError(UnavailableError):
    """As many calls are being answered as the service takes on at once."""


class DamagedAnswerError(UnavailableError):
    """A stored answer is not what was written, so it is not shown; verification tells more."""


class ProviderAwayError(UnavailableError):
    """The provider of tokens did not answer, and without it nothing can be said of a token."""


class SealBrokenError(UnavailableError):
    """What is stored is not what was sealed: somebody changed it without the ledger's secret."""


class TransactionAbortedError(UnavailableError):
    """The database undid the whole transaction so that another could go on; the same transaction may run again."""
