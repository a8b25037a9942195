"""Who may see a figure: those who see its dataset, its viewers, those of a collection, and everybody if it is public.

The same rules hold for collections here. For lists they are conditions in SQL: `app.ledger.figure_lists`, and
`app.ledger.figure_collections` for collections.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import Principal
from app.db.session import ReadSession, Session
from app.errors import NoCredentialError, NotFoundError
from app.ledger import caller_lookup, figure_collections, figures, viewers
from app.ledger.chain.keyring import Keyring
from app.ledger.figure_collections import Collection
from app.ledger.figure_lists import FigureListReader
from app.ledger.figures import Published
from app.services import access
from app.services.access import Credential
from app.services.context import Services
from app.services.names import is_name


class FigureAccess(NamedTuple):
    """A caller's access to the figures of a dataset.

    Attributes:
        is_reader: whether it may see all of them, as one who sees the dataset or as its viewer.
        sees_dataset: whether it sees the dataset too.
    """

    dataset: Dataset
    is_reader: bool = False
    sees_dataset: bool = False


def find_figure(
    services: Services, credential: Credential | None, dataset: str, figure: str, version: int | None
) -> tuple[Published, FigureAccess]:
    """Return a figure's latest version, or the one with a number, if the caller may see it.

    Raises:
        UnauthenticatedError: the credential is not valid, or it is missing and no public figure has these names.
        NotFoundError: there is no such figure or version, it is withdrawn, or the caller may not see it.
        SealBrokenError: the figure or the caller's grant is not what was sealed.
    """
    with services.database.read_without_transaction() as session:  # a snapshot each: nothing here is compared
        entered = enter_figures(services, session, credential, dataset)
        published = None
        if entered is not None and is_name(figure):
            published = figures.find_published(session, services.keyring, entered.dataset.id, figure, version)
    if entered is None or published is None:
        raise NoCredentialError if credential is None else NotFoundError
    is_reader = entered.is_reader or (
        credential is not None and _is_in_granted_collection(services, credential, published)
    )
    if not published.figure.is_shown(published.version.version, is_reader=is_reader):
        raise NoCredentialError if credential is None else NotFoundError
    return published, entered._replace(is_reader=is_reader)


def enter_figures(
    services: Services, session: ReadSession, credential: Credential | None, name: str
) -> FigureAccess | None:
    """Return the caller's access to the figures of a dataset, or None if there is no such dataset."""
    if not is_name(name):
        return None
    if credential is None:
        found = datasets.find_dataset(session, name)
        return None if found is None else FigureAccess(found)
    standing = caller_lookup.find_standing(session, credential, name, None)
    if standing is None:
        access.principal_of(session, credential)  # which says why
        return None
    if standing.dataset is None:
        return None
    if access.sees(standing.principal, standing.dataset, standing.allowance):
        return FigureAccess(standing.dataset, is_reader=True, sees_dataset=True)
    granted = viewers.OF_DATASETS.is_viewer(session, services.keyring, standing.dataset.id, standing.principal.id)
    return FigureAccess(standing.dataset, is_reader=granted)


def _is_in_granted_collection(services: Services, credential: Credential, published: Published) -> bool:
    """Whether a collection that has this figure is granted to the caller."""
    keyring = services.keyring
    with services.database.read() as session:  # one snapshot: the collection is compared with its figures
        principal = access.principal_of(session, credential)
        shown = published.figure.id, principal.id
        collection = figure_collections.find_collection_that_shows(session, keyring, *shown)
        return collection is not None and viewers.OF_COLLECTIONS.is_viewer(
            session, keyring, collection.id, principal.id
        )


def find_reader(session: ReadSession, credential: Credential | None) -> FigureListReader:
    """Return the caller as the reader of a list.

    Raises:
        UnauthenticatedError: the credential is not valid.
    """
    return reader_of(None if credential is None else access.principal_of(session, credential))


def reader_of(principal: Principal | None) -> FigureListReader:
    """Return a principal as the reader of a list. Without a principal it is somebody without a key."""
    if principal is None:
        return FigureListReader()
    return FigureListReader(principal.id, sees_all=access.sees_every_dataset(principal))


def is_collection_visible(
    session: Session, keyring: Keyring, principal: Principal | None, collection: Collection
) -> bool:
    """Whether a reader may see a collection. Without a principal it is somebody without a key.

    Raises:
        SealBrokenError: the grant is not what was sealed.
    """
    if collection.audience == "public":
        return True
    if principal is None:
        return False
    return (
        access.sees_every_dataset(principal)
        or collection.owner_id == principal.id
        or viewers.OF_COLLECTIONS.is_viewer(session, keyring, collection.id, principal.id)
    )


@dataclass
class CollectionRights:
    """What a reader of a collection may open; each dataset is looked up once."""

    session: Session
    keyring: Keyring
    principal: Principal | None
    collection: Collection
    sees_all: bool = field(init=False)
    _datasets: dict[int, bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        principal = self.principal
        self.sees_all = principal is not None and (
            access.sees_every_dataset(principal)
            or viewers.OF_COLLECTIONS.is_viewer(self.session, self.keyring, self.collection.id, principal.id)
        )

    def may_open(self, published: Published) -> bool:
        """Whether the reader may open a figure, if it is not withdrawn. One that is not what was sealed is left out."""
        if not figures.is_sealed(self.keyring, published):
            return False
        return (
            self.sees_all
            or published.figure.audience == "public"
            or (self.principal is not None and self._sees_dataset(self.principal, published.figure.dataset_id))
        )

    def _sees_dataset(self, principal: Principal, dataset_id: int) -> bool:
        if dataset_id not in self._datasets:
            self._datasets[dataset_id] = datasets.is_visible(
                self.session, dataset_id, principal.id
            ) or viewers.OF_DATASETS.is_viewer(self.session, self.keyring, dataset_id, principal.id)
        return self._datasets[dataset_id]
