"""Registered tables: their public facts and the location of their data."""

from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import ColumnElement, bindparam, literal, or_, select, update

from app.db.dialects.upsert import upsert
from app.db.page_queries import MAX_NUMBER, page_queries
from app.db.session import Session, WriteSession
from app.db.tables import allowances, datasets
from app.errors import InvalidRequestError, NameTakenError


class Dataset(NamedTuple):
    """A table of `n` rows, at most `rows_per_unit` of them from one unit. The fields are the columns, in order.

    Attributes:
        columns: the declared columns as JSON.
        state: `open`, `stale` (a live table that is no longer the one that was registered) or `closed`.
        file_id: the id of the file with the data; None after it was deleted.
        succeeds: the name of an earlier dataset with data of the same people.
        source: the origin of the data as JSON, which only the owner sees; None after the data was deleted.
    """

    id: int
    name: str
    description: str
    owner_id: int
    columns: str
    n: int
    rows_per_unit: int
    created_at: str
    state: str
    file_id: str | None
    succeeds: str | None = None
    source: str | None = None

    @property
    def stale(self) -> bool:
        """Whether the live table has changed since it was registered."""
        return self.state == "stale"

    @property
    def closed(self) -> bool:
        """Whether the data is deleted."""
        return self.state == "closed"


def visible_to(principal_id: ColumnElement[int]) -> ColumnElement[bool]:
    """The SQL condition that a principal may see a row's dataset: it owns the dataset or has an allowance on it."""
    granted = select(allowances.c.dataset_id).where(
        allowances.c.principal_id == principal_id, allowances.c.revoked.is_(False)
    )
    return or_(datasets.c.owner_id == principal_id, datasets.c.id.in_(granted))


succeeded = datasets.alias("succeeded")

_VIEWER = bindparam("viewer", type_=datasets.c.owner_id.type)
_SELECT = select(datasets)
_BY_NAME = _SELECT.where(datasets.c.name == bindparam("name"))
_PAGE = page_queries(_SELECT, datasets.c.id)
_VISIBLE_BY_NAME = _BY_NAME.where(visible_to(_VIEWER))
_VISIBLE_PAGE = _PAGE.where(visible_to(_VIEWER))
_INSERT = upsert(
    datasets, lambda insert: insert.on_conflict_do_nothing(index_elements=["name"]).returning(datasets.c.id)
)
_FILES = select(datasets.c.file_id).where(datasets.c.file_id.is_not(None)).order_by(datasets.c.id)
_SUCCESSORS = (
    select(datasets.c.succeeds, datasets.c.name, literal(value=True).label("seen"))
    .where(
        datasets.c.succeeds.in_(
            select(succeeded.c.name).where(succeeded.c.id.between(bindparam("first"), bindparam("last")))
        )
    )
    .order_by(datasets.c.id)
)
_SUCCESSORS_SEEN = _SUCCESSORS.with_only_columns(
    datasets.c.succeeds, datasets.c.name, visible_to(_VIEWER).label("seen")
)
_PREDECESSORS = select(datasets.c.name).where(
    datasets.c.name.in_(
        select(succeeded.c.succeeds).where(succeeded.c.id.between(bindparam("first"), bindparam("last")))
    )
)
_PREDECESSORS_SEEN = _PREDECESSORS.where(visible_to(_VIEWER))
_CLOSE = (
    update(datasets)
    .where(datasets.c.id == bindparam("dataset"), datasets.c.state != "closed")
    .values(state="closed", file_id=None, source=None)
)
_MARK = (
    update(datasets)
    .where(datasets.c.id == bindparam("dataset"), datasets.c.state != "closed")
    .values(state=bindparam("found"))
)
_OWNED = select(datasets.c.id).where(datasets.c.id == bindparam("dataset"), datasets.c.owner_id == _VIEWER)
_SEEN = select(datasets.c.id).where(datasets.c.id == bindparam("dataset"), visible_to(_VIEWER))
_HAS_FILE = select(datasets.c.id).where(datasets.c.file_id == bindparam("file"))


def insert_dataset(  # noqa: PLR0913 - a row's columns, by name
    transaction: WriteSession,
    *,
    name: str,
    description: str,
    owner_id: int,
    columns: str,
    n: int,
    rows_per_unit: int,
    created_at: str,
    file_id: str | None,
    succeeds: str | None = None,
    source: str | None = None,
) -> Dataset:
    """Register a table.

    Raises:
        NameTakenError: a dataset with this name exists, perhaps a closed one.
    """
    row = transaction.change_returning(
        _INSERT[transaction.dialect],
        name=name,
        description=description,
        owner_id=owner_id,
        columns=columns,
        n=n,
        rows_per_unit=rows_per_unit,
        created_at=created_at,
        state="open",
        file_id=file_id,
        succeeds=succeeds,
        source=source,
    )
    if row is None:
        raise NameTakenError
    return Dataset(
        *(row.id, name, description, owner_id, columns, n, rows_per_unit, created_at, "open", file_id, succeeds, source)
    )


def find_dataset(session: Session, name: str) -> Dataset | None:
    """Return the dataset with this name, open or closed, or None."""
    row = session.row(_BY_NAME, name=name)
    return None if row is None else Dataset(*row)


def is_visible(session: Session, dataset_id: int, principal_id: int) -> bool:
    """Whether a principal owns a dataset or has an allowance on it."""
    return session.row(_SEEN, dataset=dataset_id, viewer=principal_id) is not None


def page_of_datasets(
    session: Session, after: str | None, limit: int, visible_to: int | None, *, newest: bool = False
) -> list[Dataset]:
    """Return at most `limit` datasets, oldest or newest first, that follow the dataset with the name `after`.

    They are the datasets that the principal `visible_to` owns or has an allowance on; all datasets if it is None.

    Raises:
        InvalidRequestError: the list has no dataset with the name `after`.
    """
    viewer = {} if visible_to is None else {"viewer": visible_to}
    start = MAX_NUMBER if newest else 0
    if after is not None:
        # The same visibility applies to `after`, or the error would reveal whether a hidden dataset has the name.
        last = session.row(_VISIBLE_BY_NAME if viewer else _BY_NAME, name=after, **viewer)
        if last is None:
            raise InvalidRequestError(("after", "must be the `next` of an earlier page of this list"))
        start = last.id
    query = (_VISIBLE_PAGE if viewer else _PAGE).choose(newest=newest)
    return [Dataset(*row) for row in session.rows(query, after=start, most=limit, **viewer)]


def list_file_ids(session: Session) -> list[str]:
    """Return the ids of the files of all datasets that have one, oldest dataset first."""
    return [row.file_id for row in session.rows(_FILES)]


@dataclass(frozen=True, slots=True)
class Successor:
    """A dataset with data of the same people as an earlier one; `seen` says whether the viewer may see it."""

    succeeds: str
    name: str
    seen: bool


def list_successors(session: Session, first_id: int, last_id: int, visible_to: int | None) -> list[Successor]:
    """Return the successors of the datasets with ids from `first_id` to `last_id`, oldest first."""
    between = {"first": first_id, "last": last_id}
    if visible_to is None:
        rows = session.rows(_SUCCESSORS, **between)
    else:
        rows = session.rows(_SUCCESSORS_SEEN, **between, viewer=visible_to)
    return [Successor(succeeds, name, bool(seen)) for succeeds, name, seen in rows]


def list_predecessors(session: Session, first_id: int, last_id: int, visible_to: int | None) -> set[str]:
    """Return the names of those that the datasets with ids from `first_id` to `last_id` succeed and the viewer sees."""
    between = {"first": first_id, "last": last_id}
    if visible_to is None:
        return {row.name for row in session.rows(_PREDECESSORS, **between)}
    return {row.name for row in session.rows(_PREDECESSORS_SEEN, **between, viewer=visible_to)}


def close_dataset(transaction: WriteSession, dataset_id: int) -> bool:
    """Close a dataset and delete the reference to its data; return False if it was closed already."""
    return transaction.change(_CLOSE, dataset=dataset_id) == 1


def mark_stale(transaction: WriteSession, dataset_id: int, *, stale: bool) -> None:
    """Set the state of a dataset that is not closed to `stale` or `open`."""
    transaction.change(_MARK, dataset=dataset_id, found="stale" if stale else "open")


def has_file(session: Session, file_id: str) -> bool:
    """Whether any dataset refers to this file."""
    return session.row(_HAS_FILE, file=file_id) is not None


def is_owner(session: Session, dataset_id: int, principal_id: int) -> bool:
    """Whether a principal owns a dataset."""
    return session.row(_OWNED, dataset=dataset_id, viewer=principal_id) is not None
