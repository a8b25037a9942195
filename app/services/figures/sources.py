"""What a figure is published from: a release, the releases of a batch, or a derived answer."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from app.errors import InvalidRequestError, NotFoundError
from app.json_text import encode_json
from app.ledger.answers import releases
from app.ledger.answers.answer_storage import MAX_PLAIN_BYTES
from app.ledger.units import epsilon_text
from app.services.access import Access
from app.services.context import Services
from app.services.figures.figure_rows import Row, rows_of_derived, rows_of_release
from app.services.releasing import derived
from app.services.releasing.derived import DerivedQuestion

MAX_ROWS = 10_000
"""Of a figure: people and dashboards read it as a whole."""

MAX_REQUEST_CHARACTERS = 8_192
"""Of a derived answer's request: a page of a list repeats those of a thousand figures."""

MAX_RELEASES = 100
_MAX_ANSWER_BYTES = 64 * MAX_PLAIN_BYTES


@dataclass(frozen=True, slots=True)
class Source:
    """Either the ids of releases, or a question for a derived answer with the JSON of its request."""

    release_ids: Sequence[str] = ()
    derived: DerivedQuestion | None = None
    request: str = ""

    def describe(self) -> str:
        """Return the source as JSON."""
        if self.derived is not None:
            return f'{{"derived":{self.request}}}'
        return encode_json({"releases": list(self.release_ids)}).decode()


def read_rows(services: Services, entered: Access, source: Source) -> list[Row]:
    """Return the rows of a source. It reads stored releases, never the data, and debits nothing.

    Raises:
        InvalidRequestError: a release is not one of this dataset, there would be more than `MAX_ROWS` rows, or the
            request of the derived answer is too long.
        NotReleasedError: the derived answer does not follow from earlier releases alone.
        SealBrokenError: a release is not what was sealed.
    """
    if source.derived is not None:
        if len(source.request) > MAX_REQUEST_CHARACTERS:
            raise InvalidRequestError(
                ("derived", f"has more than {MAX_REQUEST_CHARACTERS:,} characters: shorten its edges or conditions")
            )
        found = derived.read_derived(services, entered, replace(source.derived, reuse=True))
        answer = json.loads(found.answer) | {"epsilon": epsilon_text(found.epsilon_nano)}
        return _limit(list(islice(rows_of_derived(answer, found.released_at), MAX_ROWS + 1)))
    rows: list[Row] = []
    for place, release_id in enumerate(source.release_ids):
        rows += islice(_rows_of(services, entered, release_id, f"releases.{place}"), MAX_ROWS + 1)
        _limit(rows)
    return rows


def _rows_of(services: Services, entered: Access, release_id: str, where: str) -> list[Row]:
    try:
        release, body = releases.find_sealed(services.database, services.keyring, release_id)
    except NotFoundError:
        release = None
    if release is None or release.dataset_id != entered.dataset.id:
        raise InvalidRequestError((where, f"must be the id of a release of {entered.dataset.name}"))
    if body.size > _MAX_ANSWER_BYTES:
        raise _too_many()
    return list(islice(rows_of_release(json.loads(body.content())), MAX_ROWS + 1))


def _limit(rows: list[Row]) -> list[Row]:
    if len(rows) > MAX_ROWS:
        raise _too_many()
    return rows


def _too_many() -> InvalidRequestError:
    return InvalidRequestError(("source", f"has more than {MAX_ROWS:,} numbers: publish a coarser answer"))
