"""Rehearsals: answers of a release's shape, drawn from a made-up table instead of the dataset's.

A rehearsal follows from the request and the dataset's public metadata alone, except for the budget that it shows. So
it costs nothing, and nothing of it is stored: no answer, no debit, no entry of the ledger, and no idempotency key.
"""

import json
from collections.abc import Sequence
from hashlib import sha256

from app.db.repositories.datasets import Dataset
from app.dp.numbers.seeded_bits import SeededBits
from app.engines.made_up_table import MadeUpTable
from app.services.access import Access
from app.services.context import Services
from app.services.planning import columns
from app.services.planning.questions import Plan
from app.services.releasing import outcomes
from app.services.releasing.release_requests import OK, PlannedRequest
from app.services.releasing.replays import Answer
from app.services.rendering.release_answers import PreparedRelease, prepare_rehearsal

CREATED_AT = "1970-01-01T00:00:00.000000Z"
"""When a rehearsal says that it was made: no release is so old, and rehearsals do not tell when they are made."""

ID_PREFIX = "rehearsal-"
"""What the id of a rehearsal begins with; no id of a release does."""

_SEED = "snapledger rehearsal 1"


def rehearse(services: Services, access: Access, request: PlannedRequest) -> Answer:
    """Return the rehearsal of a request: nothing is debited or stored, and no data is read.

    Args:
        services: the services, whose database lets other requests' commits go first.
        access: the caller's access to the dataset; the answer shows its remaining budget.
        request: the plans of the request's questions.
    """
    services.database.pause()
    account, allowance = access.account, access.allowance
    drawn = draw_rehearsals(access.dataset, request.plans)
    releases = [each.settle(0, account, allowance, CREATED_AT) for each in drawn]
    if request.compose is None:
        body = releases[0].content(services.database)
    else:
        body = request.compose(releases, account, allowance, services.database)
    outcomes.record_rehearsals(access, [plan.statistic.kind for plan in request.plans])
    return Answer(OK, body)


def draw_rehearsals(dataset: Dataset, plans: Sequence[Plan]) -> list[PreparedRelease]:
    """Return a rehearsal of each plan. It has no access to any data, nor to any secret.

    Equal questions get equal numbers, as if the first answer were reused.
    """
    table = MadeUpTable(columns.decode_columns(dataset.columns), dataset.n)
    metadata = _hash(dataset.columns, dataset.n, dataset.rows_per_unit)
    return [_draw_rehearsal(dataset, plan, table, metadata) for plan in plans]


def _draw_rehearsal(dataset: Dataset, plan: Plan, table: MadeUpTable, metadata: bytes) -> PreparedRelease:
    mechanism = plan.mechanism
    figures = plan.epsilon_nano, str(mechanism.gamma), mechanism.parameters.grid_refinement
    seed = _hash(metadata.hex(), plan.statistic.identity, *figures)
    drawn = mechanism.draw(table.answer(plan.needs), SeededBits(seed))
    return prepare_rehearsal(f"{ID_PREFIX}{_hash(seed.hex()).hex()[:32]}", dataset, plan, drawn)


def _hash(*facts: str | int) -> bytes:
    return sha256(json.dumps([_SEED, *facts]).encode()).digest()
