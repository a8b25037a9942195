"""Reads figures, for those who see their dataset, for its viewers, and, if they are public, for everybody."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from app.db.database import Database
from app.errors import NoCredentialError, NotFoundError
from app.json_text import encode_json, join_object
from app.ledger import figure_lists, figures
from app.ledger.figure_lists import FigureListReader, FigurePage, ListedFigure
from app.ledger.figures import Audience, Published
from app.services import access
from app.services.access import Credential
from app.services.context import Services
from app.services.figures import figure_access
from app.services.figures.formats import Form, render_rows
from app.services.figures.stored_rows import complete_rows
from app.services.rendering.documents import Document
from app.services.rendering.written_numbers import read_canonical_number

FORMAT_VERSION = "2"
"""Part of every entity tag: raise it when a form's bytes change."""

FORMS = (*Form, "html", "svg", "png")
"""All forms of a figure, which have entity tags of their own."""

_WITH_PUBLISHER = {Form.JSON, "html"}
"""The forms that name the publisher, for those who see the dataset."""


@dataclass(frozen=True)
class OpenedFigure:
    """A figure's version that the caller may see; its rows are read when they are rendered.

    Attributes:
        is_reader: whether the caller may see all of the dataset's figures, and not only those for everybody.
        sees_dataset: whether the caller sees the dataset too, and so the names of the principals that publish.
    """

    database: Database
    published: Published
    is_reader: bool = False
    sees_dataset: bool = False

    @property
    def audience(self) -> Audience:
        """Who may see this version, besides those who see the dataset."""
        return self.published.figure.audience_of(self.published.version.version)

    @property
    def published_by(self) -> str | None:
        """The name of the principal that published it, or None if the caller does not see the dataset."""
        return self.published.version.published_by if self.sees_dataset else None

    def tag(self, form: str) -> str:
        """Return the strong entity tag of a form. A version never changes, so neither does its tag."""
        found, version = self.published, self.published.version
        told = (found.dataset, found.figure.name, version.version, version.title, version.note, version.source)
        publisher = self.published_by if form in _WITH_PUBLISHER else None
        members = [FORMAT_VERSION, form, *told, publisher, version.published_at, version.rows_hash.hex()]
        return f'"{hashlib.sha256(encode_json(members)).hexdigest()[:32]}"'

    def is_alone_in_its_second(self) -> bool:
        """Whether the version before it was published in an earlier second, so that a date tells them apart."""
        version = self.published.version
        with self.database.read() as session:
            before = figures.find_publication_time(session, version.figure_id, version.version - 1)
        return before is None or _second_of(before) < _second_of(version.published_at)

    def _read_rows(self) -> bytes:
        """Return the rows as JSON, as they were published.

        Raises:
            DamagedAnswerError: they are not what was published.
        """
        with self.database.read() as session:
            content = figures.read_rows(session, self.published.version)
        return figures.open_rows(content, self.published.version.rows_hash)

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """The rows with all columns; for the errors see `_read_rows`."""
        return complete_rows(json.loads(self._read_rows()))

    def render(self, form: Form) -> bytes:
        """Return the figure in a form."""
        if form is Form.JSON:
            described = describe_figure(self.published, sees_dataset=self.sees_dataset)
            members = {name: encode_json(each) for name, each in described.items()}
            return join_object({**members, "rows": encode_json(self.rows)})
        return render_rows(self.rows, form)


def _second_of(time: str) -> str:
    return time.partition(".")[0]


def describe_figure(published: Published, *, sees_dataset: bool) -> Document:
    """Return a version as JSON, without its rows; the publisher's name is for those who see the dataset."""
    figure, version = published.figure, published.version
    return {
        "dataset": published.dataset,
        "figure": figure.name,
        "version": version.version,
        "title": version.title,
        "note": version.note,
        "source": json.loads(version.source, parse_float=read_canonical_number),
        "published_by": version.published_by if sees_dataset else None,
        "published_at": version.published_at,
    }


def list_documents(listed: Sequence[ListedFigure]) -> list[Document]:
    """Return the items of a list of figures."""
    return [
        describe_figure(each.published, sees_dataset=each.sees_dataset) | {"audience": each.published.figure.audience}
        for each in listed
    ]


def describe_reader(services: Services, credential: Credential | None) -> Document:
    """Return who the caller is.

    Raises:
        NoCredentialError: there is no credential.
        UnauthenticatedError: the credential is not valid.
    """
    if credential is None:
        raise NoCredentialError
    principal = access.authenticate(services.database, credential)
    return {"name": principal.name, "display_name": principal.display_name, "role": principal.role}


def open_figure(
    services: Services, credential: Credential | None, dataset: str, figure: str, version: int | None
) -> OpenedFigure:
    """Return a figure's latest version, or the one with a number.

    Raises:
        UnauthenticatedError: the credential is not valid, or it is missing and no public figure has these names.
        NotFoundError: there is no such figure or version, it is withdrawn, or the caller may not see it.
        SealBrokenError: the figure or the caller's grant is not what was sealed.
    """
    published, seen = figure_access.find_figure(services, credential, dataset, figure, version)
    return OpenedFigure(services.database, published, seen.is_reader, seen.sees_dataset)


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
    shown = opened.published.figure
    first = max(shown.first_version, 0 if opened.is_reader else shown.public_from or 0)
    with services.database.read() as session:
        found = figures.page_of_versions(session, services.keyring, shown, first, after, limit, newest=newest)
    return [
        describe_figure(each, sees_dataset=opened.sees_dataset)
        | {"audience": each.figure.audience_of(each.version.version)}
        for each in found
    ]


def list_figures(  # noqa: PLR0913 - who asks, and for what
    services: Services,
    credential: Credential | None,
    after: str | None,
    limit: int,
    *,
    search: str = "",
    dataset: str | None = None,
) -> FigurePage:
    """Return a page of the figures that the caller may see, by the names of dataset and figure.

    Raises:
        UnauthenticatedError: the credential is not valid.
        NotFoundError: the dataset does not exist, or the caller may not see it.
    """
    start, _, rest = (after or "").partition("/")
    with services.database.read() as session:
        if dataset is None:
            reader = figure_access.find_reader(session, credential)
            return figure_lists.page_of_figures(session, services.keyring, reader, (start, rest), limit, search=search)
        entered = figure_access.enter_figures(services, session, credential, dataset)
        if entered is None:
            raise NoCredentialError if credential is None else NotFoundError
        reader = (
            FigureListReader(sees_all=True) if entered.is_reader else figure_access.find_reader(session, credential)
        )
        page = figure_lists.page_of_figures(
            session, services.keyring, reader, (start, rest), limit, search=search, dataset=dataset
        )
    if not (entered.is_reader or page.listed):  # to others, it exists only through the figures that they see
        raise NoCredentialError if credential is None else NotFoundError
    return page._replace(listed=[each._replace(sees_dataset=entered.sees_dataset) for each in page.listed])


def list_latest(services: Services, credential: Credential | None, limit: int) -> list[ListedFigure]:
    """Return the figures that the caller may see, the latest first.

    Raises:
        UnauthenticatedError: the credential is not valid.
    """
    with services.database.read() as session:
        return figure_lists.latest_figures(
            session, services.keyring, figure_access.find_reader(session, credential), limit
        )
