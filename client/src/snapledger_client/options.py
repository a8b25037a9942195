"""Options of plans, releases, batches and derived statistics, as keyword arguments; None stands for the default."""

from collections.abc import Mapping
from typing import Literal, TypedDict

from snapledger_client.numbers import Number, Value


class StatisticOptions(TypedDict, total=False):
    """Options of a statistic: exactly one of `epsilon`, `accuracy` and `relative_accuracy`; all others have defaults.

    `epsilon` is what the release may cost. `accuracy` is the wanted radius, in the statistic's units, at confidence
    level 1 - `alpha` (default 0.95); `relative_accuracy` is the same as a part of `guess`, what the statistic may be.
    `gamma` and `grid_refinement` are parameters of the mechanism: the default grid ("auto") is fine, and that of 0 is
    the published mechanism's. With `reuse=False`, an earlier release is not reused.

    Examples:
        >>> from snapledger_client import StatisticOptions
        >>> precise: StatisticOptions = {"accuracy": 50, "alpha": "0.01"}
        >>> penguins.plan(mean("body_mass_g"), **precise).accuracy.alpha
        0.01
    """

    epsilon: Number | None
    accuracy: Number | None
    relative_accuracy: Number | None
    guess: Number | None
    alpha: Number | None
    gamma: Number | None
    grid_refinement: int | Literal["auto"] | None
    reuse: bool


class ReleaseOptions(StatisticOptions, total=False):
    """Options of a release: `StatisticOptions`, and the idempotency `key` (default: a new one).

    Examples:
        >>> from snapledger_client import ReleaseOptions
        >>> options: ReleaseOptions = {"epsilon": "0.5", "key": "monday's report"}
        >>> first, again = (penguins.mean("body_mass_g", **options) for _ in range(2))
        >>> first.id == again.id
        True
    """

    key: str | None


class PlanOptions(StatisticOptions, total=False):
    """Options of a plan: `StatisticOptions`, a `curve` as (first ε, last ε, points), and a `guess` for the bias.

    Examples:
        >>> from snapledger_client import PlanOptions
        >>> options: PlanOptions = {"epsilon": "0.5", "curve": ("0.01", 10, 20), "guess": 4200}
        >>> len([point for point in penguins.plan(mean("body_mass_g"), **options).curve if not point.cliff])
        20
    """

    curve: tuple[Number, Number, int] | None


class DerivedPlanOptions(TypedDict, total=False):
    """Options of a derived statistic's plan: the `epsilon` that its components share, or an accuracy.

    `accuracy` is half the width of the interval, and `relative_accuracy` the same as a part of a guess. `guesses` has
    numbers of the table by name, such as `{"mean": 4200, "count": 150}`. The other options are those of
    `StatisticOptions`.

    Examples:
        >>> from snapledger_client import DerivedPlanOptions
        >>> options: DerivedPlanOptions = {"epsilon": "0.3", "alpha": "0.01"}
        >>> penguins.plan_derived(correlation("bill_length_mm", "body_mass_g"), **options).alpha
        0.01
    """

    epsilon: Number | None
    accuracy: Number | None
    relative_accuracy: Number | None
    guesses: Mapping[str, Value] | None
    alpha: Number | None
    gamma: Number | None
    grid_refinement: int | Literal["auto"] | None
    reuse: bool


class DerivedOptions(DerivedPlanOptions, total=False):
    """Options of a derived statistic: `DerivedPlanOptions`, and the idempotency `key` (default: a new one).

    Examples:
        >>> from snapledger_client import DerivedOptions
        >>> options: DerivedOptions = {"epsilon": "0.2", "key": "spread of masses"}
        >>> first, again = (penguins.standard_deviation("body_mass_g", **options) for _ in range(2))
        >>> first == again
        True
    """

    key: str | None


class AnyOptions(ReleaseOptions, DerivedOptions, total=False):
    """Options of a statistic that is released or derived, as its other arguments decide."""


class BatchPlanOptions(TypedDict, total=False):
    """Options of a batch's plan: an `epsilon` to share by weight or, with `equalise="relative"`, for equal radii.

    Examples:
        >>> from snapledger_client import BatchPlanOptions
        >>> options: BatchPlanOptions = {"epsilon": 1, "equalise": "relative"}
        >>> items = [item(mean("body_mass_g")), item(mean("bill_length_mm"))]
        >>> penguins.plan_batch(items, **options).budget.charged <= 1
        True
    """

    epsilon: Number | None
    equalise: Literal["relative"] | None
    alpha: Number | None
    gamma: Number | None
    grid_refinement: int | Literal["auto"] | None
    reuse: bool


class BatchOptions(BatchPlanOptions, total=False):
    """Options of a batch: `BatchPlanOptions`, and the idempotency `key` (default: a new one).

    Examples:
        >>> from snapledger_client import BatchOptions
        >>> options: BatchOptions = {"epsilon": "0.2", "key": "the means"}
        >>> items = [item(mean("body_mass_g"), weight=1), item(mean("bill_length_mm"), weight=1)]
        >>> len(penguins.batch(items, **options).items)
        2
    """

    key: str | None
