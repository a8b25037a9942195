"""Sums or bits that a release cannot be made of: 503 without a debit, and not a word of what they were."""

from collections.abc import Callable, Iterable
from decimal import Decimal
from itertools import product

import pytest
from faulty_world import MEAN, Breakable, refused
from lengths import ON_POSTGRES_SLOWLY

from app.dp.errors import DrawExhausted
from app.dp.mechanism.mechanism import Mechanism
from app.dp.table.sums import Answer, Moments, Needs, Total
from app.engines.errors import EngineFailure
from app.engines.storage.tables import Tables

HISTOGRAM = {"kind": "histogram", "column": "x", "edges": [0, 50, 100]}


def _of_more_rows(patch: pytest.MonkeyPatch) -> None:
    """As if the file had been exchanged under the service."""
    sums = Tables.all_sums

    def more(tables: Tables, file_id: str, needs: Iterable[Needs]) -> dict[Needs, Answer]:
        return {
            each: found._replace(n=found.n + 1) if isinstance(found, Moments | Total) else (found[0] + 1, *found[1:])
            for each, found in sums(tables, file_id, needs).items()
        }

    patch.setattr(Tables, "all_sums", more)


def _raising(error: Exception) -> Callable[..., object]:
    def fail(*_: object) -> object:
        raise error

    return fail


def _engine_fails(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Tables, "all_sums", _raising(EngineFailure()))


def _bits_run_out(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Mechanism, "draw", _raising(DrawExhausted()))


@ON_POSTGRES_SLOWLY
def test_a_draw_that_fails_costs_nothing(breakable: Breakable) -> None:
    table, cases = breakable.table, product([MEAN, HISTOGRAM], [_of_more_rows, _engine_fails, _bits_run_out])
    for place, (statistic, breaks) in enumerate(cases):
        asked = {"key": f"k{place}", "epsilon": "0.1", "reuse": False}
        spent = breakable.spent()
        with breakable.patch.context() as patch:
            breaks(patch)
            refused(table.release(statistic, **asked))
        assert breakable.spent() == spent
        paid = table.release(statistic, **asked)
        assert (paid.status_code, "Idempotency-Replayed" in paid.headers) == (201, False)
        assert Decimal(breakable.spent()) == Decimal(spent) + Decimal("0.1")
