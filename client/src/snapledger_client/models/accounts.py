"""Answers about datasets, budgets, ledgers and principals."""

from decimal import Decimal
from typing import Any

from snapledger_client.models.base import Answer, DisplayedAnswer, Exact, TaggedAnswer, Time


class Account(Answer):
    """What an account may spend, has spent and has left.

    Examples:
        >>> budget = penguins.budget()
        >>> budget.epsilon_limit - budget.epsilon_spent == budget.epsilon_remaining
        True
    """

    epsilon_limit: Exact
    epsilon_spent: Exact
    epsilon_remaining: Exact


class Window(Answer):
    """The current window of an allowance: from `started_at` to just before `ends_at`.

    Examples:
        >>> penguins.budget().allowance.window is None  # it is never renewed
        True
    """

    days: int
    started_at: Time
    ends_at: Time


class Allowance(Account):
    """One principal's part of a dataset's budget: in the current window, or without end if `window` is None.

    Only owners, admins and auditors see `principal`, its `display_name` and `revoked`. `dataset` is set in the answer
    of `me()`.

    Examples:
        >>> client.me().allowances[0].dataset
        'penguins'
    """

    window: Window | None
    principal: str | None = None
    display_name: str | None = None
    dataset: str | None = None
    revoked: bool = False


class GrantedAllowance(DisplayedAnswer, TaggedAnswer):
    """An allowance as it was granted; what it has spent is in the budget.

    As `if_match` of a change, it says that the change is of this state alone.

    Examples:
        >>> owner.dataset("penguins").allowance("ada").dataset
        'penguins'
    """

    dataset: str
    principal: str
    epsilon_limit: Exact
    window_days: int | None


class Limit(DisplayedAnswer, TaggedAnswer):
    """A dataset's limit: the ε that may be spent on it in its whole life.

    As `if_match` of a change, it says that the change is of this state alone.

    Examples:
        >>> penguins.limit().epsilon_limit
        Decimal('1000')
    """

    dataset: str
    epsilon_limit: Exact


class Budget(Account, DisplayedAnswer):
    """A dataset's account and the caller's allowance on it.

    Only its owner, admins and auditors see `allowances`, and how many `open_requests` for budget wait for an answer.

    Examples:
        >>> budget = penguins.budget()
        >>> budget.allowance.epsilon_spent < budget.allowance.epsilon_limit
        True
        >>> owner.dataset("penguins").budget().allowances[0].principal
        'ada'
    """

    allowance: Allowance | None
    allowances: tuple[Allowance, ...] | None = None
    open_requests: int | None = None

    @property
    def spendable(self) -> Decimal:
        """The ε that the caller can still spend.

        Examples:
            >>> penguins.budget().spendable <= 500
            True
        """
        own = Decimal(0) if self.allowance is None else self.allowance.epsilon_remaining
        return min(self.epsilon_remaining, own)

    @property
    def summary(self) -> str:
        """The budget in a line.

        Examples:
            >>> "of 1000 spent" in penguins.budget().summary
            True
        """
        return str(self)


class Entry(DisplayedAnswer):
    """An entry of a dataset's ledger; `epsilon_spent` is the dataset's total after this entry.

    `hash` seals the rest of the entry and, through `previous_hash`, all entries before it. Adjustments and write-offs
    have a `reason`.

    Examples:
        >>> next(owner.dataset("penguins").ledger()).kind
        'open'
    """

    seq: int
    kind: str
    principal: str
    epsilon: Exact
    epsilon_spent: Exact
    release_id: str | None
    at: Time
    previous_hash: str | None
    hash: str | None
    reason: str | None = None
    window_days: int | None = None
    answer_hash: str | None = None
    secret_id: str | None = None


class LedgerProblem(Answer):
    """What is wrong with the entry numbered `seq`, or with the sums of the entries if `seq` is None.

    Examples:
        >>> owner.dataset("penguins").verify().problems  # none
        ()
    """

    seq: int | None
    what: str


class Verification(DisplayedAnswer):
    """The result of a verification: the number of entries, the last one's hash, and the problems.

    Examples:
        >>> owner.dataset("penguins").verify().valid
        True
    """

    valid: bool
    entries: int
    head: str | None
    problems: tuple[LedgerProblem, ...]


class VerificationSummary(DisplayedAnswer):
    """When a ledger was verified, by whom, and what was found; `via` and `actor` are as in an `AuditRecord`.

    Examples:
        >>> _ = owner.dataset("penguins").verify()
        >>> owner.dataset("penguins").latest_verification().valid
        True
    """

    at: Time
    via: str
    actor: str | None
    valid: bool
    entries: int
    problems: int


class LatestVerification(Answer):
    """The latest verification of a ledger; `latest` is None if it was never verified.

    Examples:
        >>> from snapledger_client import LatestVerification
        >>> LatestVerification(latest=None).latest is None
        True
    """

    latest: VerificationSummary | None


class Grantee(DisplayedAnswer):
    """A principal that may get an allowance.

    Examples:
        >>> next(owner.dataset("penguins").grantees()).name
        'admin'
    """

    name: str
    display_name: str | None = None
    role: str


class BudgetRequest(DisplayedAnswer):
    """A request for a larger allowance: `epsilon` more, for a reason. `state` is open, granted or declined.

    A grant raises the allowance by `granted`, which the owner chooses, and debits nothing.

    Examples:
        >>> request = penguins.request_budget("0.5", "The report needs the means by island too.")
        >>> request.state, request.epsilon
        ('open', Decimal('0.5'))
        >>> owner.dataset("penguins").decline_request(request.id).state
        'declined'
    """

    id: str
    dataset: str
    principal: str
    display_name: str | None = None
    epsilon: Exact
    reason: str
    created_at: Time
    state: str
    granted: Exact | None
    answer: str | None
    answered_by: str | None
    answered_at: Time | None


class AuditRecord(DisplayedAnswer):
    """An administrative act: who did what to what, when, and in which request.

    `via` says whether a `principal`, a `command` or the `service` itself did it; `target` is a path below `/v1`, or
    None for the whole database. `hash` seals the rest of the record and, through `previous_hash`, all records before.

    Examples:
        >>> 'principal.create' in [record.action for record in admin.audit()]
        True
    """

    seq: int
    via: str
    actor: str | None
    action: str
    target: str | None
    details: dict[str, str | int | bool | None]
    request_id: str | None
    at: Time
    previous_hash: str | None
    hash: str
    secret_id: str


class DatasetFacts(DisplayedAnswer):
    """The public facts of a dataset, for everybody with access. Only `n` is computed from the data.

    `report` is what only its owner learns, once, in the answer to the registration: how many rows of each column have
    no value, lie outside the bounds or have an undeclared text.

    Examples:
        >>> facts = penguins.describe()
        >>> facts.n, facts.columns["body_mass_g"]["bounds"]
        (344, [2000, 7000])
    """

    name: str
    description: str
    n: int
    columns: dict[str, dict[str, Any]]
    neighbours: str
    rows_per_unit: int
    created_at: Time
    state: str
    succeeds: str | None
    succeeded_by: tuple[str, ...]
    warning: str | None
    report: dict[str, Any] | None = None


class Connection(Answer):
    """A connection that the operator configured: its name, and what it leads to, such as Postgres.

    Examples:
        >>> from snapledger_client import Connection
        >>> Connection(name="warehouse", leads_to="Postgres").name
        'warehouse'
    """

    name: str
    leads_to: str


class Connections(Answer):
    """The connections that the operator configured.

    Examples:
        >>> from snapledger_client import Connections
        >>> Connections(connections=()).connections
        ()
    """

    connections: tuple[Connection, ...]


class Health(Answer):
    """Whether the service is ready: `status` is "ok".

    Examples:
        >>> client.health().status
        'ok'
    """

    status: str


class Draft(DisplayedAnswer):
    r"""What an owner could declare of a table, made of its values: the service does not keep it.

    `metadata` is for `register`, once you have replaced the members that each column lists as `unconfirmed` by what is
    known without the data, and emptied the list. `left_out` says why each other column is not in it.

    Examples:
        >>> drafted = owner.draft(b"age\n31\n64\n")
        >>> drafted.metadata["columns"]["age"]["unconfirmed"], drafted.left_out
        (['bounds'], ())
    """

    metadata: dict[str, Any]
    left_out: tuple[dict[str, str], ...]


class Principal(DisplayedAnswer):
    """A person or a program that may call the service.

    Its key expires at `key_expires_at`, or never if that is None. People call it `display_name`, if an admin has set
    one.

    Examples:
        >>> first = next(admin.principals())
        >>> first.role, first.key_expires_at
        ('admin', None)
    """

    name: str
    display_name: str | None = None
    role: str
    created_at: Time
    disabled: bool
    key_expires_at: Time | None


class IssuedKey(Principal):
    """A principal with its new key, which is shown only once; `repr` omits the key.

    Examples:
        >>> issued = admin.create_principal("grace", "analyst")
        >>> issued.key in repr(issued)
        False
    """

    key: str

    def __repr_args__(self) -> Any:  # noqa: ANN401 - pydantic's own
        return [(name, value) for name, value in super().__repr_args__() if name != "key"]


class Me(DisplayedAnswer):
    """Who the caller is, and what it may spend on which dataset.

    Examples:
        >>> client.me().name
        'ada'
    """

    name: str
    display_name: str | None = None
    role: str
    created_at: Time
    key_expires_at: Time | None
    allowances: tuple[Allowance, ...]
