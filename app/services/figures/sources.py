"""What a figure is published from: a release, the releases of a batch, or a derived answer."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from gmpy2 import mpq

from app.errors import InvalidRequestError, NotFoundError
from app.json_text import encode_json
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

MAX_ROWS = 10_000
"""Of a figure: people and dashboards read it as a whole."""

MAX_REQUEST_CHARACTERS = 8_192
"""Of a derived answer's request: a page of a list repeats those of a thousand figures."""

MAX_RELEASES = 100
_MAX_ANSWER_BYTES = 64 * MAX_PLAIN_BYTES


@dataclass(frozen=True, slots=True)
class Source:
    """Either the ids of releases, or a question for a derived answer with the JSON of its request.

    A single release may have the statistic that it answered, as it was asked for and as its JSON in `request`.
    """

    release_ids: Sequence[str] = ()
    derived: DerivedQuestion | None = None
    request: str = ""
    statistic: Mapping[str, Any] | None = None

    @classmethod
    def of_releases(cls, ids: Iterable[str]) -> "Source":
        """Return the source of these releases, each once: of a batch, one may answer several questions."""
        return cls(list(dict.fromkeys(ids)))

    def describe(self) -> str:
        """Return the source as JSON."""
        if self.derived is not None:
            return f'{{"derived":{self.request}}}'
        releases = encode_json(list(self.release_ids)).decode()
        return (
            f'{{"releases":{releases}}}'
            if self.statistic is None
            else (f'{{"releases":{releases},"statistic":{self.request}}}')
        )


def read_rows(services: Services, entered: Access, source: Source) -> list[Row]:
    """Return the rows of a source. It reads stored releases, never the data, and debits nothing.

    Raises:
        InvalidRequestError: a release is not one of this dataset, there would be more than `MAX_ROWS` rows, or the
            request of the derived answer is too long.
        NotReleasedError: the derived answer does not follow from earlier releases alone.
        SealBrokenError: a release is not what was sealed.
    """
    if len(source.request) > MAX_REQUEST_CHARACTERS:
        member = "statistic" if source.derived is None else "derived"
        raise InvalidRequestError(
            (member, f"has more than {MAX_REQUEST_CHARACTERS:,} characters: shorten its edges or conditions")
        )
    if source.statistic is not None:
        return _limit(_read_as(services, entered, source.release_ids[0], source.statistic))
    if source.derived is not None:
        found = derived.read_derived(services, entered, replace(source.derived, reuse=True))
        answer = json.loads(found.answer) | {"epsilon": epsilon_text(found.epsilon_nano)}
        return _limit(list(islice(rows_of_derived(answer, found.released_at), MAX_ROWS + 1)))
    rows: list[Row] = []
    for place, release_id in enumerate(source.release_ids):
        rows += islice(_rows_of(services, entered, release_id, f"releases.{place}"), MAX_ROWS + 1)
        _limit(rows)
    return rows


def _read_as(services: Services, entered: Access, release_id: str, statistic: Mapping[str, Any]) -> list[Row]:
    """Return the rows of a release in the terms of another statistic that has the same numbers."""
    facts.require_match(services.keyring, entered.dataset, entered.account)
    release, answer = _find(services, entered, release_id, "release")
    alpha = mpq(str(json.loads(answer.content())["accuracy"]["alpha"]))
    asked = Question(
        *(statistic, release.epsilon_nano, None, alpha, mpq(release.gamma), release.grid_refinement), reuse=True
    )
    plan = questions.make_plan(entered.dataset, asked, max(release.epsilon_nano, services.settings.max_epsilon_nano))
    with services.database.read_without_transaction() as session:
        earlier = reuse.find_as_answer(session, entered.dataset, plan, release)
        if earlier is None:
            raise InvalidRequestError(("statistic", "must be one that this release answers"))
        prepared = reuse.open_earlier_release(session, services.keyring, earlier, plan)
        content = prepared.settle(0, entered.account, entered.allowance).content(session)
    return list(islice(rows_of_release(json.loads(content)), MAX_ROWS + 1))


def _rows_of(services: Services, entered: Access, release_id: str, where: str) -> list[Row]:
    _, body = _find(services, entered, release_id, where)
    return list(islice(rows_of_release(json.loads(body.content())), MAX_ROWS + 1))


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
