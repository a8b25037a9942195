"""The schemas of all responses, for the OpenAPI document. `app.services` builds the documents themselves."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.api.schemas.datasets import Column, TableSource
from app.api.schemas.numbers import DateText
from app.api.schemas.roles import RoleName
from app.api.schemas.statistics import Statistic
from app.ledger.verification.results import MAX_PROBLEMS

EpsilonText = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]{0,8}[1-9])?$", examples=["0.5"])]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-28T09:00:00.000000Z"])]
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]
DisplayName = Annotated[str | None, Field(description="How people call the principal; null if nobody has said.")]
DateInterval = Annotated[list[DateText], Field(min_length=2, max_length=2)]


class AnswerModel(BaseModel):
    """An answer has these members and no others."""

    model_config = ConfigDict(extra="forbid")


class Problem(BaseModel):
    """A problem (RFC 9457). Some types have further members."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(examples=["/problems/budget-exhausted"])
    title: str
    status: int
    detail: str


class Principal(AnswerModel):
    """A principal, without its key."""

    name: str
    display_name: DisplayName
    role: RoleName
    created_at: Time
    disabled: bool
    key_expires_at: Time | None = Field(description="When the key expires; null if it never does.")
    subject: str | None = Field(description="The subject in the tokens of an identity provider; null without one.")


class IssuedKey(Principal):
    """A principal with its new key, which is shown only once."""

    key: str


class Principals(AnswerModel):
    """A page of principals."""

    principals: list[Principal]
    next: str | None


class Figures(AnswerModel):
    """What an account may spend, has spent and has left."""

    epsilon_limit: EpsilonText
    epsilon_spent: EpsilonText
    epsilon_remaining: EpsilonText


class Window(AnswerModel):
    """The current window of an allowance: from `started_at` to just before `ends_at`."""

    days: int
    started_at: Time
    ends_at: Time


class Allowance(Figures):
    """One principal's part of a dataset's budget: in the current window, or without end if `window` is null."""

    window: Window | None


class PrincipalAllowance(Allowance):
    """An allowance and its principal. A `revoked` allowance gives no access; what was spent stays spent."""

    principal: str
    display_name: DisplayName
    revoked: bool


class DatasetAllowance(Allowance):
    """An allowance and its dataset."""

    dataset: str


class Me(AnswerModel):
    """The caller."""

    name: str
    display_name: DisplayName
    role: RoleName
    created_at: Time
    key_expires_at: Time | None
    allowances: list[DatasetAllowance]


class Budget(Figures):
    """A dataset's account, and the caller's allowance on it; `allowances` is for its owner, admins and auditors."""

    allowance: Allowance | None
    allowances: list[PrincipalAllowance] | None = None
    open_requests: int | None = Field(default=None, description="Requests for budget that wait for an answer.")


class Grantee(AnswerModel):
    """A principal that may get an allowance."""

    name: str
    display_name: DisplayName
    role: RoleName


class Grantees(AnswerModel):
    """A page of principals that may get an allowance."""

    grantees: list[Grantee]
    next: str | None


class BudgetRequest(AnswerModel):
    """A request for a larger allowance. A grant raises it by `granted`, which the owner chooses; it debits nothing."""

    id: str
    dataset: str
    principal: str
    display_name: DisplayName
    epsilon: EpsilonText = Field(description="By how much the allowance should be raised.")
    reason: str
    created_at: Time
    state: Literal["open", "granted", "declined"]
    granted: EpsilonText | None
    answer: str | None
    answered_by: str | None
    answered_at: Time | None


class BudgetRequests(AnswerModel):
    """A page of requests for budget."""

    budget_requests: list[BudgetRequest]
    next: str | None


class Entry(AnswerModel):
    """A line of a dataset's ledger.

    `hash` seals the rest of the entry under the operator's secret `secret_id` and, through `previous_hash` (null in the
    first entry), all entries before it. `answer_hash` is the SHA-256 of a debit's answer.
    """

    seq: int
    kind: Literal["open", "seal", "allow", "revoke", "adjust", "debit", "write_off", "stale", "revalidate", "close"]
    principal: str
    epsilon: EpsilonText
    epsilon_spent: EpsilonText
    release_id: str | None
    at: Time
    previous_hash: str | None
    hash: str | None
    reason: str | None = Field(description="Of an adjustment or a write-off.")
    window_days: int | None = Field(description="Of an `allow`: how long each window of the allowance is.")
    answer_hash: str | None
    secret_id: str | None
    facts_hash: str | None = Field(description="Of the dataset's public facts and state, if the entry seals them.")


class Entries(AnswerModel):
    """A page of a ledger."""

    entries: list[Entry]
    next: int | None


class LedgerProblem(AnswerModel):
    """What is wrong with the entry numbered `seq`, or with the sums of the entries if `seq` is null."""

    seq: int | None
    what: str


class Verification(AnswerModel):
    """The result of a verification: the number of entries, the last one's hash, and the problems, first entry first."""

    valid: bool
    entries: int
    first_checked: int = Field(description="The first entry that was checked: 1 in a full verification.")
    head: str | None
    problems: list[LedgerProblem] = Field(description=f"No more than {MAX_PROBLEMS}.")


class VerificationSummary(AnswerModel):
    """When a ledger was verified, by whom (`via` and `actor` as in the record of acts), and what was found."""

    at: Time
    via: Literal["principal", "command", "service"]
    actor: str | None
    valid: bool
    entries: int
    full_at: Time | None = Field(
        description="When a full verification of a dataset's ledger last found it valid; null for other ledgers."
    )
    problems: int = Field(description=f"How many; no more than {MAX_PROBLEMS} are looked for.")


class LatestVerification(AnswerModel):
    """The latest verification of a ledger; null if it was never verified."""

    latest: VerificationSummary | None


class AuditRecord(AnswerModel):
    """One administrative act: `via` says whether a principal, a command's user or the service itself did it."""

    seq: int
    via: Literal["principal", "command", "service"]
    actor: str | None
    action: str = Field(examples=["allowance.grant"])
    target: str | None = Field(description="What was changed, as a path below `/v1`; null: the whole database.")
    details: dict[str, str | int | bool | None]
    request_id: str | None
    at: Time
    previous_hash: str | None
    hash: str
    secret_id: str


class AuditRecords(AnswerModel):
    """A page of the record of administrative acts."""

    records: list[AuditRecord]
    next: int | None


class UploadSource(AnswerModel):
    """An uploaded file, by its SHA-256."""

    sha256: str
    unit_column: str | None
    truncate: bool
    format: dict[str, Any] | None = Field(
        default=None, description="The members of `format` that were declared, except the names of the columns."
    )


class ConnectionSource(AnswerModel):
    """A table of a configured connection."""

    connection: str
    table: str
    live: bool
    prepare: bool = False
    unit_column: str | None
    truncate: bool


class Dataset(AnswerModel):
    """The public facts of a dataset."""

    name: str
    description: str
    n: int
    columns: dict[str, Column]
    neighbours: Literal["replace_one"]
    rows_per_unit: int
    created_at: Time
    state: Literal["open", "stale", "closed"]
    succeeds: str | None
    succeeded_by: list[str] = Field(description="Those that you may see.")
    warning: str | None = Field(description="Another dataset has data of the same people: the spending adds up.")
    source: UploadSource | ConnectionSource | None = Field(
        default=None, description="Where the data came from; only for its owner and admins. Null after deletion."
    )


class ColumnReport(AnswerModel):
    """How many rows of a column have no value, lie below or above the bounds, or have an undeclared text."""

    missing: int
    clamped_low: int | None = None
    clamped_high: int | None = None
    undeclared: int | None = None


class RegistrationReport(AnswerModel):
    """What only the owner learns, and only in this answer: numbers of rows, never values."""

    rows: int
    columns: dict[str, ColumnReport]
    advice: list[str] = Field(description="What more than a twentieth of the rows is, and what to do about it.")


class RegisteredDataset(Dataset):
    """A dataset as it is registered, with a report that no later answer has."""

    report: RegistrationReport | None = Field(
        description="Null if the table has more than 1,000 columns, or could not be read again."
    )


class Datasets(AnswerModel):
    """A page of datasets."""

    datasets: list[Dataset]
    next: str | None


class DraftedMetadata(AnswerModel):
    """What a registration could declare, once its columns have no `unconfirmed` members any more."""

    name: str
    description: str
    epsilon_limit: EpsilonText
    rows_per_unit: int
    delimiter: str | None = None
    null_values: list[str] | None = None
    format: dict[str, Any] | None = None
    columns: dict[str, dict[str, Any]]
    source: TableSource | None = None


class LeftOutColumn(AnswerModel):
    """A column that no kind suits, or whose values a registration would refuse."""

    column: str
    reason: str


class Draft(AnswerModel):
    """A draft has values of the data: it is for the table's owner only, and the service does not keep it."""

    metadata: DraftedMetadata
    left_out: list[LeftOutColumn]


class Connection(AnswerModel):
    """A connection that the operator configured."""

    name: str
    leads_to: Literal["Postgres", "Spark", "files"]


class Connections(AnswerModel):
    """The configured connections by name."""

    connections: list[Connection]


class Bin(AnswerModel):
    """What one position of a histogram's lists counts. Only an interval has `lower` and `upper`: numbers, or dates."""

    kind: Literal["interval", "category", "other", "missing", "outside", "step"]
    label: str
    lower: float | DateText | None = None
    upper: float | DateText | None = None


class Axis(AnswerModel):
    """The bins of one column of a two-way table, or the edges if it has more than 1,000 intervals."""

    bins: list[Bin] | None
    edges: list[float] | list[DateText] | None = None


class PlannedAccuracy(AnswerModel):
    """|release - statistic| is at most `radius` with probability 1 - alpha or more, whatever the data.

    `tight_radius` is the smallest radius for which this holds. `resolution` is what rounding to codes and doubles adds.
    """

    alpha: float
    radius: float
    tight_radius: float
    resolution: float
    simultaneous_radius: float | None = Field(default=None, description="Histograms: covers all bins at once.")


REUSED_ACCURACY = (
    "Of the release that answers, if `reused` is true; `accuracy` is that of a new release. No radius here is larger, "
    "or, if an `accuracy` was requested, the radius is within it."
)


class Accuracy(PlannedAccuracy):
    """The accuracy, with the interval around the value (around each value of a histogram)."""

    interval: Interval | list[Interval]
    interval_as_date: DateInterval | None = Field(
        default=None, description="A mean of dates: the first and the last date or time that the interval touches."
    )


class Privacy(AnswerModel):
    """The ε of the release, and what it protects: the values in `rows_per_unit` of the `n` rows."""

    epsilon: EpsilonText
    neighbours: Literal["replace_one"]
    rows_per_unit: int
    n: int


class Mechanism(AnswerModel):
    """The snapping mechanism's figures, in the statistic's units; per bin for a histogram."""

    name: Literal["snapping"]
    epsilon_prime: float
    sensitivity: float
    centre: float
    b_prime: float
    bound: float
    scale: float
    grid: float
    grid_refinement: int
    precision_bits: int
    gamma: float
    epsilon_per_bin: float | None = None


class ReleaseBudget(AnswerModel):
    """What it cost, and what remains."""

    charged: EpsilonText
    dataset_remaining: EpsilonText
    allowance_remaining: EpsilonText | None = Field(
        description="What is left of the caller's allowance; null without one. A release that is read later shows what"
        " was left then to its payer, the dataset's owner, admins and auditors, and null to others."
    )


class PlanBudget(ReleaseBudget):
    """What a release would cost now, and how often the budget could pay for it."""

    affordable: bool
    repeatable: int


class Cliff(AnswerModel):
    """The next ε above at which the grid halves, and the radius there."""

    epsilon: EpsilonText
    accuracy: float


class Treatment(AnswerModel):
    """What happens to a column's missing values, and to its values outside the bounds; `rule` says it in words."""

    missing_as: float | bool | Literal["excluded", "missing", "outside"] | DateText | None = Field(
        default=None,
        description="The value that a missing one counts as. `missing`: it has its own bin or group. `outside`: its row"
        " does not meet the filter. `excluded`: it is left out. Absent if the column has no missing values.",
    )
    clamped_to: Interval | DateInterval | None = Field(
        default=None,
        description="The bounds: a value outside them counts as the nearer one, or in the first or last bin.",
    )
    rule: str


TREATMENT = Field(
    default=None, description="By column; a column whose values are all used as they are is absent, or all of it is."
)


class ColumnTexts(AnswerModel):
    """What the owner declared of a column for people to read."""

    label: str | None = None
    unit: str | None = None
    category_labels: dict[str, str] | None = None


UNIT = Field(default=None, description="The unit of the value, of its error and of the interval, if it is declared.")
COLUMNS = Field(
    default=None, description="By name, the statistic's columns, those of its filter aside, with a label or a unit."
)


class Described(AnswerModel):
    """The members that plans and releases share."""

    statistic: Statistic
    privacy: Privacy
    mechanism: Mechanism
    summary: str = Field(description="What it means, in a sentence.")
    bins: list[Bin] | None = Field(default=None, description="Histograms of up to 1,000 intervals.")
    edges: list[float] | list[DateText] | None = Field(default=None, description="Histograms of more intervals.")
    axes: list[Axis] | None = Field(
        default=None,
        description="Two-way tables, whose lists hold the cells row by row.",
    )
    treatment: dict[str, Treatment] | None = TREATMENT
    unit: str | None = UNIT
    columns: dict[str, ColumnTexts] | None = COLUMNS


class _OfDataset(Described):
    dataset: str
    reused: bool


class Plan(_OfDataset):
    """What a release would promise and cost."""

    accuracy: PlannedAccuracy
    reused_accuracy: PlannedAccuracy | None = Field(default=None, description=REUSED_ACCURACY)
    budget: PlanBudget
    cliff: Cliff | None


class Release(_OfDataset):
    """A release. `value` is the mechanism's output, `value_in_range` the same cut to the statistic's public range."""

    id: str
    value: float | list[float]
    value_exact: str | list[str]
    value_in_range: float | list[float]
    value_as_date: DateText | None = Field(
        default=None, description="A mean of dates: the date or time nearest to `value_in_range`."
    )
    accuracy: Accuracy
    budget: ReleaseBudget
    created_at: Time


class Releases(AnswerModel):
    """A page of releases."""

    releases: list[Release]
    next: str | None


class Health(AnswerModel):
    """The state of the service."""

    status: Literal["ok"]
