"""What a figure is published from: a release, the releases of a batch, or a derived answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from gmpy2 import mpq

from app.errors import InvalidRequestError, NotFoundError
from app.json_text import encode_json, join_object
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES, Body
from app.ledger.answers.releases import Release
from app.ledger.chain import facts
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.figures.figure_rows import Row, rows_of_derived, rows_of_release
from app.services.planning import questions
from app.services.planning.questions import Question
from app.services.releasing import derived, reuse
from app.services.releasing.derived import DerivedQuestion
from app.services.rendering.documents import Document

MAX_ROWS = 10_000
"""Of a figure: people and dashboards read it as a whole."""

MAX_REQUEST_CHARACTERS = 8_192
"""Of a derived answer's request: a page of a list repeats those of a thousand figures."""

MAX_RELEASES = 100
_MAX_ANSWER_BYTES = 64 * MAX_PLAIN_BYTES


@dataclass(frozen=True, slots=True)
class AnsweringRelease:
    """A release, and what was asked when it answered.

    Attributes:
        release_id: its id.
        statistic: the statistic, which has the same numbers; None to show the release as it is.
        alpha: the α of the intervals beside that statistic; None for that of the release.
    """

    release_id: str
    statistic: Mapping[str, Any] | None = None
    alpha: mpq | None = None


@dataclass(frozen=True, slots=True)
class Source:
    """Either releases, or a question for a derived answer.

    `asked` is the member of the request that says what was asked, and `request` its JSON: `derived`, or for releases
    `statistic` or `answers`. Releases that are shown as they are have none.
    """

    releases: Sequence[AnsweringRelease] = ()
    derived: DerivedQuestion | None = None
    asked: str = ""
    request: str = ""

    @classmethod
    def of_releases(cls, ids: Iterable[str]) -> "Source":
        """Return the source of these releases as they are."""
        return cls([AnsweringRelease(each) for each in ids])

    @classmethod
    def of_answers(cls, answers: Sequence[AnsweringRelease], request: str) -> "Source":
        """Return the source of answers as they were given; if `request`, their JSON, is long, it tells only the ids."""
        return cls(answers) if len(request) > MAX_REQUEST_CHARACTERS else cls(answers, asked="answers", request=request)

    def describe(self) -> str:
        """Return the source as JSON."""
        ids = list(dict.fromkeys(each.release_id for each in self.releases))
        members = {"releases": encode_json(ids)} if ids else {}
        if self.asked:
            members[self.asked] = self.request.encode()
        return join_object(members).decode()

    def locate(self, place: int) -> tuple[str, str]:
        """Return where a request has a release, and where its statistic."""
        if not self.asked:
            return f"releases.{place}", "releases"
        within = f"answers.{place}." if self.asked == "answers" else ""
        return f"{within}release", f"{within}statistic"


def read_rows(services: Services, entered: Access, source: Source) -> list[Row]:
    """Return the rows of a source. It reads stored releases, never the data, and debits nothing.

    Raises:
        InvalidRequestError: a release is not one of this dataset, there would be more than `MAX_ROWS` rows, or the
            request of the derived answer is too long.
        NotReleasedError: the derived answer does not follow from earlier releases alone.
        SealBrokenError: a release is not what was sealed.
    """
    if len(source.request) > MAX_REQUEST_CHARACTERS:
        raise InvalidRequestError(
            (source.asked, f"has more than {MAX_REQUEST_CHARACTERS:,} characters: shorten its edges or conditions")
        )
    if source.derived is not None:
        found = derived.read_derived(services, entered, replace(source.derived, reuse=True))
        answer = json.loads(found.answer) | {"epsilon": epsilon_text(found.epsilon_nano)}
        return _limit(list(islice(rows_of_derived(answer, found.released_at), MAX_ROWS + 1)))
    rows: list[Row] = []
    for place, each in enumerate(source.releases):
        if each in source.releases[:place]:
            continue  # shown once, also if it answers several items of a batch
        rows += _rows_of(services, entered, each, *source.locate(place))
        _limit(rows)
    return rows


def _rows_of(
    services: Services, entered: Access, answering: AnsweringRelease, of_release: str, of_statistic: str
) -> list[Row]:
    """Return the rows of a release in the terms of what was asked."""
    release, body = _find(services, entered, answering.release_id, of_release)
    answer = json.loads(body.content())
    if answering.statistic is not None:
        alpha = answering.alpha or mpq(str(answer["accuracy"]["alpha"]))
        answer = _answer_again(services, entered, release, answering.statistic, alpha, of_statistic)
    return list(islice(rows_of_release(answer), MAX_ROWS + 1))


def _answer_again(  # noqa: PLR0913, PLR0917 - a release, and what was asked
    services: Services, entered: Access, release: Release, statistic: Mapping[str, Any], alpha: mpq, where: str
) -> Document:
    """Return a release as the answer to a question, as it was given when it was asked."""
    facts.require_match(services.keyring, entered.dataset, entered.account)
    asked = Question(
        *(statistic, release.epsilon_nano, None, alpha, mpq(release.gamma), release.grid_refinement), reuse=True
    )
    plan = questions.make_plan(entered.dataset, asked, max(release.epsilon_nano, services.settings.max_epsilon_nano))
    with services.database.read_without_transaction() as session:
        earlier = reuse.find_as_answer(session, entered.dataset, plan, release)
        if earlier is None:
            raise InvalidRequestError((where, "must be one that this release answers"))
        prepared = reuse.open_earlier_release(session, services.keyring, earlier, plan)
        content = prepared.settle(0, entered.account, entered.allowance).content(session)
    again: Document = json.loads(content)
    return again


def _find(services: Services, entered: Access, release_id: str, where: str) -> tuple[Release, Body]:
    try:
        release, body = releases.find_sealed(services.database, services.keyring, release_id)
    except NotFoundError:
        release = None
    if release is None or release.dataset_id != entered.dataset.id:
        raise InvalidRequestError((where, f"must be the id of a release of {entered.dataset.name}"))
    if body.size > _MAX_ANSWER_BYTES:
        raise _too_many()
    return release, body


def _limit(rows: list[Row]) -> list[Row]:
    if len(rows) > MAX_ROWS:
        raise _too_many()
    return rows


def _too_many() -> InvalidRequestError:
    return InvalidRequestError(("source", f"has more than {MAX_ROWS:,} numbers: publish a coarser answer"))
