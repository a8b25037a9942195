"""Plans the items of a batch: allocates an ε or an accuracy to each item."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gmpy2 import mpq

from app.db.repositories.datasets import Dataset
from app.dp.mechanism import epsilon_sharing
from app.dp.mechanism.mechanism import GridRefinement
from app.errors import AccuracyTrivialError, AccuracyUnattainableError, EpsilonTooLargeError, InvalidRequestError
from app.ledger.units import NANO_PER_EPSILON, epsilon_text
from app.services.planning import questions
from app.services.planning.questions import Plan, Question

MAX_COMPONENTS = 50_000
"""The maximum for all items together, so that a free plan does not take seconds; ask for a larger histogram alone."""

_ONE = "needs exactly one of `epsilon`, `accuracy`, `relative_accuracy` and `weight`"


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One question of a batch, with at most one of an ε (in ledger units), an accuracy and a weight."""

    statistic: Mapping[str, Any]
    epsilon_nano: int | None
    accuracy: mpq | None
    weight: mpq | None


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions that are answered together.

    The items share `epsilon_nano` (ledger units) by their weights or, if `equalised`, so that all relative radii are
    equal.
    """

    items: Sequence[BatchItem]
    epsilon_nano: int | None
    equalised: bool
    alpha: mpq
    gamma: mpq
    grid_refinement: GridRefinement
    reuse: bool


def plan_items(dataset: Dataset, batch: Batch, most_nano: int) -> list[Plan]:
    """Return the plan of each item, in their order; one release may cost at most `most_nano` ledger units.

    Raises:
        InvalidRequestError: the first invalid item, or a shared ε that does not fit the items.
    """
    asked = _equalise_radii(dataset, batch) if batch.equalised else _share_by_weight(batch)
    plans, components = [], 0
    for position, (item, (epsilon_nano, accuracy)) in enumerate(zip(batch.items, asked, strict=True)):
        question = Question(
            statistic=item.statistic,
            epsilon_nano=epsilon_nano,
            accuracy=accuracy,
            alpha=batch.alpha,
            gamma=batch.gamma,
            grid_refinement=batch.grid_refinement,
            reuse=batch.reuse,
        )
        with _name_refused_item(position):
            plan = questions.make_plan(dataset, question, most_nano)
        components += plan.statistic.components
        if components > MAX_COMPONENTS:
            raise InvalidRequestError(("items", f"have too many bins: at most {MAX_COMPONENTS:,} together are allowed"))
        plans.append(plan)
    return plans


def _share_by_weight(batch: Batch) -> list[tuple[int | None, mpq | None]]:
    """Return each item's ε and accuracy: its own, or its share of ε by weight."""
    for position, item in enumerate(batch.items):
        if [item.epsilon_nano, item.accuracy, item.weight].count(None) != 2:
            raise InvalidRequestError((f"items.{position}", _ONE))
    weights = [item.weight for item in batch.items if item.weight is not None]
    if batch.epsilon_nano is None:
        if weights:
            raise InvalidRequestError(("epsilon", "is missing: the items' weights share it"))
        return [(item.epsilon_nano, item.accuracy) for item in batch.items]
    if not weights:
        raise InvalidRequestError(
            ("epsilon", "is shared by `weight` or `equalise`, and no item has a weight: leave it out, or add weights")
        )
    parts = iter(epsilon_sharing.by_weight(mpq(batch.epsilon_nano, NANO_PER_EPSILON), weights))
    asked: list[tuple[int | None, mpq | None]] = []
    for position, item in enumerate(batch.items):
        epsilon_nano = item.epsilon_nano if item.weight is None else int(next(parts) * NANO_PER_EPSILON)
        if epsilon_nano == 0:
            raise InvalidRequestError(
                (f"items.{position}.weight", "is too small: its share of `epsilon` is below 1e-9")
            )
        asked.append((epsilon_nano, item.accuracy))
    return asked


def _equalise_radii(dataset: Dataset, batch: Batch) -> list[tuple[int | None, mpq | None]]:
    """Return for each item the same accuracy relative to its range: the best that the shared ε buys for all."""
    for position, item in enumerate(batch.items):
        if [item.epsilon_nano, item.accuracy, item.weight] != [None] * 3:
            raise InvalidRequestError(
                (
                    f"items.{position}",
                    "must not have `epsilon`, an accuracy or `weight`: `equalise` gives each item its share",
                )
            )
    if batch.epsilon_nano is None:
        raise InvalidRequestError(("epsilon", "is missing: `equalise` shares it among the items"))
    statistics = []
    for position, item in enumerate(batch.items):
        with _name_refused_item(position):
            statistics.append(questions.build_statistic(dataset, item.statistic))
    epsilon = mpq(batch.epsilon_nano, NANO_PER_EPSILON)
    part = epsilon_sharing.equal_radius(statistics, epsilon, batch.alpha, batch.gamma, batch.grid_refinement)
    if part is None:
        raise InvalidRequestError(
            ("epsilon", "is too small for so many items: no answer would be better than the public bounds")
        )
    return [(None, part * (each.upper - each.lower)) for each in statistics]


@contextmanager
def _name_refused_item(position: int) -> Iterator[None]:
    """Translate errors inside the block to an InvalidRequestError that names the item."""
    where = f"items.{position}"
    try:
        yield
    except InvalidRequestError as error:
        raise InvalidRequestError(*((f"{where}.{at}", what) for at, what in error.problems)) from None
    except EpsilonTooLargeError as error:
        most = epsilon_text(error.limit_nano)
        raise InvalidRequestError((where, f"costs too much: one release may cost at most ε = {most}")) from None
    except AccuracyUnattainableError as error:
        takes, most = epsilon_text(error.epsilon_nano), epsilon_text(error.limit_nano)
        what = f"costs too much: it takes ε = {takes}, and one release may cost at most {most}"
        raise InvalidRequestError((f"{where}.accuracy", what)) from None
    except AccuracyTrivialError:
        raise InvalidRequestError(
            (f"{where}.accuracy", "is already guaranteed by the statistic's public bounds: ask for a smaller one")
        ) from None
