"""Reads figures, for those who see their dataset, for its viewers, and, if they are public, for everybody."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.db.engine import Database
from app.db.repositories import datasets
from app.db.repositories.datasets import Dataset
from app.db.session import ReadSession
from app.errors import NoCredentialError, NotFoundError
from app.json_text import encode_json, join_object
from app.ledger import caller_lookup, figures, viewers
from app.ledger.figures import Published, Reader
from app.services import access
from app.services.access import Credential
from app.services.context import Services
from app.services.figures.formats import Form, render_rows
from app.services.names import is_name
from app.services.rendering.documents import Document

FORMAT_VERSION = "1"
"""Part of every entity tag: raise it when a form's bytes change."""


@dataclass(frozen=True)
class OpenedFigure:
    """A figure's version that the caller may see; its rows are read when they are rendered."""

    database: Database
    published: Published

    def tag(self, form: str) -> str:
        """Return the strong entity tag of a form. A version never changes, so neither does its tag."""
        found, version = self.published, self.published.version
        told = (found.dataset, found.figure.name, version.version, version.title, version.note, version.source)
        members = [FORMAT_VERSION, form, *told, version.published_by, version.published_at, version.rows_hash.hex()]
        return f'"{hashlib.sha256(encode_json(members)).hexdigest()[:32]}"'

    @cached_property
    def encoded_rows(self) -> bytes:
        """The rows as JSON, as they were published.

        Raises:
            DamagedAnswerError: they are not what was published.
        """
        with self.database.read() as session:
            content = figures.read_rows(session, self.published.version)
        return figures.open_rows(content, self.published.version.rows_hash)

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """The rows; for the errors see `encoded_rows`."""
        rows: Sequence[Mapping[str, Any]] = json.loads(self.encoded_rows)
        return rows

    def render(self, form: Form) -> bytes:
        """Return the figure in a form."""
        if form is Form.JSON:
            members = {name: encode_json(each) for name, each in describe_figure(self.published).items()}
            return join_object({**members, "rows": self.encoded_rows})
        return render_rows(self.rows, form)


def _shorten(number: str) -> float:
    """Return a canonical number such as `5e1` as 50, and `5e-2` as 0.05."""
    value = float(number)
    return int(value) if value.is_integer() else value


def describe_figure(published: Published) -> Document:
    """Return a version as JSON, without its rows."""
    figure, version = published.figure, published.version
    return {
        "dataset": published.dataset,
        "figure": figure.name,
        "version": version.version,
        "title": version.title,
        "note": version.note,
        "source": json.loads(version.source, parse_float=_shorten),
        "published_by": version.published_by,
        "published_at": version.published_at,
    }


def list_documents(found: Sequence[Published]) -> list[Document]:
    """Return the items of a list of figures."""
    return [describe_figure(each) | {"audience": each.figure.audience} for each in found]


def address_of(listed: Document) -> str:
    """Return how a list of figures names the one that the next page follows."""
    return f"{listed['dataset']}/{listed['figure']}"


def open_figure(
    services: Services, credential: Credential | None, dataset: str, figure: str, version: int | None
) -> OpenedFigure:
    """Return a figure's latest version, or the one with a number.

    Raises:
        UnauthenticatedError: the credential is not valid, or it is missing and no public figure has these names.
        NotFoundError: there is no such figure or version, it is withdrawn, or the caller may not see it.
        SealBrokenError: the figure or the caller's grant is not what was sealed.
    """
    with services.database.ask() as session:  # each statement in its own snapshot, since nothing here is compared
        found, is_reader = _enter(services, session, credential, dataset)
        published = None
        if found is not None and is_name(figure):
            published = figures.find_published(session, services.keyring, found.id, figure, version)
    if published is None or not _is_visible(published, is_reader=is_reader):
        raise NoCredentialError if credential is None else NotFoundError
    return OpenedFigure(services.database, published)


def list_versions(  # noqa: PLR0913, PLR0917 - who asks, of what, from where
    services: Services,
    credential: Credential | None,
    dataset: str,
    figure: str,
    after: int | None,
    limit: int,
    *,
    newest: bool,
) -> list[Document]:
    """Return a page of a figure's versions, oldest or newest first.

    Raises:
        As `open_figure`.
    """
    opened = open_figure(services, credential, dataset, figure, None)
    with services.database.read() as session:
        found = figures.page_of_versions(
            *(session, services.keyring, opened.published.figure.dataset_id, figure, after, limit), newest=newest
        )
    return [describe_figure(each) for each in found]


def list_figures(  # noqa: PLR0913 - who asks, and for what
    services: Services,
    credential: Credential | None,
    after: str | None,
    limit: int,
    *,
    search: str = "",
    dataset: str | None = None,
) -> list[Published]:
    """Return a page of the figures that the caller may see, by the names of dataset and figure.

    Raises:
        UnauthenticatedError: the credential is not valid.
        NotFoundError: the dataset does not exist, or the caller may not see it.
    """
    start, _, rest = (after or "").partition("/")
    with services.database.read() as session:
        dataset_id = None
        if dataset is not None:
            found, is_reader = _enter(services, session, credential, dataset)
            if found is None or not (is_reader or credential is None):
                raise NoCredentialError if credential is None else NotFoundError
            dataset_id = found.id
        reader = _reader_of(session, credential)
        listed = figures.page_of_figures(
            session, services.keyring, reader, (start, rest), limit, search=search, dataset_id=dataset_id
        )
    if dataset is not None and credential is None and not listed:
        raise NoCredentialError  # without a key, a dataset exists only through its public figures
    return listed


def list_latest(services: Services, credential: Credential | None, limit: int) -> list[Published]:
    """Return the figures that the caller may see, the latest first.

    Raises:
        UnauthenticatedError: the credential is not valid.
    """
    with services.database.read() as session:
        return figures.latest_figures(session, services.keyring, _reader_of(session, credential), limit)


def _reader_of(session: ReadSession, credential: Credential | None) -> Reader:
    if credential is None:
        return Reader()
    principal = access.principal_of(session, credential)
    return Reader(principal.id, sees_all=access.viewer_id(principal) is None)


def _enter(
    services: Services, session: ReadSession, credential: Credential | None, name: str
) -> tuple[Dataset | None, bool]:
    """Return a dataset, and whether the caller may see all of its figures, as one who sees it or as its viewer."""
    if not is_name(name):
        return None, False
    if credential is None:
        return datasets.find_dataset(session, name), False
    standing = caller_lookup.find_standing(session, credential, name, None)
    if standing is None:
        access.principal_of(session, credential)  # which says why
        return None, False
    if standing.dataset is None:
        return None, False
    seen = access.sees(standing.principal, standing.dataset, standing.allowance) or viewers.is_viewer(
        session, services.keyring, standing.dataset.id, standing.principal.id
    )
    return standing.dataset, seen


def _is_visible(published: Published, *, is_reader: bool) -> bool:
    figure = published.figure
    return figure.withdrawn_at is None and (is_reader or figure.audience == "public")
