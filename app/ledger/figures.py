"""Figures: published answers under a name. A version never changes; each row has a seal, which every reader checks."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, func, insert, or_, select, tuple_, update

from app.db.page_queries import page_queries
from app.db.repositories.datasets import visible_to
from app.db.session import Session, WriteSession
from app.db.tables import datasets, figure_versions, figures, principals, viewers
from app.errors import DamagedAnswerError, SealBrokenError
from app.ledger import figure_outbox
from app.ledger.answers.answer_storage import of_content, open_body
from app.ledger.chain.keyring import Keyring, Seal

FIGURE_VERSION, VERSION_VERSION = "snapledger-figure-v1", "snapledger-figure-version-v1"

Audience = Literal["viewers", "public"]


class Figure(NamedTuple):
    """A figure. The fields are the columns, in order.

    Attributes:
        version: the number of its latest version.
        audience: who may see it besides those who see the dataset: `viewers` of the dataset, or everybody.
        withdrawn_at: when it was withdrawn; None while it is published.
    """

    id: int
    dataset_id: int
    name: str
    version: int
    audience: Audience
    withdrawn_at: str | None
    seal: bytes


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
    """A figure with one of its versions, and the name of its dataset."""

    dataset: str
    figure: Figure
    version: FigureVersion


MAX_VERSION = 2**31 - 1  # of the column

_AFTER = tuple_(bindparam("after_dataset"), bindparam("after_figure"))
_WIDTH = len(figures.c)
_VERSION = tuple(figure_versions.c[:-1])
_PUBLISHED = (
    select(datasets.c.name.label("dataset"), *figures.c, *_VERSION)
    .join_from(figures, datasets, datasets.c.id == figures.c.dataset_id)
    .join(figure_versions, figure_versions.c.figure_id == figures.c.id)
)
_LATEST = _PUBLISHED.where(figure_versions.c.version == figures.c.version)
_OF_DATASET = figures.c.dataset_id == bindparam("dataset_id")
_NAMED = figures.c.name == bindparam("figure")
_LATEST_NAMED = _LATEST.where(_OF_DATASET, _NAMED)
_ONE_VERSION = _PUBLISHED.where(_OF_DATASET, _NAMED, figure_versions.c.version == bindparam("version"))
_VERSIONS = page_queries(_PUBLISHED.where(_OF_DATASET, _NAMED), figure_versions.c.version)
_FIGURE = select(figures).where(_OF_DATASET, _NAMED)
_ROWS = select(figure_versions.c.rows).where(
    figure_versions.c.figure_id == bindparam("figure_id"), figure_versions.c.version == bindparam("version")
)
_ALL_VERSIONS = _PUBLISHED.where(_OF_DATASET).order_by(figures.c.id, figure_versions.c.version)
_COUNT = select(func.count().label("found")).select_from(figures).where(_OF_DATASET)
_PATTERN: BindParameter[str] = bindparam("pattern")
_IS_LIKE = or_(
    figures.c.name.like(_PATTERN, escape="\\"), func.lower(figure_versions.c.title).like(_PATTERN, escape="\\")
)
_SHOWN = _LATEST.where(figures.c.withdrawn_at.is_(None)).limit(bindparam("most"))
_BY_NAME = _SHOWN.where(_IS_LIKE, tuple_(datasets.c.name, figures.c.name) > _AFTER).order_by(
    datasets.c.name, figures.c.name
)
_BY_TIME = _SHOWN.order_by(figure_versions.c.published_at.desc(), figures.c.id)
_ALL_FIGURES = select(figures).where(_OF_DATASET)
_STRAYS = {
    "figure": select(figures.c.name).where(figures.c.dataset_id.not_in(select(datasets.c.id))).limit(1),
    "version of a figure": select(figure_versions.c.title)
    .where(figure_versions.c.figure_id.not_in(select(figures.c.id)))
    .limit(1),
    "viewer": select(viewers.c.granted_at)
    .where(
        or_(viewers.c.dataset_id.not_in(select(datasets.c.id)), viewers.c.principal_id.not_in(select(principals.c.id)))
    )
    .limit(1),
}
_INSERT = insert(figures).returning(figures.c.id)
_SET = (
    update(figures)
    .where(figures.c.id == bindparam("figure_id"))
    .values(
        version=bindparam("latest"),
        audience=bindparam("seen_by"),
        withdrawn_at=bindparam("at"),
        seal=bindparam("new_seal"),
    )
)
_INSERT_VERSION = insert(figure_versions).inline()


def _seal_figure(seal: Seal, figure: Figure) -> bytes:
    return seal.seal_row(FIGURE_VERSION, *figure[:-1])


def _members(version: FigureVersion) -> tuple[int | str | bytes | None, ...]:
    return (
        *(version.figure_id, version.version, version.title, version.note, version.source),
        *(version.published_by, version.published_at, version.rows_hash),
    )


def is_sealed(keyring: Keyring, found: Published) -> bool:
    """Whether a figure and its version match their seals."""
    figure, version = found.figure, found.version
    return keyring.is_sealed(figure.seal, FIGURE_VERSION, *figure[:-1]) and keyring.is_sealed(
        version.seal, VERSION_VERSION, *_members(version)
    )


def _require_sealed(keyring: Keyring, found: Published) -> Published:
    if not is_sealed(keyring, found):
        raise SealBrokenError
    return found


def published_of_row(row: tuple[object, ...]) -> Published:
    """Return what a query of `_PUBLISHED`'s columns found."""
    dataset, *members = row
    return Published(str(dataset), Figure(*members[:_WIDTH]), FigureVersion(*members[_WIDTH:]))  # type: ignore[arg-type]


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
    dataset_id: int,
    name: str,
    after: int | None,
    limit: int,
    *,
    newest: bool = False,
) -> list[Published]:
    """Return at most `limit` versions of a figure, oldest or newest first, that follow the version `after`.

    Raises:
        SealBrokenError: one does not match its seal.
    """
    start = min(after if after is not None else MAX_VERSION if newest else 0, MAX_VERSION)
    query = _VERSIONS.choose(newest=newest)
    rows = session.rows(query, dataset_id=dataset_id, figure=name, after=start, most=limit)
    return [_require_sealed(keyring, published_of_row(row)) for row in rows]


@dataclass(frozen=True, slots=True)
class Reader:
    """Who lists figures: a principal that sees every dataset, or some, or nobody (`principal_id` is None)."""

    principal_id: int | None = None
    sees_all: bool = False


def _seen_by_principal() -> ColumnElement[bool]:
    principal = bindparam("reader", type_=datasets.c.owner_id.type)
    granted = select(viewers.c.dataset_id).where(viewers.c.principal_id == principal)
    return or_(visible_to(principal), figures.c.dataset_id.in_(granted))


@cache
def _list_query(
    listed: Select[*tuple[Any, ...]], *, of_dataset: bool, of_principal: bool, sees_all: bool
) -> Select[*tuple[Any, ...]]:
    query = listed.where(_OF_DATASET) if of_dataset else listed
    if sees_all:
        return query
    is_public = figures.c.audience == "public"
    return query.where(or_(is_public, _seen_by_principal()) if of_principal else is_public)


def page_of_figures(  # noqa: PLR0913 - who asks, and for what
    session: Session,
    keyring: Keyring,
    reader: Reader,
    after: tuple[str, str],
    limit: int,
    *,
    search: str = "",
    dataset_id: int | None = None,
) -> list[Published]:
    """Return at most `limit` published figures that a reader may see, by the names of dataset and figure.

    The page follows the dataset and the figure `after`. Only figures whose name or title contains `search`, in any
    case, are listed, and only those of the dataset with `dataset_id`, if it is given. Figures that do not match their
    seals are left out: `find_unsealed` tells of them.
    """
    escaped = search.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    listed: list[Published] = []
    while len(listed) < limit:
        within = {"after_dataset": after[0], "after_figure": after[1], "pattern": f"%{escaped}%", "most": limit}
        rows = _list(session, _BY_NAME, reader, dataset_id, **within)
        listed += [each for each in rows if is_sealed(keyring, each)]
        if len(rows) < limit:
            break
        after = rows[-1].dataset, rows[-1].figure.name
    return listed[:limit]


def latest_figures(session: Session, keyring: Keyring, reader: Reader, limit: int) -> list[Published]:
    """Return at most `limit` published figures that a reader may see, the latest first, as `page_of_figures`."""
    return [each for each in _list(session, _BY_TIME, reader, None, most=limit) if is_sealed(keyring, each)]


def _list(
    session: Session, listed: Select[*tuple[Any, ...]], reader: Reader, dataset_id: int | None, **within: object
) -> list[Published]:
    of_principal = reader.principal_id is not None and not reader.sees_all
    query = _list_query(listed, of_dataset=dataset_id is not None, of_principal=of_principal, sees_all=reader.sees_all)
    if dataset_id is not None:
        within["dataset_id"] = dataset_id
    if of_principal:
        within["reader"] = reader.principal_id
    return list(map(published_of_row, session.rows(query, **within)))


def count_figures(session: Session, dataset_id: int) -> int:
    """Return how many figures a dataset has, withdrawn ones included."""
    found: int = session.row(_COUNT, dataset_id=dataset_id).found
    return found


def read_rows(session: Session, version: FigureVersion) -> bytes:
    """Return the stored rows of a version, as `app.ledger.answers.answer_storage` opens them."""
    row = session.row(_ROWS, figure_id=version.figure_id, version=version.version)
    content: bytes = b"" if row is None else row.rows
    return content


def publish_version(  # noqa: PLR0913, PLR0917 - what it was and is, and its rows
    transaction: WriteSession, seal: Seal, before: Figure | None, figure: Figure, version: FigureVersion, rows: bytes
) -> Published:
    """Seal and store a new version with its stored rows, under the lock of the dataset's account.

    `before` is the figure as it is now, or None if it is new; `figure` is as it is to be, with the number of this
    version. Ids and seals are replaced.
    """
    figure_id = 0 if before is None else before.id
    if before is None:
        made = transaction.change_returning(_INSERT, **_figure_values(figure))
        figure_id = made.id
    figure = _set(transaction, seal, figure._replace(id=figure_id))
    version = replace(version, figure_id=figure_id)
    version = replace(version, seal=seal.seal_row(VERSION_VERSION, *_members(version)))
    values = {name: getattr(version, name) for name in FigureVersion.__dataclass_fields__}
    transaction.change_one(_INSERT_VERSION, **values, rows=rows)
    figure_outbox.add_change(transaction, figure_id)
    return Published("", figure, version)


def withdraw_figure(transaction: WriteSession, seal: Seal, figure: Figure, at: str) -> None:
    """Withdraw a figure, under the lock of the dataset's account; its versions are kept for those who manage it."""
    _set(transaction, seal, figure._replace(withdrawn_at=at))
    figure_outbox.add_change(transaction, figure.id)


def _figure_values(figure: Figure) -> dict[str, object]:
    return {name: value for name, value in figure._asdict().items() if name != "id"}


def _set(transaction: WriteSession, seal: Seal, figure: Figure) -> Figure:
    sealed = figure._replace(seal=_seal_figure(seal, figure))
    transaction.change_one(
        _SET,
        figure_id=sealed.id,
        latest=sealed.version,
        seen_by=sealed.audience,
        at=sealed.withdrawn_at,
        new_seal=sealed.seal,
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


def find_strays(session: Session) -> Iterator[str]:
    """Yield a problem for each kind of row about figures that belongs to nothing, which no dataset's ledger shows."""
    for what, query in _STRAYS.items():
        if session.row(query) is not None:
            yield f"a {what} belongs to nothing: it was changed, or what it belonged to"
