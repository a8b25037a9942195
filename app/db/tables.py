"""The tables after the last migration, with a type for each column.

ε is stored in ledger units (`…_nano`, 10⁻⁹ ε) as 64-bit integers. Times and release ids are text that sorts by time.
The CHECK constraints are a second line of defence: `app.ledger` checks first, and its errors have clear messages.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Double,
    ForeignKey,
    Identity,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Named,
    PrimaryKeyConstraint,
    Table,
    Text,
    TypedColumns,
    UniqueConstraint,
    text,
)

from app.roles import Role

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_N_name)s",
        "pk": "pk_%(table_name)s",
    }
)

# SQLite numbers rows automatically only in a column whose type is exactly INTEGER.
ROW_ID = BigInteger().with_variant(Integer(), "sqlite")
# Release ids are compared byte by byte, independent of the database's locale.
RELEASE_ID = Text().with_variant(Text(collation="C"), "postgresql")


def _make_deferred_key(column: str) -> ForeignKey:
    """A foreign key that is checked at the commit, because its row is inserted later in the same transaction."""
    return ForeignKey(column, deferrable=True, initially="DEFERRED")


class _Principals(TypedColumns):
    id: Named[int] = Column(ROW_ID, Identity(always=True), primary_key=True)
    name: Named[str] = Column(Text, unique=True)
    role: Named[str] = Column(Text)
    key_hash: Named[bytes | None] = Column(LargeBinary, unique=True)
    created_at: Named[str] = Column(Text)
    disabled_at: Named[str | None] = Column(Text)
    key_expires_at: Named[str | None] = Column(Text)
    issuer: Named[str | None] = Column(Text)
    subject: Named[str | None] = Column(Text)
    display_name: Named[str | None] = Column(Text)


principals = Table(
    "principals",
    metadata,
    _Principals,
    CheckConstraint(f"role IN ({', '.join(map(repr, map(str, Role)))})", name="role"),
    CheckConstraint("length(key_hash) = 32", name="key_hash"),
    CheckConstraint("(issuer IS NULL) = (subject IS NULL)", name="subject_has_issuer"),
    UniqueConstraint("issuer", "subject"),
)


class _Datasets(TypedColumns):
    id: Named[int] = Column(ROW_ID, Identity(always=True), primary_key=True)
    name: Named[str] = Column(Text, unique=True)
    description: Named[str] = Column(Text)
    owner_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"), index=True)
    columns: Named[str] = Column(Text)
    n: Named[int] = Column(BigInteger)
    rows_per_unit: Named[int] = Column(BigInteger)
    created_at: Named[str] = Column(Text)
    state: Named[str] = Column(Text)
    file_id: Named[str | None] = Column(Text)
    succeeds: Named[str | None] = Column(Text, index=True)
    source: Named[str | None] = Column(Text)

    __row_pos__: tuple[int, str, str, int, str, int, int, str, str, str | None, str | None, str | None]


datasets = Table(
    "datasets",
    metadata,
    _Datasets,
    CheckConstraint("n >= 2", name="n"),
    CheckConstraint("rows_per_unit >= 1", name="rows_per_unit"),
    CheckConstraint("state IN ('open', 'stale', 'closed')", name="state"),
    CheckConstraint("state <> 'closed' OR file_id IS NULL", name="closed_has_no_file"),
)


class _Accounts(TypedColumns):
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("datasets.id"), primary_key=True, autoincrement=False)
    limit_nano: Named[int] = Column(BigInteger)
    spent_nano: Named[int] = Column(BigInteger)
    last_seq: Named[int] = Column(BigInteger)
    head: Named[bytes | None] = Column(LargeBinary)
    stored_bytes: Named[int] = Column(BigInteger, server_default="0")
    facts_hash: Named[bytes | None] = Column(LargeBinary)
    seal: Named[bytes | None] = Column(LargeBinary)


accounts = Table(
    "accounts",
    metadata,
    _Accounts,
    CheckConstraint("limit_nano BETWEEN 0 AND 1000000000000000", name="limit"),
    CheckConstraint("spent_nano BETWEEN 0 AND limit_nano", name="spent_within_limit"),
    CheckConstraint("last_seq >= 0", name="last_seq"),
)


class _Allowances(TypedColumns):
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"), primary_key=True)
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"), primary_key=True, index=True)
    limit_nano: Named[int] = Column(BigInteger)
    spent_nano: Named[int] = Column(BigInteger)
    revoked: Named[bool] = Column(Boolean)
    window_days: Named[int | None] = Column(Integer)
    window_started_at: Named[str | None] = Column(Text)
    stored_bytes: Named[int] = Column(BigInteger, server_default="0")


allowances = Table(
    "allowances",
    metadata,
    _Allowances,
    CheckConstraint("limit_nano BETWEEN 0 AND 1000000000000000", name="limit"),
    CheckConstraint("spent_nano BETWEEN 0 AND limit_nano", name="spent_within_limit"),
    sqlite_with_rowid=False,
)


class _Entries(TypedColumns):
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"), primary_key=True)
    seq: Named[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    kind: Named[str] = Column(Text)
    principal: Named[str] = Column(Text)
    epsilon_nano: Named[int] = Column(BigInteger)
    spent_nano: Named[int] = Column(BigInteger)
    release_id: Named[str | None] = Column(RELEASE_ID, _make_deferred_key("releases.id"), unique=True)
    answer_hash: Named[bytes | None] = Column(LargeBinary)
    window_days: Named[int | None] = Column(Integer)
    reason: Named[str | None] = Column(Text)
    at: Named[str] = Column(Text)
    secret_id: Named[str | None] = Column(Text)
    previous_hash: Named[bytes | None] = Column(LargeBinary)
    hash: Named[bytes | None] = Column(LargeBinary)
    facts_hash: Named[bytes | None] = Column(LargeBinary)

    # fmt: off
    __row_pos__: tuple[
        int, int, str, str, int, int, str | None, bytes | None, int | None, str | None,
        str, str | None, bytes | None, bytes | None, bytes | None,
    ]
    # fmt: on


entries = Table(
    "entries",
    metadata,
    _Entries,
    CheckConstraint("seq >= 1", name="seq"),
    CheckConstraint(
        "kind IN ('open', 'seal', 'allow', 'revoke', 'adjust', 'debit', 'write_off', 'stale', 'revalidate', 'close')",
        name="kind",
    ),
    CheckConstraint("epsilon_nano >= 0 AND spent_nano >= 0", name="not_negative"),
    CheckConstraint("(kind = 'debit') = (release_id IS NOT NULL)", name="debit_has_release"),
    sqlite_with_rowid=False,
)


class _Releases(TypedColumns):
    id: Named[str] = Column(RELEASE_ID)
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"))
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"))
    statistic: Named[str] = Column(Text)
    epsilon_nano: Named[int] = Column(BigInteger)
    gamma: Named[str] = Column(Text)
    grid_refinement: Named[int] = Column(Integer)
    created_at: Named[str] = Column(Text)
    response: Named[bytes] = Column(LargeBinary)  # late, so that SQLite reads the others without reading this one
    seal: Named[bytes | None] = Column(LargeBinary)

    __row_pos__: tuple[str, int, int, str, int, str, int, str, bytes, bytes | None]


releases = Table(
    "releases",
    metadata,
    _Releases,
    PrimaryKeyConstraint("id"),
    CheckConstraint("epsilon_nano > 0", name="epsilon"),
    CheckConstraint("grid_refinement >= 0", name="grid_refinement"),
    Index(None, "dataset_id", "id"),
    Index(None, "principal_id", "id"),
)


class _ReuseCandidates(TypedColumns):
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"), primary_key=True)
    statistic: Named[str] = Column(Text, primary_key=True)
    slot: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    score: Named[float] = Column(Double)
    release_id: Named[str] = Column(RELEASE_ID, ForeignKey("releases.id"))
    seal: Named[bytes | None] = Column(LargeBinary)


reuse_candidates = Table("reuse_candidates", metadata, _ReuseCandidates, sqlite_with_rowid=False)


class _Idempotency(TypedColumns):
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"), primary_key=True)
    key: Named[str] = Column(Text, primary_key=True)
    fingerprint: Named[bytes] = Column(LargeBinary)
    # Indexed because SQLite searches this column when a release is inserted while a deferred reference is unresolved.
    release_id: Named[str] = Column(RELEASE_ID, _make_deferred_key("releases.id"), index=True)
    status: Named[int] = Column(Integer)
    created_at: Named[str] = Column(Text)
    body: Named[bytes | None] = Column(LargeBinary)
    seal: Named[bytes | None] = Column(LargeBinary)


idempotency = Table("idempotency", metadata, _Idempotency, CheckConstraint("status IN (200, 201)", name="status"))


class _BudgetRequests(TypedColumns):
    id: Named[str] = Column(RELEASE_ID, primary_key=True)
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"))
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"))
    epsilon_nano: Named[int] = Column(BigInteger)
    reason: Named[str] = Column(Text)
    created_at: Named[str] = Column(Text)
    state: Named[str] = Column(Text)
    granted_nano: Named[int | None] = Column(BigInteger)
    answer: Named[str | None] = Column(Text)
    answered_by: Named[str | None] = Column(Text)
    answered_at: Named[str | None] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)

    # fmt: off
    __row_pos__: tuple[
        str, int, int, int, str, str, str, int | None, str | None, str | None, str | None, bytes
    ]
    # fmt: on


budget_requests = Table(
    "budget_requests",
    metadata,
    _BudgetRequests,
    CheckConstraint("state IN ('open', 'granted', 'declined')", name="state"),
    CheckConstraint("epsilon_nano > 0", name="epsilon"),
    CheckConstraint("(state = 'granted') = (granted_nano IS NOT NULL)", name="granted_has_amount"),
    CheckConstraint("(state = 'open') = (answered_by IS NULL)", name="answered_has_principal"),
    Index(None, "dataset_id", "id"),
    Index(
        None,
        "dataset_id",
        "principal_id",
        unique=True,
        sqlite_where=text("state = 'open'"),
        postgresql_where=text("state = 'open'"),
    ),
)


class _Figures(TypedColumns):
    id: Named[int] = Column(ROW_ID, Identity(always=True), primary_key=True)
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"))
    name: Named[str] = Column(Text)
    version: Named[int] = Column(Integer)
    withdrawn_at: Named[str | None] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)
    dataset: Named[str] = Column(Text)
    first_version: Named[int] = Column(Integer)
    public_from: Named[int | None] = Column(Integer)
    published_at: Named[str] = Column(Text)

    __row_pos__: tuple[int, int, str, int, str | None, bytes, str, int, int | None, str]


_PUBLIC = text("withdrawn_at IS NULL AND public_from IS NOT NULL")

# Lists and the feed read as many rows of an index as they show; those without a key read that of public figures.
# The other two indexes have no condition: SQLite would take them for as short as those of public figures.
figures = Table(
    "figures",
    metadata,
    _Figures,
    UniqueConstraint("dataset_id", "name"),
    CheckConstraint("version >= 1", name="version"),
    CheckConstraint("first_version BETWEEN 1 AND version + 1", name="first_version"),
    CheckConstraint("public_from BETWEEN 1 AND version", name="public_from"),
    Index("ix_figures_by_name", "dataset", "name"),
    Index("ix_figures_by_time", "published_at", "id"),
    Index("ix_figures_public_by_name", "dataset", "name", sqlite_where=_PUBLIC, postgresql_where=_PUBLIC),
    Index("ix_figures_public_by_time", "published_at", "id", sqlite_where=_PUBLIC, postgresql_where=_PUBLIC),
)


class _FigureVersions(TypedColumns):
    figure_id: Named[int] = Column(ROW_ID, ForeignKey("figures.id"), primary_key=True)
    version: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    title: Named[str] = Column(Text)
    note: Named[str | None] = Column(Text)
    source: Named[str] = Column(Text)
    published_by: Named[str] = Column(Text)
    published_at: Named[str] = Column(Text)
    rows_hash: Named[bytes] = Column(LargeBinary)
    seal: Named[bytes] = Column(LargeBinary)
    rows: Named[bytes] = Column(LargeBinary)  # last, so that SQLite reads the others without reading this one

    __row_pos__: tuple[int, int, str, str | None, str, str, str, bytes, bytes, bytes]


figure_versions = Table("figure_versions", metadata, _FigureVersions, CheckConstraint("version >= 1", name="version"))


class _FigureOutbox(TypedColumns):
    figure_id: Named[int] = Column(ROW_ID, ForeignKey("figures.id"), primary_key=True, autoincrement=False)
    change: Named[int] = Column(BigInteger)
    written: Named[int] = Column(BigInteger)

    __row_pos__: tuple[int, int, int]


# The number of each figure's changes, and the last one that the figures' database is known to have.
figure_outbox = Table("figure_outbox", metadata, _FigureOutbox)


class _Viewers(TypedColumns):
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"), primary_key=True)
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"), primary_key=True, index=True)
    granted_at: Named[str] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)

    __row_pos__: tuple[int, int, str, bytes]


# Who may see a dataset's figures, and nothing else of it.
viewers = Table("viewers", metadata, _Viewers)


class _Reports(TypedColumns):
    id: Named[int] = Column(ROW_ID, Identity(always=True), primary_key=True)
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"))
    name: Named[str] = Column(Text)
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"))
    definition: Named[str] = Column(Text)
    run_limit_nano: Named[int] = Column(BigInteger)
    total_limit_nano: Named[int] = Column(BigInteger)
    spent_nano: Named[int] = Column(BigInteger)
    changed_at: Named[str] = Column(Text)
    withdrawn_at: Named[str | None] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)

    __row_pos__: tuple[int, int, str, int, str, int, int, int, str, str | None, bytes]


# Batches to be released on the dataset that succeeds the one where each report is.
reports = Table(
    "reports",
    metadata,
    _Reports,
    UniqueConstraint("dataset_id", "name"),
    CheckConstraint("run_limit_nano > 0", name="run_limit"),
    CheckConstraint("spent_nano BETWEEN 0 AND total_limit_nano", name="spent_within_limit"),
)


class _ReportRuns(TypedColumns):
    report_id: Named[int] = Column(ROW_ID, ForeignKey("reports.id"), primary_key=True)
    number: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    dataset_id: Named[int] = Column(ROW_ID, ForeignKey("accounts.dataset_id"), index=True)
    state: Named[str] = Column(Text)
    queued_at: Named[str] = Column(Text)
    ended_at: Named[str | None] = Column(Text)
    principal: Named[str | None] = Column(Text)
    figures: Named[str | None] = Column(Text)
    charged_nano: Named[int] = Column(BigInteger)
    release_ids: Named[str | None] = Column(Text)
    problem: Named[str | None] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)

    # fmt: off
    __row_pos__: tuple[
        int, int, int, str, str, str | None, str | None, str | None, int, str | None, str | None, bytes
    ]
    # fmt: on


# What each report did, or is to do, on the datasets that it came to: on each at most once.
report_runs = Table(
    "report_runs",
    metadata,
    _ReportRuns,
    UniqueConstraint("report_id", "dataset_id"),
    CheckConstraint("state IN ('pending', 'released', 'done', 'refused')", name="state"),
    CheckConstraint("number >= 1", name="number"),
    CheckConstraint("charged_nano >= 0", name="charged"),
)


class _Collections(TypedColumns):
    id: Named[int] = Column(ROW_ID, Identity(always=True), primary_key=True)
    name: Named[str] = Column(Text, unique=True)
    title: Named[str] = Column(Text)
    note: Named[str | None] = Column(Text)
    audience: Named[str] = Column(Text)
    owner_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"))
    members_hash: Named[bytes] = Column(LargeBinary)
    changed_at: Named[str] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)

    __row_pos__: tuple[int, str, str, str | None, str, int, bytes, str, bytes]


collections = Table(
    "collections", metadata, _Collections, CheckConstraint("audience IN ('viewers', 'public')", name="audience")
)


class _CollectionFigures(TypedColumns):
    collection_id: Named[int] = Column(ROW_ID, ForeignKey("collections.id"), primary_key=True)
    position: Named[int] = Column(Integer, primary_key=True, autoincrement=False)
    figure_id: Named[int] = Column(ROW_ID, ForeignKey("figures.id"), index=True)

    __row_pos__: tuple[int, int, int]


# The figures of each collection, in their order; the collection's seal covers them.
collection_figures = Table("collection_figures", metadata, _CollectionFigures)


class _CollectionViewers(TypedColumns):
    collection_id: Named[int] = Column(ROW_ID, ForeignKey("collections.id"), primary_key=True)
    principal_id: Named[int] = Column(ROW_ID, ForeignKey("principals.id"), primary_key=True, index=True)
    granted_at: Named[str] = Column(Text)
    seal: Named[bytes] = Column(LargeBinary)

    __row_pos__: tuple[int, int, str, bytes]


# Who may see the figures of a collection, and nothing else of their datasets.
collection_viewers = Table("collection_viewers", metadata, _CollectionViewers)


class _CollectionOutbox(TypedColumns):
    name: Named[str] = Column(Text, primary_key=True)
    change: Named[int] = Column(BigInteger)
    written: Named[int] = Column(BigInteger)

    __row_pos__: tuple[str, int, int]


# The number of each collection's changes, also of one that was deleted, as in `figure_outbox`.
collection_outbox = Table("collection_outbox", metadata, _CollectionOutbox)


class _Verifications(TypedColumns):
    ledger: Named[str] = Column(Text, primary_key=True)
    at: Named[str] = Column(Text)
    via: Named[str] = Column(Text)
    actor: Named[str | None] = Column(Text)
    entries: Named[int] = Column(BigInteger)
    problems: Named[int] = Column(Integer)
    seal: Named[bytes] = Column(LargeBinary)
    state: Named[str | None] = Column(Text)

    __row_pos__: tuple[str, str, str, str | None, int, int, bytes, str | None]


# The latest verification of each ledger, by its path below /v1.
verifications = Table(
    "verifications",
    metadata,
    _Verifications,
    CheckConstraint("via IN ('principal', 'command', 'service')", name="via"),
)


class _Audit(TypedColumns):
    seq: Named[int] = Column(BigInteger, primary_key=True, autoincrement=False)
    via: Named[str] = Column(Text)
    actor: Named[str | None] = Column(Text)
    action: Named[str] = Column(Text)
    target: Named[str | None] = Column(Text)
    details: Named[str] = Column(Text)
    request_id: Named[str | None] = Column(Text)
    at: Named[str] = Column(Text)
    secret_id: Named[str] = Column(Text)
    previous_hash: Named[bytes | None] = Column(LargeBinary)
    hash: Named[bytes] = Column(LargeBinary)

    __row_pos__: tuple[int, str, str | None, str, str | None, str, str | None, str, str, bytes | None, bytes]


audit = Table(
    "audit",
    metadata,
    _Audit,
    CheckConstraint("seq >= 1", name="seq"),
    CheckConstraint("via IN ('principal', 'command', 'service')", name="via"),
    sqlite_with_rowid=False,
)


class _Relocations(TypedColumns):
    id: Named[str] = Column(Text, primary_key=True)
    state: Named[str] = Column(Text)
    other: Named[str] = Column(Text)
    at: Named[str] = Column(Text)

    __row_pos__: tuple[str, str, str, str]


# This table has a row for as long as a move to or from another database forbids writes to this one.
relocations = Table(
    "relocations", metadata, _Relocations, CheckConstraint("state IN ('arriving', 'retired')", name="state")
)
