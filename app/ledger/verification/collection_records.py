"""Collections as the audit log tells them, compared with those that are stored.

A stored collection has a seal, and so has each grant, but an earlier row with its earlier seal can be put back, or a
row deleted. The audit log is chained, so it shows that.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from sqlalchemy import select

from app.db.session import Session
from app.db.tables import collection_figures, collection_viewers, collections, datasets, figures, principals
from app.ledger import figure_collections
from app.ledger.chain.keyring import Keyring
from app.ledger.viewers import OF_COLLECTIONS

_PREFIX = "collection."
_STORED = (
    select(
        *(collections.c.id, collections.c.name, principals.c.name.label("owner")),
        *(collections.c.title, collections.c.audience),
    )
    .join_from(collections, principals, principals.c.id == collections.c.owner_id, isouter=True)
    .order_by(collections.c.id)
)
_GRANTED = select(collection_viewers.c.collection_id, principals.c.name).join_from(
    collection_viewers, principals, principals.c.id == collection_viewers.c.principal_id
)
_MEMBERS = (
    select(collection_figures.c.collection_id, datasets.c.name.label("dataset"), figures.c.name.label("figure"))
    .join_from(collection_figures, figures, figures.c.id == collection_figures.c.figure_id)
    .join(datasets, datasets.c.id == figures.c.dataset_id)
    .order_by(collection_figures.c.collection_id, collection_figures.c.position)
)


class _Collection(NamedTuple):
    """What is told of a collection: whose it is, what it shows, and to whom."""

    owner: str | None
    title: str
    audience: str
    figures: str
    viewers: frozenset[str]


def describe_figures(names: Iterable[tuple[str, str]]) -> str:
    """Return how a record names the figures of a collection, from the names of their datasets and their own."""
    return " ".join(f"{dataset}/{figure}" for dataset, figure in names)


class RecordedCollections:
    """The collections as recomputed from the records so far."""

    def __init__(self) -> None:
        self._collections: dict[str, _Collection] = {}

    def step(self, row: Any) -> str | None:  # noqa: ANN401 - a row of the audit log
        """Take the next record; return what is wrong with it, if it is about a collection and does not fit."""
        if not row.action.startswith(_PREFIX):
            return None
        _, name, *more = row.target.split("/")
        act, known = row.action.removeprefix(_PREFIX), self._collections.get(name)
        if act == "put":
            told = json.loads(row.details)
            shown = told["title"], told["audience"], told["figures"]
            owner, viewers = (row.actor, frozenset[str]()) if known is None else (known.owner, known.viewers)
            self._collections[name] = _Collection(owner, *shown, viewers)
        elif known is None:
            return f"changes the collection {name}, which nobody made"
        elif act == "delete":
            del self._collections[name]
        else:
            viewer = {more[-1]}
            changed = known.viewers | viewer if act == "grant" else known.viewers - viewer
            self._collections[name] = known._replace(viewers=changed)
        return None

    def find_differing(self, session: Session, keyring: Keyring) -> Iterator[str]:
        """Yield a problem for each stored collection or grant that differs from its seal or from the records."""
        yield from figure_collections.find_unsealed(session, keyring)
        missing = dict(self._collections)
        for collection_id, name, stored in _read_stored(session):
            for wrong in OF_COLLECTIONS.find_unsealed(session, keyring, collection_id):
                yield f"in the collection {name}, {wrong}"
            recorded = missing.pop(name, None)
            if recorded is None:
                yield f"the collection {name} was made without a record"
            elif stored != recorded:
                yield f"the collection {name} is not what the records say"
        for name in missing:
            yield f"the collection {name} is missing"


def _read_stored(session: Session) -> Iterator[tuple[int, str, _Collection]]:
    members: dict[int, list[tuple[str, str]]] = {}
    for row in session.rows(_MEMBERS):
        members.setdefault(row.collection_id, []).append((row.dataset, row.figure))
    viewers: dict[int, set[str]] = {}
    for row in session.rows(_GRANTED):
        viewers.setdefault(row.collection_id, set()).add(row.name)
    for row in session.rows(_STORED):
        shown = describe_figures(members.get(row.id, []))
        yield (
            *(row.id, row.name),
            _Collection(row.owner, row.title, row.audience, shown, frozenset(viewers.get(row.id, ()))),
        )
