"""Viewers: who may see the figures of a dataset or those that are in a collection, and nothing else of the dataset."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sqlalchemy import Table, bindparam, delete, or_, select

from app.db.dialects.upsert import upsert
from app.db.session import Session, WriteSession
from app.db.tables import collection_viewers, collections, datasets, principals, viewers
from app.errors import SealBrokenError
from app.ledger.chain.keyring import Keyring, Seal


class Viewer(NamedTuple):
    """A principal that may see figures. The fields are the columns, in order, and then its names.

    Attributes:
        of_id: the dataset or collection whose figures they are.
    """

    of_id: int
    principal_id: int
    granted_at: str
    seal: bytes
    principal: str
    display_name: str | None


class Viewers:
    """The viewers of all datasets, or of all collections; each grant has a seal.

    Args:
        table: has the grants. Its first column is the dataset or the collection.
        version: of the seals.
        of: the datasets or collections.
    """

    def __init__(self, table: Table, version: str, of: Table) -> None:
        self._version = version
        of_one, of_viewer = table.c[0] == bindparam("of_id"), table.c.principal_id == bindparam("viewer")
        self._select = (
            select(*table.c, principals.c.name, principals.c.display_name)
            .join_from(table, principals, principals.c.id == table.c.principal_id)
            .where(of_one)
            .order_by(principals.c.name)
        )
        self._one = self._select.where(of_viewer)
        self._page = self._select.where(principals.c.name > bindparam("after")).limit(bindparam("most"))
        values: dict[str, Any] = dict(
            zip(table.c.keys(), map(bindparam, ("of_id", "viewer", "at", "sealed")), strict=True)
        )
        self._put = upsert(
            table,
            lambda insert: (
                insert.values(values).on_conflict_do_nothing(index_elements=list(table.primary_key)).inline()
            ),
        )
        self._delete = delete(table).where(of_one, of_viewer)
        of_nothing = or_(table.c[0].not_in(select(of.c.id)), table.c.principal_id.not_in(select(principals.c.id)))
        self.strays = select(table.c.granted_at).where(of_nothing).limit(1)
        """Finds a grant that belongs to nothing."""

    def _is_sealed(self, keyring: Keyring, found: Viewer) -> bool:
        return keyring.is_sealed(found.seal, self._version, *found[:3])

    def is_viewer(self, session: Session, keyring: Keyring, of_id: int, principal_id: int) -> bool:
        """Whether a principal may see the figures.

        Raises:
            SealBrokenError: the grant does not match its seal.
        """
        found = self.find_viewer(session, of_id, principal_id)
        if found is not None and not self._is_sealed(keyring, found):
            raise SealBrokenError
        return found is not None

    def find_viewer(self, session: Session, of_id: int, principal_id: int) -> Viewer | None:
        """Return one viewer, or None."""
        row = session.row(self._one, of_id=of_id, viewer=principal_id)
        return None if row is None else Viewer(*row)

    def page_of_viewers(self, session: Session, of_id: int, after: str | None, limit: int) -> list[Viewer]:
        """Return at most `limit` viewers by name, that follow the name `after`."""
        return [Viewer(*row) for row in session.rows(self._page, of_id=of_id, after=after or "", most=limit)]

    def grant_viewer(self, transaction: WriteSession, seal: Seal, of_id: int, principal_id: int, at: str) -> bool:
        """Let a principal see the figures; return False if it may already.

        The transaction holds the lock of the dataset's account, or of collections.
        """
        sealed = seal.seal_row(self._version, of_id, principal_id, at)
        put = self._put[transaction.dialect]
        return transaction.change(put, of_id=of_id, viewer=principal_id, at=at, sealed=sealed) == 1

    def revoke_viewer(self, transaction: WriteSession, of_id: int, principal_id: int) -> bool:
        """Revoke what `grant_viewer` granted; return False if there was nothing to revoke."""
        return transaction.change(self._delete, of_id=of_id, viewer=principal_id) == 1

    def find_unsealed(self, session: Session, keyring: Keyring, of_id: int) -> Iterator[str]:
        """Yield a problem for each viewer of a dataset or collection whose grant does not match its seal."""
        for row in session.rows(self._select, of_id=of_id):
            viewer = Viewer(*row)
            if not self._is_sealed(keyring, viewer):
                yield f"the viewer {viewer.principal} was changed after it was sealed"


OF_DATASETS = Viewers(viewers, "snapledger-viewer-v1", datasets)
OF_COLLECTIONS = Viewers(collection_viewers, "snapledger-collection-viewer-v1", collections)

STRAYS = {"viewer": OF_DATASETS.strays, "viewer of a collection": OF_COLLECTIONS.strays}
"""Find grants that belong to nothing, which no dataset's ledger shows, by what they are."""
