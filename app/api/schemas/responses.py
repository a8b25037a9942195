"""The schemas of all responses, for the OpenAPI document. `app.services` builds the documents themselves."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypeAliasType

from app.api.schemas.datasets import Column, TableSource
from app.api.schemas.field_types.numbers import DateText
from app.api.schemas.field_types.roles import RoleName
from app.api.schemas.statistics import Statistic
from app.ledger.verification.results import MAX_PROBLEMS

EpsilonText = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)(\.[0-9]{0,8}[1-9])?$", examples=["0.5"])]
Time = Annotated[str, Field(json_schema_extra={"format": "date-time"}, examples=["2026-11-28T09:00:00.000000Z"])]
Interval = Annotated[list[float], Field(min_length=2, max_length=2)]
DisplayName = Annotated[str | None, Field(description="How people call the principal; null if nobody has said.")]
DateInterval = Annotated[list[DateText], Field(min_length=2, max_length=2)]
Next = Annotated[str | None, Field(description="The `after` of the next page; null on the last one.")]
NextNumber = Annotated[int | None, Field(description="The `after` of the next page; null on the last one.")]
Via = TypeAliasType(
    "Via",
    Annotated[
        Literal["principal", "command", "service"],
        Field(description="What acted: a principal, a command of the operator, or the service itself."),
    ],
)
State = TypeAliasType(
    "State", Annotated[Literal["open", "stale", "closed"], Field(description="Whether a dataset answers.")]
)
ReleaseValue = TypeAliasType(
    "ReleaseValue",
    Annotated[float | list[float], Field(description="A number, or a list of numbers in the order of the bins.")],
)
ExactValue = TypeAliasType(
    "ExactValue",
    Annotated[
        str | list[str], Field(description="A decimal without an exponent, or a list of them in the order of the bins.")
    ],
)
ReleaseInterval = TypeAliasType(
    "ReleaseInterval",
    Annotated[
        Interval | list[Interval],
        Field(description="The two ends of an interval, or a list of intervals in the order of the bins."),
    ],
)
BinEnd = TypeAliasType("BinEnd", Annotated[float | DateText, Field(description="A number, or an ISO date or time.")])
BinEdges = TypeAliasType(
    "BinEdges", Annotated[list[float] | list[DateText], Field(description="Numbers, or ISO dates or times, ascending.")]
)
MissingValue = TypeAliasType(
    "MissingValue",
    Annotated[
        float | bool | Literal["excluded", "missing", "outside"] | DateText,
        Field(description="What a missing value counts as."),
    ],
)

Rehearsed = Annotated[
    bool | None,
    Field(
        description="True in a rehearsal: the numbers are of made-up data, and its id names no release. Other answers"
        " do not have it."
    ),
]


class AnswerModel(BaseModel):
    """An answer has these members. A later version may add some, but never takes one away."""


class Problem(BaseModel):
    """A problem (RFC 9457). Some types have further members."""

    model_config = ConfigDict(extra="allow")

    type: str = Field(
        examples=["/problems/budget-exhausted"],
        description="What kind of problem it is: a path at which the service answers a page about it.",
    )
    title: str = Field(description="What happened, in a few words that are the same for all problems of this type.")
    status: int = Field(description="The status of the response.")
    detail: str = Field(description="What happened, and what to do about it, in a sentence.")
    request_id: str | None = Field(
        None, description="The id of the request, as in the header X-Request-Id and in the service's log."
    )


class Principal(AnswerModel):
    """A principal, without its key."""

    name: str = Field(description="The name, which never changes.")
    display_name: DisplayName
    role: RoleName
    created_at: Time = Field(description="When the principal was created.")
    disabled: bool = Field(description="Whether the principal was disabled, and cannot call the service any more.")
    key_expires_at: Time | None = Field(description="When the key expires; null if it never does.")
    subject: str | None = Field(description="The subject in the tokens of an identity provider; null without one.")


class IssuedKey(Principal):
    """A principal with its new key, which is shown only once."""

    key: str = Field(description="The new key, which is shown only once.")


class Principals(AnswerModel):
    """A page of principals."""

    principals: list[Principal] = Field(description="The principals of this page.")
    next: Next


class Figures(AnswerModel):
    """What an account may spend, has spent and has left."""

    epsilon_limit: EpsilonText = Field(description="The most ε that may be spent.")
    epsilon_spent: EpsilonText = Field(description="The ε that was spent.")
    epsilon_remaining: EpsilonText = Field(description="The ε that is left.")


class Window(AnswerModel):
    """The current window of an allowance: from `started_at` to just before `ends_at`."""

    days: int = Field(description="The length of a window in days of 24 hours.")
    started_at: Time = Field(description="When the current window began.")
    ends_at: Time = Field(description="When the next window begins.")


class Allowance(Figures):
    """One principal's part of a dataset's budget: in the current window, or without end if `window` is null."""

    window: Window | None


class PrincipalAllowance(Allowance):
    """An allowance and its principal. A `revoked` allowance gives no access; what was spent stays spent."""

    principal: str = Field(description="The name of the principal.")
    display_name: DisplayName
    revoked: bool = Field(description="Whether the access was revoked.")


class DatasetAllowance(Allowance):
    """An allowance and its dataset."""

    dataset: str = Field(description="The name of the dataset.")


class Me(AnswerModel):
    """The caller."""

    name: str = Field(description="The name of the caller.")
    display_name: DisplayName
    role: RoleName
    created_at: Time = Field(description="When the caller was created.")
    key_expires_at: Time | None = Field(description="When the key of this request expires; null if it never does.")
    allowances: list[DatasetAllowance] = Field(description="What the caller may spend, by dataset.")


class SignOnProvider(AnswerModel):
    """An OpenID Connect provider, and the public client that people's programs are there."""

    issuer: str = Field(description="The provider; its configuration is at /.well-known/openid-configuration below it.")
    client_id: str | None = Field(description="The client for the device flow (RFC 8628); null without one.")
    scopes: list[str] = Field(description="The scopes to ask for.")
    resource: str | None = Field(description="The `resource` to ask for (RFC 8707); null without one.")
    dashboard_url: str | None = Field(description="Where people sign in with a browser; null without such a page.")


class SignOn(AnswerModel):
    """How people sign on."""

    provider: SignOnProvider | None = Field(description="Null if the service accepts keys alone, or only knows tokens.")


class Budget(Figures):
    """A dataset's account, and the caller's allowance on it; `allowances` is for its owner, admins and auditors."""

    allowance: Allowance | None
    allowances: list[PrincipalAllowance] | None = Field(
        default=None, description="Everybody's allowance: for the dataset's owner, admins and auditors."
    )
    open_requests: int | None = Field(default=None, description="Requests for budget that wait for an answer.")


class GrantedAllowance(AnswerModel):
    """An allowance as it was granted: what the next grant replaces."""

    dataset: str = Field(description="The name of the dataset.")
    principal: str = Field(description="The name of the principal.")
    epsilon_limit: EpsilonText = Field(description="What it may spend: in total, or in each window.")
    window_days: int | None = Field(description="The days after which the allowance starts afresh; null: never.")


class Limit(AnswerModel):
    """A dataset's limit: what the next adjustment replaces."""

    dataset: str = Field(description="The name of the dataset.")
    epsilon_limit: EpsilonText = Field(description="What all principals together may spend on it.")


class Grantee(AnswerModel):
    """A principal that may get an allowance."""

    name: str = Field(description="The name of the principal.")
    display_name: DisplayName
    role: RoleName


class Grantees(AnswerModel):
    """A page of principals that may get an allowance."""

    grantees: list[Grantee] = Field(description="The principals of this page.")
    next: Next


class BudgetRequest(AnswerModel):
    """A request for a larger allowance. A grant raises it by `granted`, which the owner chooses; it debits nothing."""

    id: str = Field(description="The identifier of the request.")
    dataset: str = Field(description="The name of the dataset.")
    principal: str = Field(description="The name of the principal that asked.")
    display_name: DisplayName
    epsilon: EpsilonText = Field(description="By how much the allowance should be raised.")
    reason: str = Field(description="Why the principal needs more.")
    created_at: Time = Field(description="When the request was made.")
    state: Literal["open", "granted", "declined"] = Field(
        description="Whether the request waits for an answer, or how it was answered."
    )
    granted: EpsilonText | None = Field(
        description="By how much the allowance was raised; null unless the request was granted."
    )
    answer: str | None = Field(description="What was said to the principal that asked; null if nothing was.")
    answered_by: str | None = Field(
        description="The name of the principal that answered; null while the request is open."
    )
    answered_at: Time | None = Field(description="When the request was answered; null while it is open.")


class BudgetRequests(AnswerModel):
    """A page of requests for budget."""

    budget_requests: list[BudgetRequest] = Field(description="The requests of this page.")
    next: Next


class Entry(AnswerModel):
    """A line of a dataset's ledger.

    `hash` seals the rest of the entry under the operator's secret `secret_id` and, through `previous_hash` (null in the
    first entry), all entries before it. `answer_hash` is the SHA-256 of a debit's answer.
    """

    seq: int = Field(description="The number of the entry in its ledger: 1, 2, 3 and so on.")
    kind: Literal["open", "seal", "allow", "revoke", "adjust", "debit", "write_off", "stale", "revalidate", "close"] = (
        Field(description="What the entry records.")
    )
    principal: str = Field(description="The name of the principal that acted, or whose allowance was changed.")
    epsilon: EpsilonText = Field(description="The amount of the entry: the ε debited, or the new limit.")
    epsilon_spent: EpsilonText = Field(description="What the dataset has spent in all after this entry.")
    release_id: str | None = Field(description="The release that a debit pays for; null for other entries.")
    at: Time = Field(description="When the entry was written.")
    previous_hash: str | None = Field(description="The hash of the previous entry; null in the first one.")
    hash: str | None = Field(description="The seal of this entry and all before it; null if it has none.")
    reason: str | None = Field(description="Of an adjustment or a write-off.")
    window_days: int | None = Field(description="Of an `allow`: how long each window of the allowance is.")
    answer_hash: str | None = Field(description="The SHA-256 of a debit's answer; null for other entries.")
    secret_id: str | None = Field(description="Which of the operator's secrets sealed the entry; null if none did.")
    facts_hash: str | None = Field(description="Of the dataset's public facts and state, if the entry seals them.")


class Entries(AnswerModel):
    """A page of a ledger."""

    entries: list[Entry] = Field(description="The entries of this page.")
    next: NextNumber


class LedgerProblem(AnswerModel):
    """What is wrong with the entry numbered `seq`, or with the sums of the entries if `seq` is null."""

    seq: int | None = Field(description="The number of the entry; null if the sums are wrong.")
    what: str = Field(description="What is wrong.")


class Verification(AnswerModel):
    """The result of a verification: the number of entries, the last one's hash, and the problems, first entry first."""

    valid: bool = Field(description="Whether nothing is wrong.")
    entries: int = Field(description="The number of entries that exist.")
    first_checked: int = Field(description="The first entry that was checked: 1 in a full verification.")
    head: str | None = Field(description="The hash of the last entry; null if there is none.")
    problems: list[LedgerProblem] = Field(description=f"No more than {MAX_PROBLEMS}.")


class VerificationSummary(AnswerModel):
    """When a ledger was verified, by whom (`via` and `actor` as in the audit log), and what was found."""

    at: Time = Field(description="When the verification ended.")
    via: Via = Field(description="Whether a principal, a command of the operator or the service itself verified it.")
    actor: str | None = Field(
        description="The name of the principal, or the user of the command; null for the service."
    )
    valid: bool = Field(description="Whether nothing was wrong.")
    entries: int = Field(description="The number of entries that existed.")
    full_at: Time | None = Field(
        description="When a full verification of a dataset's ledger last found it valid; null for other ledgers."
    )
    problems: int = Field(description=f"How many; no more than {MAX_PROBLEMS} are looked for.")


class LatestVerification(AnswerModel):
    """The latest verification of a ledger; null if it was never verified."""

    latest: VerificationSummary | None


class AuditRecord(AnswerModel):
    """One administrative act: `via` says whether a principal, a command's user or the service itself did it."""

    seq: int = Field(description="The number of the record: 1, 2, 3 and so on.")
    via: Via = Field(description="Whether a principal, a command of the operator or the service itself acted.")
    actor: str | None = Field(
        description="The name of the principal, or the user of the command; null for the service."
    )
    action: str = Field(examples=["allowance.grant"], description="What was done.")
    target: str | None = Field(description="What was changed, as a path below `/v1`; null: the whole database.")
    details: dict[str, str | int | bool | None] = Field(description="What was set, by name.")
    request_id: str | None = Field(description="The id of the request in which it was done; null outside requests.")
    at: Time = Field(description="When it was done.")
    previous_hash: str | None = Field(description="The hash of the previous record; null in the first one.")
    hash: str = Field(description="The seal of this record and all before it.")
    secret_id: str = Field(description="Which of the operator's secrets sealed the record.")


class AuditRecords(AnswerModel):
    """A page of the audit log."""

    records: list[AuditRecord] = Field(description="The records of this page.")
    next: NextNumber


class UploadSource(AnswerModel):
    """An uploaded file, by its SHA-256."""

    sha256: str = Field(description="The SHA-256 of the file, in hexadecimal.")
    unit_column: str | None = Field(
        description="The column that identifies the unit of each row; null if none was named."
    )
    truncate: bool = Field(description="Whether rows beyond `rows_per_unit` of a unit were dropped.")
    format: dict[str, Any] | None = Field(
        default=None, description="The members of `format` that were declared, except the names of the columns."
    )


class ConnectionSource(AnswerModel):
    """A table of a configured connection."""

    connection: str = Field(description="The name of the connection.")
    table: str = Field(description="The name of the table, or the path of the file.")
    live: bool = Field(description="Whether the data stays in its database and is queried there.")
    prepare: bool = Field(default=False, description="Whether the sums of a live table were computed at registration.")
    unit_column: str | None = Field(
        description="The column that identifies the unit of each row; null if none was named."
    )
    truncate: bool = Field(description="Whether rows beyond `rows_per_unit` of a unit were dropped.")


ColumnsByName = TypeAliasType(
    "ColumnsByName", Annotated[dict[str, Column], Field(description="Declared columns, by name.")]
)


class Dataset(AnswerModel):
    """The public facts of a dataset."""

    name: str = Field(description="The name of the dataset.")
    description: str = Field(description="What the owner says of the data.")
    n: int = Field(description="The number of rows.")
    columns: ColumnsByName = Field(description="The declared columns, by name.")
    neighbours: Literal["replace_one"]
    rows_per_unit: int = Field(description="How many rows one protected unit may have.")
    created_at: Time = Field(description="When the dataset was registered.")
    state: State = Field(
        description=(
            "Whether the dataset answers (`open`), its live table has changed (`stale`), or its data was deleted "
            "(`closed`)."
        )
    )
    succeeds: str | None = Field(
        description="The earlier dataset with data of the same people; null if there is none that you may see."
    )
    succeeded_by: list[str] = Field(description="Those that you may see.")
    warning: str | None = Field(description="Another dataset has data of the same people: the spending adds up.")
    source: UploadSource | ConnectionSource | None = Field(
        default=None, description="Where the data came from; only for its owner and admins. Null after deletion."
    )


class ColumnReport(AnswerModel):
    """How many rows of a column have no value, lie below or above the bounds, or have an undeclared text."""

    missing: int = Field(description="The number of rows without a value.")
    clamped_low: int | None = Field(default=None, description="The number of rows with a value below the bounds.")
    clamped_high: int | None = Field(default=None, description="The number of rows with a value above the bounds.")
    undeclared: int | None = Field(
        default=None, description="The number of rows with a text that is no declared category."
    )


class RegistrationReport(AnswerModel):
    """What only the owner learns, and only in this answer: numbers of rows, never values."""

    rows: int = Field(description="The number of rows of the table.")
    columns: dict[str, ColumnReport] = Field(description="What was counted of each column, by name.")
    advice: list[str] = Field(description="What more than a twentieth of the rows is, and what to do about it.")


class RegisteredDataset(Dataset):
    """A dataset as it is registered, with a report that no later answer has."""

    report: RegistrationReport | None = Field(
        description="Null if the table has more than 1,000 columns, or could not be read again."
    )


class Datasets(AnswerModel):
    """A page of datasets."""

    datasets: list[Dataset] = Field(description="The datasets of this page.")
    next: Next


class DraftedMetadata(AnswerModel):
    """What a registration could declare, once its columns have no `unconfirmed` members any more."""

    name: str = Field(description="A name for the dataset, after the file or the table.")
    description: str = Field(description="An empty text: write what the data is.")
    epsilon_limit: EpsilonText = Field(description="A limit to begin with.")
    rows_per_unit: int = Field(description="How many rows one protected unit may have.")
    delimiter: str | None = Field(default=None, description="The detected delimiter of a text file.")
    null_values: list[str] | None = Field(default=None, description="The texts that were taken as missing values.")
    format: dict[str, Any] | None = Field(default=None, description="What was detected of how the texts are written.")
    columns: dict[str, dict[str, Any]] = Field(description="The drafted columns, by name.")
    source: TableSource | None = None


class LeftOutColumn(AnswerModel):
    """A column that no kind suits, or whose values a registration would refuse."""

    column: str = Field(description="The name of the column.")
    reason: str = Field(description="Why it was left out.")


class Draft(AnswerModel):
    """A draft has values of the data: it is for the table's owner only, and the service does not keep it."""

    metadata: DraftedMetadata
    left_out: list[LeftOutColumn] = Field(description="The columns that were left out, and why.")


class Connection(AnswerModel):
    """A connection that the operator configured."""

    name: str = Field(description="The name of the connection.")
    leads_to: Literal["Postgres", "Spark", "files"] = Field(description="What the connection leads to.")


class Connections(AnswerModel):
    """The configured connections by name."""

    connections: list[Connection] = Field(description="The connections, by name.")


class Bin(AnswerModel):
    """What one position of a histogram's lists counts. Only an interval has `lower` and `upper`: numbers, or dates."""

    kind: Literal["interval", "category", "other", "missing", "outside", "step"] = Field(
        description=(
            "What the position counts: an interval of numbers or dates, a declared category, all `other` texts, "
            "the `missing` values, the rows `outside` the filter, or a `step` of a search."
        )
    )
    label: str = Field(description="What people read, such as `[2000, 3000)`.")
    lower: BinEnd | None = Field(default=None, description="The lower end of an interval, which belongs to it.")
    upper: BinEnd | None = Field(
        default=None, description="The upper end of an interval, which belongs only to the last one."
    )


class Axis(AnswerModel):
    """The bins of one column of a two-way table, or the edges if it has more than 1,000 intervals."""

    bins: list[Bin] | None = Field(description="The bins of the column; null if it has more than 1,000 intervals.")
    edges: BinEdges | None = Field(default=None, description="The edges of more than 1,000 intervals.")


class PlannedAccuracy(AnswerModel):
    """|release - statistic| is at most `radius` with probability 1 - alpha or more, whatever the data.

    `tight_radius` is the smallest radius for which this holds. `resolution` is what rounding to codes and doubles adds.
    """

    alpha: float = Field(description="The chance, at most, that the statistic lies outside the radius.")
    radius: float = Field(description="The accuracy that the notes promise, in the units of the statistic.")
    tight_radius: float = Field(description="The smallest radius that holds for every table.")
    resolution: float = Field(description="What rounding to codes and doubles adds to the radius.")
    simultaneous_radius: float | None = Field(default=None, description="Histograms: covers all bins at once.")


REUSED_ACCURACY = (
    "Of the release that answers, if `reused` is true; `accuracy` is that of a new release. No radius here is larger, "
    "or, if an `accuracy` was requested, the radius is within it."
)


class Accuracy(PlannedAccuracy):
    """The accuracy, with the interval around the value (around each value of a histogram)."""

    interval: ReleaseInterval = Field(
        description="The interval around the value, or around each value of a histogram, cut to the public range."
    )
    interval_as_date: DateInterval | None = Field(
        default=None, description="A mean of dates: the first and the last date or time that the interval touches."
    )


class Privacy(AnswerModel):
    """The ε of the release, and what it protects: the values in `rows_per_unit` of the `n` rows."""

    epsilon: EpsilonText = Field(description="The ε that the release cost.")
    neighbours: Literal["replace_one"]
    rows_per_unit: int = Field(description="How many rows one protected unit may have.")
    n: int = Field(description="The number of rows.")


class Mechanism(AnswerModel):
    """The snapping mechanism's figures, in the statistic's units; per bin for a histogram."""

    name: Literal["snapping"]
    epsilon_prime: float = Field(description="The ε with which the noise is scaled, a little below the cost.")
    sensitivity: float = Field(description="How far one unit's rows can move the statistic.")
    centre: float = Field(description="The middle of the range of the statistic.")
    b_prime: float = Field(description="Half the range of the statistic.")
    bound: float = Field(description="The clamping bound: how far from the centre the output may be.")
    scale: float = Field(description="The scale of the Laplace noise.")
    grid: float = Field(description="The spacing of the values that a release can have.")
    grid_refinement: int = Field(description="How often the grid was halved.")
    precision_bits: int = Field(description="The bits with which the draw was computed.")
    gamma: float = Field(description="The chance, at most, that the clamping bound binds.")
    epsilon_per_bin: float | None = Field(default=None, description="The ε of each bin of a histogram.")


class ReleaseBudget(AnswerModel):
    """What it cost, and what remains."""

    charged: EpsilonText = Field(description="The ε that was debited, or would be; 0 if an earlier release answers.")
    dataset_remaining: EpsilonText = Field(description="What is left of the budget of the dataset.")
    allowance_remaining: EpsilonText | None = Field(
        description="What is left of the caller's allowance; null without one. A release that is read later shows what"
        " was left then to its payer, the dataset's owner, admins and auditors, and null to others."
    )


class PlanBudget(ReleaseBudget):
    """What a release would cost now, and how often the budget could pay for it."""

    affordable: bool = Field(description="Whether the budget and the allowance cover it now.")
    repeatable: int = Field(description="How often the budget and the allowance cover it.")


class Cliff(AnswerModel):
    """The next ε above at which the grid halves, and the radius there."""

    epsilon: EpsilonText = Field(description="The ε at which the grid halves.")
    accuracy: float = Field(description="The radius at that ε.")


class Treatment(AnswerModel):
    """What happens to a column's missing values, and to its values outside the bounds; `rule` says it in words."""

    missing_as: MissingValue | None = Field(
        default=None,
        description="The value that a missing one counts as. `missing`: it has its own bin or group. `outside`: its row"
        " does not meet the filter. `excluded`: it is left out. Absent if the column has no missing values.",
    )
    clamped_to: Interval | DateInterval | None = Field(
        default=None,
        description="The bounds: a value outside them counts as the nearer one, or in the first or last bin.",
    )
    rule: str = Field(description="What happens, in a sentence.")


TreatmentByColumn = TypeAliasType(
    "TreatmentByColumn", Annotated[dict[str, Treatment], Field(description="The treatment of each column, by name.")]
)
TREATMENT = Field(
    default=None, description="By column; a column whose values are all used as they are is absent, or all of it is."
)


class ColumnTexts(AnswerModel):
    """What the owner declared of a column for people to read."""

    label: str | None = Field(default=None, description="How people call the column.")
    unit: str | None = Field(default=None, description="The unit of its values.")
    category_labels: dict[str, str] | None = Field(
        default=None, description="How people call its categories, by category."
    )


TextsByColumn = TypeAliasType(
    "TextsByColumn", Annotated[dict[str, ColumnTexts], Field(description="What people call columns, by name.")]
)
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
    edges: BinEdges | None = Field(default=None, description="Histograms of more intervals.")
    axes: list[Axis] | None = Field(
        default=None,
        description="Two-way tables, whose lists hold the cells row by row.",
    )
    treatment: TreatmentByColumn | None = TREATMENT
    unit: str | None = UNIT
    columns: TextsByColumn | None = COLUMNS


class _OfDataset(Described):
    dataset: str = Field(description="The name of the dataset.")
    reused: bool = Field(description="Whether an earlier release answers, at no cost.")


class Plan(_OfDataset):
    """What a release would promise and cost."""

    accuracy: PlannedAccuracy
    reused_accuracy: PlannedAccuracy | None = Field(default=None, description=REUSED_ACCURACY)
    budget: PlanBudget
    cliff: Cliff | None


class Release(_OfDataset):
    """A release. `value` is the mechanism's output, `value_in_range` the same cut to the statistic's public range."""

    id: str = Field(description="The identifier of the release.")
    rehearsed: Rehearsed = None
    value: ReleaseValue = Field(
        description="The output of the mechanism; for a histogram, a list in the order of its bins."
    )
    value_exact: ExactValue = Field(description="The same as an exact decimal.")
    value_in_range: ReleaseValue = Field(description="The value, cut to the public range of the statistic.")
    value_as_date: DateText | None = Field(
        default=None, description="A mean of dates: the date or time nearest to `value_in_range`."
    )
    accuracy: Accuracy
    budget: ReleaseBudget
    created_at: Time = Field(description="When the release was drawn.")


class Releases(AnswerModel):
    """A page of releases."""

    releases: list[Release] = Field(description="The releases of this page.")
    next: Next


class Health(AnswerModel):
    """The state of the service."""

    status: Literal["ok"]
