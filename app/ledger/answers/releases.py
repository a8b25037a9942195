"""Stored releases with their answers, byte for byte, and the candidates for reuse."""

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, NamedTuple, Protocol

from sqlalchemy import Select, bindparam, case, func, select

from app.db.page_queries import MAX_ID, PageQueries, page_queries
from app.db.repositories import datasets
from app.db.row_changes import Row, RowChange
from app.db.session import Session, WriteSession
from app.db.tables import datasets as dataset_table
from app.db.tables import releases, reuse_candidates
from app.errors import NotFoundError, SealBrokenError
from app.ledger.answers.answer_storage import (
    HEADER_BYTES,
    MAX_PLAIN_BYTES,
    Body,
    StoredAnswer,
    of_content,
    open_body,
    pack_content,
    unpack_content,
)
from app.ledger.chain.canonical_json import Member
from app.ledger.chain.keyring import Keyring, Seal

SMALLEST_BOUND = 10_000
"""The slot of the release with the smallest bound B. Every other slot is the exponent of a grid, far below this."""
VERSION = "snapledger-release-v1"
CANDIDATE_VERSION = "snapledger-candidate-v1"

MAX_LISTED_BYTES = 2**12
"""Up to this size an answer is read together with its page. Larger ones are read one by one when they are rendered."""


@dataclass(frozen=True, slots=True)
class Release:
    """A debited release. The fields are the columns, in order.

    Attributes:
        statistic: the identity of the statistic; equal statistics have equal identities.
        gamma: a fraction, as text: `1/20`.
        response: the answer as in `StoredAnswer.content`; it is packed when it is stored.
        seal: the seal of all other fields, from `seal_release`.
    """

    id: str
    dataset_id: int
    principal_id: int
    statistic: str
    epsilon_nano: int
    gamma: str
    grid_refinement: int
    created_at: str
    response: bytes
    seal: bytes | None = None


class ReuseCandidate(NamedTuple):
    """A release that may be reused, with its statistic and the parameters that determine its accuracy."""

    statistic: str
    id: str
    epsilon_nano: int
    gamma: str
    grid_refinement: int
    created_at: str


_SELECT = select(releases)
_VISIBLE = releases.c.dataset_id.in_(
    select(dataset_table.c.id).where(datasets.visible_to(bindparam("viewer", type_=dataset_table.c.owner_id.type)))
)
_BY_ID = _SELECT.where(releases.c.id == bindparam("release"))
_VISIBLE_BY_ID = _BY_ID.where(_VISIBLE)
RESPONSE_BYTES = func.length(releases.c.response, type_=releases.c.principal_id.type)
_IF_SMALL = case((bindparam("largest") >= RESPONSE_BYTES, releases.c.response)).label("content")
_LISTED = (releases.c.id, releases.c.principal_id, RESPONSE_BYTES.label("stored_bytes"), _IF_SMALL)
_ONE = select(*_LISTED).where(releases.c.id == bindparam("release"))
_SEALED = select(*releases.c[:8], releases.c.seal, *_LISTED[2:]).where(releases.c.id == bindparam("release"))
_VISIBLE_ONE = _ONE.where(_VISIBLE)
_SLICE = select(
    func.substr(releases.c.response, bindparam("first"), bindparam("size"), type_=releases.c.response.type).label(
        "content"
    )
).where(releases.c.id == bindparam("release"))
_INSERT = RowChange(releases, Release.__slots__)
_INSERT_LARGE = releases.insert().inline()
_CANDIDATE = (
    *(reuse_candidates.c.statistic, releases.c.id, releases.c.epsilon_nano, releases.c.gamma),
    *(releases.c.grid_refinement, releases.c.created_at),
)


@cache
def _candidates_query(statistics: int) -> Select[*tuple[Any, ...]]:
    """The candidates of so many statistics, which are bound as `statistic_0` and so on."""
    asked = [bindparam(f"statistic_{i}", type_=reuse_candidates.c.statistic.type) for i in range(statistics)]
    return (
        select(*_CANDIDATE)
        .join_from(reuse_candidates, releases, releases.c.id == reuse_candidates.c.release_id)
        .where(reuse_candidates.c.dataset_id == bindparam("dataset"), reuse_candidates.c.statistic.in_(asked))
        .order_by(releases.c.id)
    )


@cache
def _page_queries(*, of_dataset: bool, of_principal: bool, seen: bool) -> PageQueries:
    query = page_queries(select(*_LISTED), releases.c.id)
    if of_dataset:
        query = query.where(releases.c.dataset_id == bindparam("dataset"))
    if of_principal:
        query = query.where(releases.c.principal_id == bindparam("releaser"))
    return query.where(_VISIBLE) if seen else query


def _is_better(row: Row, than: Row) -> bool:
    return (row["score"], row["release_id"]) < (than["score"], than["release_id"])


_OLD = reuse_candidates.name
_COMPETE = RowChange(
    reuse_candidates,
    ("dataset_id", "statistic", "slot", "score", "release_id", "seal"),
    on_conflict=(
        "DO UPDATE SET score = excluded.score, release_id = excluded.release_id, seal = excluded.seal"
        f" WHERE excluded.score < {_OLD}.score"
        f" OR (excluded.score = {_OLD}.score AND excluded.release_id < {_OLD}.release_id)"
    ),
    merge=lambda before, after: after if _is_better(after, before) else before,
)


def seal_release(seal: Seal, release: Release, answer_hash: bytes) -> bytes:
    """The seal of a release; `answer_hash` is the SHA-256 of its answer."""
    return seal.seal_row(VERSION, *_members(release, answer_hash))


def is_sealed(keyring: Keyring, release: Release, answer_hash: bytes) -> bool:
    """Whether a release matches its seal; `answer_hash` is the SHA-256 of its stored answer."""
    return keyring.is_sealed(release.seal, VERSION, *_members(release, answer_hash))


def _members(release: Release, answer_hash: bytes) -> tuple[Member, ...]:
    question = release.statistic, release.epsilon_nano, release.gamma, release.grid_refinement
    return release.id, release.dataset_id, release.principal_id, *question, release.created_at, answer_hash


def candidate_members(dataset_id: int, statistic: str, slot: int, score: float, release_id: str) -> tuple[Member, ...]:
    """The sealed members of a candidate, in this order; the score is the eight bytes of its double."""
    return dataset_id, statistic, slot, struct.pack(">d", score), release_id


def insert_release(
    transaction: WriteSession,
    seal: Seal,
    release: Release,
    answer_hash: bytes,
    candidacies: Sequence[tuple[str, int, float]],
) -> None:
    """Seal and store a debited release; `answer_hash` is the SHA-256 of its answer.

    `candidacies` are the identity of the statistic, or the name of a family of statistics, with a slot and a score. In
    each slot the release with the lowest score stays; if scores are equal, the older release stays.
    """
    row = {name: getattr(release, name) for name in Release.__slots__}
    row |= {"response": pack_content(release.response), "seal": seal_release(seal, release, answer_hash)}
    if len(release.response) > MAX_PLAIN_BYTES:
        transaction.change_one(_INSERT_LARGE, **row)
    else:
        transaction.put(_INSERT, row)
    for statistic, slot, score in candidacies:
        members = candidate_members(release.dataset_id, statistic, slot, score, release.id)
        values = release.dataset_id, statistic, slot, score, release.id, seal.seal_row(CANDIDATE_VERSION, *members)
        transaction.put(_COMPETE, dict(zip(_COMPETE.columns, values, strict=True)))


def find_release(session: Session, release_id: str, visible_to: int | None = None) -> Release | None:
    """Return a release, or None if it does not exist or the principal `visible_to` may not see its dataset."""
    if visible_to is None:
        row = session.row(_BY_ID, release=release_id)
    else:
        row = session.row(_VISIBLE_BY_ID, release=release_id, viewer=visible_to)
    return None if row is None else Release(*(*row[:8], unpack_content(row.response), row.seal))


class Rows(Protocol):
    """What reads single rows: a session or the database itself."""

    def row(self, query: Select[*tuple[Any, ...]], **parameters: object) -> Any:  # noqa: ANN401 - a named tuple, or None
        """The first row that the query finds, or None."""


@dataclass(frozen=True, slots=True)
class StoredRelease:
    """The stored answer of a release: who paid for it, its size, and its content if it is small."""

    id: str
    principal_id: int
    stored_bytes: int
    content: bytes | None

    def body(self, rows: Rows) -> Body:
        """Return the body of the answer. `rows` reads a large answer when the body is read."""
        if self.content is not None:
            return open_body(of_content(self.content), self.stored_bytes)
        return open_body(partial(_slice, rows, self.id), self.stored_bytes)


def _slice(rows: Rows, release_id: str, offset: int, size: int) -> bytes:
    row = rows.row(_SLICE, release=release_id, first=offset + 1, size=size)
    content: bytes = b"" if row is None else row.content
    return content


def find_response(session: Session, release_id: str, visible_to: int | None = None) -> StoredRelease | None:
    """Return the stored answer of a release, or None under the conditions of `find_release`."""
    if visible_to is None:
        row = session.row(_ONE, release=release_id, largest=MAX_PLAIN_BYTES)
    else:
        row = session.row(_VISIBLE_ONE, release=release_id, largest=MAX_PLAIN_BYTES, viewer=visible_to)
    return None if row is None else StoredRelease(*row)


def response_body(rows: Rows, release_id: str) -> Body:
    """Return the JSON answer of a release.

    Raises:
        NotFoundError: there is no such release.
    """
    row = rows.row(_ONE, release=release_id, largest=MAX_PLAIN_BYTES)
    if row is None:
        raise NotFoundError
    return StoredRelease(*row).body(rows)


def find_sealed(rows: Rows, keyring: Keyring, release_id: str) -> tuple[Release, Body]:
    """Return a release that is to be reused, and its answer, after checking its seal.

    Raises:
        NotFoundError: there is no such release.
        SealBrokenError: the release does not match its seal.
    """
    row = rows.row(_SEALED, release=release_id, largest=MAX_PLAIN_BYTES)
    if row is None:
        raise NotFoundError
    release = Release(*(*row[:8], b"", row.seal))
    body = StoredRelease(release_id, release.principal_id, row.stored_bytes, row.content).body(rows)
    if not is_sealed(keyring, release, find_hash(body)):
        raise SealBrokenError
    return release, body


def find_hash(body: Body) -> bytes:
    """Return the SHA-256 of an answer. For a large answer it is the stored one, which is checked when it is read."""
    if body.stored_sha256 is None or body.size <= MAX_PLAIN_BYTES:
        return body.sha256()
    return body.stored_sha256


def read_committed_body(rows: Rows, release_id: str, answer: StoredAnswer) -> Body:
    """Return the body of a large answer. It reads from `rows`, so read the body only after the commit."""
    head = answer.content[:HEADER_BYTES]

    def read(offset: int, size: int) -> bytes:
        return _slice(rows, release_id, offset, size) if offset else head[:size]

    return open_body(read, len(answer.content))


def page_of_releases(  # noqa: PLR0913 - each filter by its name
    session: Session,
    after: str | None,
    limit: int,
    *,
    dataset_id: int | None = None,
    principal_id: int | None = None,
    visible_to: int | None = None,
    newest: bool = False,
) -> list[StoredRelease]:
    """Return at most `limit` releases, oldest or newest first, that follow the release with the id `after`.

    The content of small answers is included. Each filter applies if it is given: the dataset `dataset_id`, the
    principal `principal_id` that made the release, the principal `visible_to` that may see its dataset now.
    """
    asked = {"dataset": dataset_id, "releaser": principal_id, "viewer": visible_to}
    pages = _page_queries(
        of_dataset=dataset_id is not None, of_principal=principal_id is not None, seen=visible_to is not None
    )
    given = {name: value for name, value in asked.items() if value is not None}
    start = after or (MAX_ID if newest else "")
    rows = session.rows(pages.choose(newest=newest), after=start, most=limit, largest=MAX_LISTED_BYTES, **given)
    return [StoredRelease(*row) for row in rows]


def list_candidates(session: Session, dataset_id: int, *statistics: str) -> list[ReuseCandidate]:
    """Return the candidates of some statistics, oldest first. At every α one of them has the smallest radius."""
    asked = {f"statistic_{i}": statistic for i, statistic in enumerate(statistics)}
    query = _candidates_query(len(statistics))
    rows = _choose_read(session, dataset_id, statistics)(query, dataset=dataset_id, **asked)
    return list(dict.fromkeys(map(ReuseCandidate._make, rows)))  # one may have several slots


def _choose_read(session: Session, dataset_id: int, statistics: Sequence[str]) -> Callable[..., list[Any]]:
    """Return how to read candidates: before the group's rows are written, unless one of them is such a candidate."""
    if isinstance(session, WriteSession):
        pending = {key[:2] for key in session.list_pending_keys(_COMPETE)}
        if any((dataset_id, statistic) in pending for statistic in statistics):
            return session.rows
    return session.rows_apart
