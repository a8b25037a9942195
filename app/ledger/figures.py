"""Figures: published answers under a name. A version never changes; each row has a seal, which every reader checks."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from sqlalchemy import bindparam, func, insert, select, update

from app.db.page_queries import page_queries
from app.db.session import Session, WriteSession
from app.db.tables import datasets, figure_versions, figures
from app.errors import DamagedAnswerError, SealBrokenError
from app.ledger import outboxes
from app.ledger.answers.answer_storage import of_content, open_body
from app.ledger.chain.keyring import Keyring, Seal

FIGURE_VERSION, VERSION_VERSION = "snapledger-figure-v2", "snapledger-figure-version-v1"

Audience = Literal["viewers", "public"]


class Figure(NamedTuple):
    """A figure. The fields are the columns, in order.

    Attributes:
        version: the number of its latest version.
        withdrawn_at: when it was withdrawn; None while it is published.
        dataset: the name of its dataset.
        first_version: the number of the first version that is shown; those before it are withdrawn for good.
        public_from: the number of the first version that everybody may see, since it and all later ones were published
            for everybody; None if the latest version was not.
        published_at: when its latest version was published.
    """

    id: int
    dataset_id: int
    name: str
    version: int
    withdrawn_at: str | None
    seal: bytes
    dataset: str
    first_version: int
    public_from: int | None
    published_at: str

    @property
    def audience(self) -> Audience:
        """Who may see its latest version, besides those who see the dataset."""
        return self.audience_of(self.version)

    def audience_of(self, version: int) -> Audience:
        """Who may see a version, besides those who see the dataset: the `viewers` of the dataset, or everybody."""
        return "viewers" if self.public_from is None or version < self.public_from else "public"

    def is_shown(self, version: int, *, is_reader: bool) -> bool:
        """Whether a version is shown: to readers of the dataset's figures, or to everybody."""
        seen = is_reader or self.audience_of(version) == "public"
        return seen and self.withdrawn_at is None and version >= self.first_version

    def publish(self, audience: Audience, published_at: str) -> "Figure":
        """Return the figure with one more version.

        Versions from before it was withdrawn stay withdrawn, and those from before it was made public stay as they are.
        """
        version = self.version + 1
        public_from = None if audience == "viewers" else self.public_from or version
        return self._replace(version=version, withdrawn_at=None, public_from=public_from, published_at=published_at)

    def withdraw(self, at: str) -> "Figure":
        """Return the figure without any version that is shown."""
        return self._replace(withdrawn_at=at, first_version=self.version + 1)


@dataclass(frozen=True, slots=True)
class FigureVersion:
    """What was published once. The fields are the columns, in order, without the rows.

    Attributes:
        source: what it was published from, as JSON.
        published_by: the principal's name.
        rows_hash: the SHA-256 of the rows' JSON.
    """

    figure_id: int
    version: int
    title: str
    note: str | None
    source: str
    published_by: str
    published_at: str
    rows_hash: bytes
    seal: bytes


class Published(NamedTuple):
    """A figure with one of its versions."""

    figure: Figure
    version: FigureVersion

    @property
    def dataset(self) -> str:
        """The name of the figure's dataset."""
        return self.figure.dataset


MAX_VERSION = 2**31 - 1  # of the column

_WIDTH = len(figures.c)
_VERSION = tuple(figure_versions.c[:-1])
_PUBLISHED = select(*figures.c, *_VERSION).join_from(
    figures, figure_versions, figure_versions.c.figure_id == figures.c.id
)
LATEST = _PUBLISHED.where(figure_versions.c.version == figures.c.version)
"""The latest version of each figure, as `published_of_row` reads it."""

_OF_DATASET = figures.c.dataset_id == bindparam("dataset_id")
_NAMED = figures.c.name == bindparam("figure")
_LATEST_NAMED = LATEST.where(_OF_DATASET, _NAMED)
_ONE_VERSION = _PUBLISHED.where(_OF_DATASET, _NAMED, figure_versions.c.version == bindparam("version"))
_VERSIONS = page_queries(
    _PUBLISHED.where(_OF_DATASET, _NAMED, figure_versions.c.version >= bindparam("first")), figure_versions.c.version
)
_FIGURE = select(figures).where(_OF_DATASET, _NAMED)
_ROWS = select(figure_versions.c.rows).where(
    figure_versions.c.figure_id == bindparam("figure_id"), figure_versions.c.version == bindparam("version")
)
_TIME = select(figure_versions.c.published_at).where(
    figure_versions.c.figure_id == bindparam("figure_id"), figure_versions.c.version == bindparam("version")
)
_ALL_VERSIONS = _PUBLISHED.where(_OF_DATASET).order_by(figures.c.id, figure_versions.c.version)
_COUNT = select(func.count().label("found")).select_from(figures).where(_OF_DATASET)
_COUNT_IN_FORCE = _COUNT.where(figures.c.withdrawn_at.is_(None))
_COUNT_OF_PRINCIPAL = _COUNT.join_from(
    figures,
    figure_versions,
    (figure_versions.c.figure_id == figures.c.id) & (figure_versions.c.version == figures.c.version),
).where(figure_versions.c.published_by == bindparam("publisher"))
_ALL_FIGURES = select(figures).where(_OF_DATASET)

STRAYS = {
    "figure": select(figures.c.name).where(figures.c.dataset_id.not_in(select(datasets.c.id))).limit(1),
    "version of a figure": select(figure_versions.c.title)
    .where(figure_versions.c.figure_id.not_in(select(figures.c.id)))
    .limit(1),
}
"""Find rows that belong to nothing, which no dataset's ledger shows, by what they are."""

_INSERT = insert(figures).returning(figures.c.id)
_SET = (
    update(figures)
    .where(figures.c.id == bindparam("figure_id"))
    .values(
        version=bindparam("latest"),
        withdrawn_at=bindparam("at"),
        seal=bindparam("new_seal"),
        first_version=bindparam("first"),
        public_from=bindparam("public"),
        published_at=bindparam("published"),
    )
)
_INSERT_VERSION = insert(figure_versions).inline()


def _figure_members(figure: Figure) -> tuple[int | str | None, ...]:
    return (
        *(figure.id, figure.dataset_id, figure.name, figure.version, figure.withdrawn_at, figure.dataset),
        *(figure.first_version, figure.public_from, figure.published_at),
    )


def _members(version: FigureVersion) -> tuple[int | str | bytes | None, ...]:
    return (
        *(version.figure_id, version.version, version.title, version.note, version.source),
        *(version.published_by, version.published_at, version.rows_hash),
    )


def seal_figure(seal: Seal, figure: Figure) -> bytes:
    """Return the seal of a figure."""
    return seal.seal_row(FIGURE_VERSION, *_figure_members(figure))


def is_sealed(keyring: Keyring, found: Published) -> bool:
    """Whether a figure and its version match their seals."""
    figure, version = found.figure, found.version
    return keyring.is_sealed(figure.seal, FIGURE_VERSION, *_figure_members(figure)) and keyring.is_sealed(
        version.seal, VERSION_VERSION, *_members(version)
    )


def _require_sealed(keyring: Keyring, found: Published) -> Published:
    if not is_sealed(keyring, found):
        raise SealBrokenError
    return found


def published_of_row(row: tuple[object, ...]) -> Published:
    """Return what a query that begins with the columns of `LATEST` found."""
    return Published(Figure(*row[:_WIDTH]), FigureVersion(*row[_WIDTH : _WIDTH + len(_VERSION)]))  # type: ignore[arg-type]


def find_figure(session: Session, dataset_id: int, name: str) -> Figure | None:
    """Return a figure, published or withdrawn, or None."""
    row = session.row(_FIGURE, dataset_id=dataset_id, figure=name)
    return None if row is None else Figure(*row)


def find_published(
    session: Session, keyring: Keyring, dataset_id: int, name: str, version: int | None = None
) -> Published | None:
    """Return the latest version of a figure, or the one with this number, also if it is withdrawn; None without one.

    Raises:
        SealBrokenError: the figure or the version does not match its seal.
    """
    if version is None:
        row = session.row(_LATEST_NAMED, dataset_id=dataset_id, figure=name)
    else:
        row = session.row(_ONE_VERSION, dataset_id=dataset_id, figure=name, version=version)
    return None if row is None else _require_sealed(keyring, published_of_row(row))


def page_of_versions(  # noqa: PLR0913, PLR0917 - which, of what, from where
    session: Session,
    keyring: Keyring,
    figure: Figure,
    first: int,
    after: int | None,
    limit: int,
    *,
    newest: bool = False,
) -> list[Published]:
    """Return at most `limit` versions of a figure, oldest or newest first, that follow the version `after`.

    Versions before the number `first` are left out.

    Raises:
        SealBrokenError: one does not match its seal.
    """
    start = min(after if after is not None else MAX_VERSION if newest else 0, MAX_VERSION)
    query = _VERSIONS.choose(newest=newest)
    within = {"dataset_id": figure.dataset_id, "figure": figure.name, "first": first, "after": start, "most": limit}
    rows = session.rows(query, **within)
    return [_require_sealed(keyring, published_of_row(row)) for row in rows]


def count_figures(session: Session, dataset_id: int, publisher: str) -> tuple[int, int]:
    """Return how many figures of a dataset are in force, and how many a principal published last, withdrawn or not."""
    in_force: int = session.row(_COUNT_IN_FORCE, dataset_id=dataset_id).found
    own: int = session.row(_COUNT_OF_PRINCIPAL, dataset_id=dataset_id, publisher=publisher).found
    return in_force, own


def read_rows(session: Session, version: FigureVersion) -> bytes:
    """Return the stored rows of a version, as `app.ledger.answers.answer_storage` opens them."""
    row = session.row(_ROWS, figure_id=version.figure_id, version=version.version)
    content: bytes = b"" if row is None else row.rows
    return content


def find_publication_time(session: Session, figure_id: int, version: int) -> str | None:
    """Return when a version was published, or None if there is no such version. Its seal is not checked."""
    row = session.row(_TIME, figure_id=figure_id, version=version)
    return None if row is None else row.published_at


def new_figure(dataset_id: int, dataset: str, name: str) -> Figure:
    """Return a figure without a version, which is not stored yet."""
    return Figure(0, dataset_id, name, 0, None, b"", dataset, 1, None, "")


def publish_version(
    transaction: WriteSession, seal: Seal, figure: Figure, version: FigureVersion, rows: bytes
) -> Published:
    """Seal and store a new version with its stored rows, under the lock of the dataset's account.

    `figure` is as it is to be, with the number of this version. Ids and seals are replaced.
    """
    if figure.id == 0:
        made = transaction.change_returning(_INSERT, **_figure_values(figure))
        figure = figure._replace(id=made.id)
    figure = _set(transaction, seal, figure)
    version = replace(version, figure_id=figure.id)
    version = replace(version, seal=seal.seal_row(VERSION_VERSION, *_members(version)))
    values = {name: getattr(version, name) for name in FigureVersion.__dataclass_fields__}
    transaction.change_one(_INSERT_VERSION, **values, rows=rows)
    outboxes.OF_FIGURES.add_change(transaction, figure.id)
    return Published(figure, version)


def withdraw_figure(transaction: WriteSession, seal: Seal, figure: Figure, at: str) -> None:
    """Withdraw a figure, under the lock of the dataset's account; its versions are kept, and not shown any more."""
    _set(transaction, seal, figure.withdraw(at))
    outboxes.OF_FIGURES.add_change(transaction, figure.id)


def _figure_values(figure: Figure) -> dict[str, object]:
    return {name: value for name, value in figure._asdict().items() if name != "id"}


def _set(transaction: WriteSession, seal: Seal, figure: Figure) -> Figure:
    sealed = figure._replace(seal=seal_figure(seal, figure))
    transaction.change_one(
        _SET,
        figure_id=sealed.id,
        latest=sealed.version,
        at=sealed.withdrawn_at,
        new_seal=sealed.seal,
        first=sealed.first_version,
        public=sealed.public_from,
        published=sealed.published_at,
    )
    return sealed


def find_unsealed(session: Session, keyring: Keyring, dataset_id: int) -> Iterator[str]:
    """Yield a problem for each of a dataset's figures that does not match its seal, or lacks a version.

    Each version must match its seal too, and its rows their hash.
    """
    found: dict[int, set[object]] = {}
    for row in session.rows(_ALL_VERSIONS, dataset_id=dataset_id):
        published = published_of_row(row)
        version = published.version
        found.setdefault(published.figure.id, set()).add(version.version)
        if not is_sealed(keyring, published) or not _are_rows_whole(session, version):
            yield f"the figure {published.figure.name}, version {version.version}, was changed after it was sealed"
    for row in session.rows(_ALL_FIGURES, dataset_id=dataset_id):
        figure = Figure(*row)
        if not isinstance(figure.version, int) or len(found.get(figure.id, ())) != figure.version:
            yield f"the figure {figure.name} lacks a version"


def _are_rows_whole(session: Session, version: FigureVersion) -> bool:
    try:
        return open_rows(read_rows(session, version), version.rows_hash) is not None
    except (DamagedAnswerError, TypeError, ValueError):  # SQLite takes any value in any column
        return False


def open_rows(content: bytes, rows_hash: bytes) -> bytes:
    """Return the JSON of a version's stored rows.

    Raises:
        DamagedAnswerError: they are not what was published.
    """
    plain = open_body(of_content(content), len(content)).content()
    if hashlib.sha256(plain).digest() != rows_hash:
        raise DamagedAnswerError
    return plain
