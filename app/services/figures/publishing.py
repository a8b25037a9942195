"""Publishes answers as figures, and withdraws them. This costs nothing: a figure is post-processing of releases."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from app.db.clock import now
from app.db.session import Session
from app.errors import ForbiddenError, InvalidRequestError, NotFoundError
from app.json_text import encode_json
from app.ledger import accounts, figures
from app.ledger.answers.answer_storage import pack_content, store
from app.ledger.chain import facts
from app.ledger.chain.audit_log import Detail
from app.ledger.figures import Audience, Figure, FigureVersion, Published
from app.services import audit_records
from app.services.access import Access
from app.services.context import Services
from app.services.figures import sources
from app.services.figures.reading import FORMS, OpenedFigure
from app.services.figures.sources import Source
from app.services.names import require_name
from app.services.preconditions import ANY_STATE, Precondition

MAX_FIGURES, MAX_VERSIONS = 1_000, 10_000
"""Of a dataset, and of a figure."""

ONLY_MANAGERS = "Only the dataset's owner and admins may make a figure public."


@dataclass(frozen=True, slots=True)
class Publication:
    """What is to be published: an answer with its title and note, and for whom."""

    source: Source
    title: str
    note: str | None
    audience: Audience


def require_publisher(entered: Access) -> None:
    """Allow the dataset's owner, admins, and analysts with an allowance.

    Raises:
        ForbiddenError: the principal is somebody else.
    """
    if not (entered.manages or entered.allowance):
        raise ForbiddenError("The dataset's owner, admins and analysts with an allowance publish figures.")


def publish_figure(
    services: Services, entered: Access, name: str, publication: Publication, wanted: Precondition = ANY_STATE
) -> tuple[Published, bool]:
    """Publish an answer under a name, as a new version. The same publication again changes nothing.

    Returns:
        The published version, and whether there was no such figure, or a withdrawn one.

    Raises:
        PreconditionFailedError, AlreadyExistsError: the latest version is not as `wanted`.
        ForbiddenError: the principal may not publish, or the figure is another analyst's, or it is to be public.
        InvalidRequestError: the source is not valid, or there would be too many figures or versions.
        NotReleasedError: a derived answer does not follow from earlier releases alone.
    """
    require_publisher(entered)
    if publication.audience == "public" and not entered.manages:
        raise ForbiddenError(ONLY_MANAGERS)
    rows = encode_json([row._asdict() for row in sources.read_rows(services, entered, publication.source)])
    described = publication.source.describe()
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_account(transaction, entered.dataset.id))
        before = figures.find_figure(transaction, entered.dataset.id, require_name(name))
        latest = _find_latest(services, transaction, entered, before)
        wanted.require_tags(_list_tags(services, latest))
        at = now()
        figure = before or figures.new_figure(entered.dataset.id, entered.dataset.name, name)
        figure = figure.publish(publication.audience, at)
        version = FigureVersion(
            *(0, figure.version, publication.title, publication.note, described),
            *(entered.principal.name, at, hashlib.sha256(rows).digest(), b""),
        )
        if latest is not None and _is_same(latest, figure, version):
            return latest, False
        if before is not None:
            _require_version(before)
        _require_room(transaction, entered, [before])
        seal = services.keyring.seal
        stored = pack_content(store(rows).content)
        published = figures.publish_version(transaction, seal, figure, version, stored)
        told: dict[str, Detail] = {"version": version.version, "title": version.title, "audience": figure.audience}
        audit_records.record(
            transaction, seal, entered.principal, "figure.publish", _path(entered, name), **told, source=described
        )
        transaction.commit()
    return published, before is None or before.withdrawn_at is not None


def require_publishable(services: Services, entered: Access, names: Iterable[str], *, public: bool) -> None:
    """Check that a principal may publish figures under these names now; publishing checks it again.

    Raises:
        ForbiddenError: one is another principal's, or it is to be public.
        InvalidRequestError: there would be too many figures or versions.
    """
    if public and not entered.manages:
        raise ForbiddenError(ONLY_MANAGERS)
    with services.database.read() as session:
        known = [(name, figures.find_figure(session, entered.dataset.id, name)) for name in names]
        for _, figure in known:
            _find_latest(services, session, entered, figure)
            if figure is not None:
                _require_version(figure)
        _require_room(session, entered, [figure for _, figure in known])


def withdraw_figure(services: Services, entered: Access, name: str, wanted: Precondition) -> None:
    """Withdraw a figure: nobody reads it any more, in any version, until it is published again.

    Raises:
        PreconditionFailedError: the latest version is not as `wanted`.
        NotFoundError: the figure does not exist, or is withdrawn already.
        ForbiddenError: the principal may not publish, or the figure is another analyst's.
    """
    require_publisher(entered)
    with services.database.write() as transaction:
        facts.require_account_sealed(services.keyring, accounts.lock_account(transaction, entered.dataset.id))
        figure = figures.find_figure(transaction, entered.dataset.id, require_name(name))
        latest = _find_latest(services, transaction, entered, figure)
        if figure is None or figure.withdrawn_at is not None:
            raise NotFoundError
        wanted.require_tags(_list_tags(services, latest))
        seal = services.keyring.seal
        figures.withdraw_figure(transaction, seal, figure, now())
        audit_records.record(transaction, seal, entered.principal, "figure.withdraw", _path(entered, name))
        transaction.commit()


def _path(entered: Access, name: str) -> str:
    return f"{audit_records.dataset_path(entered.dataset.name)}/figures/{name}"


def _find_latest(services: Services, session: Session, entered: Access, figure: Figure | None) -> Published | None:
    """Return the latest version of a figure that the principal may change; None if there is no such figure."""
    if figure is None:
        return None
    latest = figures.find_published(session, services.keyring, entered.dataset.id, figure.name)
    if latest is not None and not entered.manages and latest.version.published_by != entered.principal.name:
        raise ForbiddenError("Only the principal that published this figure, the dataset's owner and admins change it.")
    return latest


def _list_tags(services: Services, latest: Published | None) -> list[str]:
    """Return the entity tags of all forms that those who see the dataset read; none of a withdrawn figure."""
    if latest is None or latest.figure.withdrawn_at is not None:
        return []
    opened = OpenedFigure(services.database, latest, is_reader=True, sees_dataset=True)
    return [opened.tag(form) for form in FORMS]


def _is_same(latest: Published, figure: Figure, version: FigureVersion) -> bool:
    """Whether a publication shows what the latest version shows, to the same people."""
    before, is_withdrawn = latest.version, latest.figure.withdrawn_at is not None
    shown = before.title, before.note, before.source, before.rows_hash, latest.figure.audience
    asked = version.title, version.note, version.source, version.rows_hash, figure.audience
    return not is_withdrawn and shown == asked


def _require_room(session: Session, entered: Access, known: Sequence[Figure | None]) -> None:
    """Check the limits for figures, None for each that has a new name.

    Withdrawn figures count only for who published them last, so that nobody uses up the names of others.
    """
    more = sum(figure is None or figure.withdrawn_at is not None for figure in known)
    if not more:
        return
    in_force, own = figures.count_figures(session, entered.dataset.id, entered.principal.name)
    if in_force + more > MAX_FIGURES:
        raise InvalidRequestError(("figure", f"would be one of more than {MAX_FIGURES:,} figures of this dataset"))
    if own + sum(figure is None for figure in known) > MAX_FIGURES:
        what = f"would be one of more than {MAX_FIGURES:,} that you have published here, with those that are withdrawn"
        raise InvalidRequestError(("figure", f"{what}: publish it under the name of one of these"))


def _require_version(before: Figure) -> None:
    if before.version >= MAX_VERSIONS:
        raise InvalidRequestError(("figure", f"would have more than {MAX_VERSIONS:,} versions: use another name"))
