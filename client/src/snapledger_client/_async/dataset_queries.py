"""The queries of a dataset that take the JSON document of any statistic."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal, TypeVar

from snapledger_client import calls
from snapledger_client._async.base_client import AsyncBaseClient
from snapledger_client.arguments import require_released, require_released_items
from snapledger_client.calls import Call
from snapledger_client.derived_statistics import DerivedStatistic
from snapledger_client.models.batches import Batch, BatchPlan
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.plans import Plan
from snapledger_client.models.releases import Release
from snapledger_client.numbers import Number, Value
from snapledger_client.options import (
    BatchOptions,
    BatchPlanOptions,
    DerivedOptions,
    DerivedPlanOptions,
    PlanOptions,
    ReleaseOptions,
)
from snapledger_client.statistics import Statistic

T = TypeVar("T")


class AsyncDatasetQueries:
    """Plans, releases, batches and derived statistics of a dataset."""

    def __init__(self, client: AsyncBaseClient, name: str, *, rehearse: bool = False) -> None:
        self.name = name
        self._client, self._rehearses = client, rehearse
        self._list = client._list  # noqa: SLF001 - parts of one client

    def _send(self, call: Call[T]) -> Awaitable[T]:
        return self._client._send(call.as_rehearsal() if self._rehearses else call)  # noqa: SLF001

    def plan(
        self,
        statistic: Statistic,
        *,
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        curve: tuple[Number, Number, int] | None = None,
    ) -> Awaitable[Plan]:
        """What a release would cost and promise: free, and without reading any data.

        Args:
            statistic: from `mean`, `count`, `histogram` … of this package.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, without the data; shows the bias there.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: False plans as if there were no earlier releases.
            curve: (first ε, last ε, points): what each of these would buy.

        Examples:
            >>> (await penguins.plan(mean("body_mass_g"), accuracy=50)).privacy.epsilon
            Decimal('0.871099697')
            >>> (await penguins.plan(mean("body_mass_g"), epsilon="0.5", guess=4200)).bias.largest
            0.013367716072464045
        """
        options = PlanOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            curve=curve,
        )
        require_released(statistic, "plan", "`plan_derived(…)`")
        return self._send(calls.plan(self.name, statistic, **options))

    def release(
        self,
        statistic: Statistic,
        *,
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Release]:
        """Release any statistic.

        Args:
            statistic: from `mean`, `count`, `histogram` … of this package.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, as far as you know without the data.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether an earlier release that is accurate enough is the answer.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> (await penguins.release(mean("body_mass_g"), epsilon="0.5")).accuracy.radius < 117
            True
        """
        options = ReleaseOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        require_released(statistic, "release", "`derive(…)`")
        return self._send(calls.release(self.name, statistic, **options))

    def plan_batch(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number | None = None,
        equalise: Literal["relative"] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
    ) -> Awaitable[BatchPlan]:
        """What a batch would cost and promise, item by item: free.

        Args:
            items: each made by `item`; up to 1,000.
            epsilon: what the items with a weight share; others have their own.
            equalise: "relative" shares it so that all have the same relative error.
            alpha: the probability that an error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether earlier releases that are accurate enough are answers.

        Examples:
            >>> items = [item(mean("body_mass_g"), weight=1), item(variance("body_mass_g"), weight=3)]
            >>> [each.privacy.epsilon for each in (await penguins.plan_batch(items, epsilon="0.8", reuse=False)).items]
            [Decimal('0.2'), Decimal('0.6')]
        """
        options = BatchPlanOptions(
            epsilon=epsilon,
            equalise=equalise,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
        )
        require_released_items(items)
        return self._send(calls.plan_batch(self.name, items, **options))

    def batch(
        self,
        items: Sequence[Mapping[str, Any]],
        *,
        epsilon: Number | None = None,
        equalise: Literal["relative"] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Batch]:
        """Release up to 1,000 statistics at once: all of them or none.

        Args:
            items: each made by `item`; up to 1,000.
            epsilon: what the items with a weight share; others have their own.
            equalise: "relative" shares it so that all have the same relative error.
            alpha: the probability that an error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether earlier releases that are accurate enough are answers.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> items = [item(mean("body_mass_g"), epsilon="0.2"), item(histogram("species"), accuracy=30)]
            >>> masses, species = (await penguins.batch(items)).items
            >>> masses.interval[0] < masses.interval[1], species.labels[0]
            (True, 'Adelie')
        """
        options = BatchOptions(
            epsilon=epsilon,
            equalise=equalise,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        require_released_items(items)
        return self._send(calls.release_batch(self.name, items, **options))

    def plan_derived(
        self,
        derived: DerivedStatistic,
        *,
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
    ) -> Awaitable[DerivedPlan]:
        """The components of a derived statistic, and what the missing ones cost: free.

        Args:
            derived: from `median`, `correlation` … of this package.
            epsilon: what its components may cost together; or give accuracy.
            accuracy: half the width of the interval that you accept.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guesses: numbers of the table by name, such as {"mean": 4200}.
            alpha: the probability that an interval misses; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether earlier releases that are accurate enough are components.

        Examples:
            >>> plan = await penguins.plan_derived(regression("bill_length_mm", "body_mass_g"), epsilon=4)
            >>> [component.role for component in plan.components]
            ['covariance', 'variance_x', 'mean_x', 'mean_y']
        """
        options = DerivedPlanOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guesses=guesses,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
        )
        return self._send(calls.plan_derived(self.name, derived, **options))

    def derive(
        self,
        derived: DerivedStatistic,
        *,
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Derived]:
        """Derive a statistic from releases, and pay only for those that do not exist yet.

        Args:
            derived: from `median`, `correlation` … of this package.
            epsilon: what its components may cost together; or give accuracy.
            accuracy: half the width of the interval that you accept.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guesses: numbers of the table by name, such as {"mean": 4200}.
            alpha: the probability that an interval misses; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether earlier releases that are accurate enough are components.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> masses = await penguins.derive({"kind": "sum", "column": "body_mass_g"}, epsilon="0.5")
            >>> masses.interval[0] < masses.value < masses.interval[1]
            True
        """
        options = DerivedOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guesses=guesses,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        return self._send(calls.derive(self.name, derived, **options))
