"""The queries of a dataset: plans, releases, batches and derived statistics."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal, Unpack, overload

from snapledger_client import calls, derived_statistics, statistics
from snapledger_client._async.base_client import AsyncBaseClient
from snapledger_client.derived_statistics import DerivedStatistic
from snapledger_client.models.batches import Batch, BatchPlan
from snapledger_client.models.derived import Derived, DerivedPlan
from snapledger_client.models.plans import Plan
from snapledger_client.models.releases import Estimate, Histogram, Release
from snapledger_client.numbers import Number, Value
from snapledger_client.options import (
    BatchOptions,
    BatchPlanOptions,
    DerivedOptions,
    DerivedPlanOptions,
    PlanOptions,
    ReleaseOptions,
)
from snapledger_client.statistics import Bounds, Missing, Pair, PairOfBounds, Period, Periods, Statistic, Where


class AsyncDatasetQueries:
    """The statistics of a dataset."""

    def __init__(self, client: AsyncBaseClient, name: str) -> None:
        self.name = name
        self._send, self._iterate = client._send, client._iterate  # noqa: SLF001 - parts of one client

    def plan(self, statistic: Statistic, **options: Unpack[PlanOptions]) -> Awaitable[Plan]:
        """What a release would cost and promise: free, and without reading any data. See `PlanOptions`.

        Examples:
            >>> (await penguins.plan(mean("body_mass_g"), accuracy=50)).privacy.epsilon
            Decimal('0.871099697')
            >>> (await penguins.plan(mean("body_mass_g"), epsilon="0.5", guess=4200)).bias.largest
            0.013367716072464045
        """
        return self._send(calls.plan(self.name, statistic, **options))

    def release(self, statistic: Statistic, **options: Unpack[ReleaseOptions]) -> Awaitable[Release]:
        """Release any statistic. See `ReleaseOptions`.

        Examples:
            >>> (await penguins.release(mean("body_mass_g"), epsilon="0.5")).accuracy.radius < 117
            True
        """
        return self._send(calls.release(self.name, statistic, **options))

    @overload
    def mean(
        self, column: str, bounds: Bounds | None = None, *, missing: None = None, **options: Unpack[ReleaseOptions]
    ) -> Awaitable[Estimate]: ...
    @overload
    def mean(
        self, column: str, bounds: Bounds | None = None, *, missing: Missing, **options: Unpack[DerivedOptions]
    ) -> Awaitable[Derived]: ...
    def mean(
        self, column: str, bounds: Bounds | None = None, *, missing: Missing | None = None, **options: Any
    ) -> Awaitable[Any]:
        """Release the mean of a column over all rows; `filtered_mean` is that of some rows. See `ReleaseOptions`.

        With `missing="exclude"`, derive the mean of the known values from two releases. See `DerivedOptions`.

        Examples:
            >>> (await penguins.mean("body_mass_g", accuracy=150)).accuracy.radius <= 150
            True
            >>> known = await penguins.mean("body_mass_g", missing="exclude", epsilon=1)
            >>> 2000 <= known.interval[0] <= known.value <= known.interval[1] <= 7000
            True
        """
        return self._answer(statistics.mean(column, bounds, missing), options)

    @overload
    def variance(
        self, column: str, bounds: Bounds | None = None, *, missing: None = None, **options: Unpack[ReleaseOptions]
    ) -> Awaitable[Estimate]: ...
    @overload
    def variance(
        self,
        column: str,
        bounds: Bounds | None = None,
        *,
        missing: Missing,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]: ...
    def variance(
        self,
        column: str,
        bounds: Bounds | None = None,
        *,
        missing: Missing | None = None,
        where: Where | None = None,
        **options: Any,
    ) -> Awaitable[Any]:
        """Release the sample variance of a column, or derive that of the known values, perhaps `where`. See `mean`.

        Examples:
            >>> (await penguins.variance("bill_length_mm", accuracy=60)).accuracy.radius <= 60
            True
        """
        return self._answer(statistics.variance(column, bounds, missing, where), options)

    @overload
    def covariance(
        self,
        first: str,
        second: str,
        bounds: PairOfBounds | None = None,
        *,
        missing: None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Awaitable[Estimate]: ...
    @overload
    def covariance(
        self,
        first: str,
        second: str,
        bounds: PairOfBounds | None = None,
        *,
        missing: Missing,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]: ...
    def covariance(
        self,
        first: str,
        second: str,
        bounds: PairOfBounds | None = None,
        *,
        missing: Missing | None = None,
        where: Where | None = None,
        **options: Any,
    ) -> Awaitable[Any]:
        """Release the sample covariance of two columns, or derive that of the rows with both values. See `mean`.

        Examples:
            >>> both = await penguins.covariance("bill_length_mm", "body_mass_g", epsilon="0.1")
            >>> both.privacy.epsilon >= Decimal("0.1")
            True
        """
        return self._answer(statistics.covariance(first, second, bounds, missing, where), options)

    def _answer(self, statistic: Statistic, options: Any) -> Awaitable[Any]:  # noqa: ANN401 - of one of both
        """Release a statistic that is one number, or derive that of the known values."""
        if "missing" in statistic:
            return self._send(calls.derive(self.name, statistic, **options))
        return self._send(calls.release_estimate(self.name, statistic, **options))

    def count(self, where: Where, **options: Unpack[ReleaseOptions]) -> Awaitable[Estimate]:
        """Release how many rows meet `where`. See `ReleaseOptions`.

        Examples:
            >>> adelie = await penguins.count({"species": {"in": ["Adelie"]}}, epsilon="0.5")
            >>> 0 <= adelie.value_in_range <= 344
            True
        """
        return self._send(calls.release_estimate(self.name, statistics.count(where), **options))

    def counts(
        self, group_by: str | Periods, where: Where | None = None, **options: Unpack[ReleaseOptions]
    ) -> Awaitable[Histogram]:
        """Release how many rows of each category of a column meet `where`. See `ReleaseOptions`.

        Examples:
            >>> heavy = await penguins.counts("species", {"body_mass_g": {"between": (5000, 7000)}}, epsilon="0.5")
            >>> heavy.labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        return self._send(calls.release_histogram(self.name, statistics.count(where, group_by), **options))

    def missing(self, column: str, **options: Unpack[ReleaseOptions]) -> Awaitable[Estimate]:
        """Release how many rows have no value of a column; their share is in the `summary`. See `ReleaseOptions`.

        Examples:
            >>> (await penguins.missing("body_mass_g", epsilon="0.5")).statistic
            {'kind': 'missing', 'column': 'body_mass_g'}
        """
        return self._send(calls.release_estimate(self.name, statistics.missing_values(column), **options))

    @overload
    def sum(
        self,
        column: str,
        bounds: Bounds | None = None,
        where: Where | None = None,
        *,
        missing: None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Awaitable[Estimate]: ...
    @overload
    def sum(
        self,
        column: str,
        bounds: Bounds | None = None,
        where: Where | None = None,
        *,
        missing: Missing,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]: ...
    def sum(
        self,
        column: str,
        bounds: Bounds | None = None,
        where: Where | None = None,
        *,
        missing: Missing | None = None,
        **options: Any,
    ) -> Awaitable[Any]:
        """Release the sum of a column over the rows that meet `where`, or over all; or of the known values. See `mean`.

        Examples:
            >>> gentoo = await penguins.sum("body_mass_g", where={"species": {"in": ["Gentoo"]}}, epsilon="0.5")
            >>> gentoo.mechanism.sensitivity
            7000.0
        """
        return self._answer(statistics.total(column, bounds, where, missing=missing), options)

    def sums(
        self,
        column: str,
        group_by: str | Periods,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Awaitable[Histogram]:
        """Release the sum of a column for each category of another. See `ReleaseOptions`.

        Examples:
            >>> len((await penguins.sums("body_mass_g", "species", epsilon="0.5")).value)
            4
        """
        return self._send(
            calls.release_histogram(self.name, statistics.total(column, bounds, where, group_by), **options)
        )

    def histogram(
        self,
        column: str,
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Awaitable[Histogram]:
        """Release the counts of a column's bins. See `ReleaseOptions`.

        Examples:
            >>> (await penguins.histogram("body_mass_g", edges=[2000, 4000, 7000], epsilon="0.1")).labels
            ['[2000, 4000)', '[4000, 7000]', 'missing']
        """
        return self._send(
            calls.release_histogram(self.name, statistics.histogram(column, edges, bins, bounds, where), **options)
        )

    def table(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        first: str,
        second: str,
        edges: Pair[Sequence[Value]] | None = None,
        bins: Pair[int | Period] | None = None,
        bounds: PairOfBounds | None = None,
        where: Where | None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Awaitable[Histogram]:
        """Release a two-way table: the counts of each pair of two columns' bins. See `ReleaseOptions`.

        Examples:
            >>> (await penguins.table("species", "body_mass_g", bins=(None, 2), epsilon="0.5")).labels[:3]
            ['Adelie, [2000, 4500)', 'Adelie, [4500, 7000]', 'Adelie, missing']
        """
        statistic = statistics.table(first, second, edges, bins, bounds, where)
        return self._send(calls.release_histogram(self.name, statistic, **options))

    def plan_batch(
        self, items: Sequence[Mapping[str, Any]], **options: Unpack[BatchPlanOptions]
    ) -> Awaitable[BatchPlan]:
        """What a batch would cost and promise, item by item: free. See `item` and `BatchPlanOptions`.

        Examples:
            >>> items = [item(mean("body_mass_g"), weight=1), item(variance("body_mass_g"), weight=3)]
            >>> [each.privacy.epsilon for each in (await penguins.plan_batch(items, epsilon="0.8", reuse=False)).items]
            [Decimal('0.2'), Decimal('0.6')]
        """
        return self._send(calls.plan_batch(self.name, items, **options))

    def batch(self, items: Sequence[Mapping[str, Any]], **options: Unpack[BatchOptions]) -> Awaitable[Batch]:
        """Release up to 1,000 statistics at once: all of them or none. See `item` and `BatchOptions`.

        Examples:
            >>> items = [item(mean("body_mass_g"), epsilon="0.2"), item(histogram("species"), accuracy=30)]
            >>> masses, species = (await penguins.batch(items)).items
            >>> masses.interval[0] < masses.interval[1], species.labels[0]
            (True, 'Adelie')
        """
        return self._send(calls.release_batch(self.name, items, **options))

    def plan_derived(self, derived: DerivedStatistic, **options: Unpack[DerivedPlanOptions]) -> Awaitable[DerivedPlan]:
        """The components of a derived statistic, and what the missing ones cost: free. See `DerivedPlanOptions`.

        Examples:
            >>> plan = await penguins.plan_derived(regression("bill_length_mm", "body_mass_g"), epsilon=4)
            >>> [component.role for component in plan.components]
            ['covariance', 'variance_x', 'mean_x', 'mean_y']
        """
        return self._send(calls.plan_derived(self.name, derived, **options))

    def derive(self, derived: DerivedStatistic, **options: Unpack[DerivedOptions]) -> Awaitable[Derived]:
        """Derive a statistic from releases, and pay only for those that do not exist yet. See `DerivedOptions`.

        Examples:
            >>> masses = await penguins.derive({"kind": "sum", "column": "body_mass_g"}, epsilon="0.5")
            >>> masses.interval[0] < masses.value < masses.interval[1]
            True
        """
        return self._send(calls.derive(self.name, derived, **options))

    def standard_deviation(
        self,
        column: str,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The root of a column's sample variance. See `DerivedOptions`.

        Examples:
            >>> (await penguins.standard_deviation("body_mass_g", epsilon="0.2")).interval[0] >= 0
            True
        """
        derived = derived_statistics.standard_deviation(column, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def proportion(
        self,
        column: str | None = None,
        category: str | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The share of rows that are true, of a category, or that meet `where`. See `DerivedOptions`.

        Examples:
            >>> 0 <= (await penguins.proportion("species", "Gentoo", epsilon="0.2")).value <= 1
            True
        """
        return self._send(calls.derive(self.name, derived_statistics.proportion(column, category, where), **options))

    def filtered_mean(
        self,
        column: str,
        where: Where,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The mean of a column over the rows that meet `where`. See `DerivedOptions`.

        The ends of its interval are None if there may be no such row.

        Examples:
            >>> of_gentoo = await penguins.filtered_mean("body_mass_g", {"species": {"in": ["Gentoo"]}}, epsilon=1)
            >>> 2000 <= of_gentoo.interval[0] <= of_gentoo.interval[1] <= 7000
            True
        """
        derived = derived_statistics.filtered_mean(column, where, bounds, missing)
        return self._send(calls.derive(self.name, derived, **options))

    def mean_by_group(
        self,
        column: str,
        group_by: str | Periods,
        where: Where | None = None,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The mean of a column in each declared category of `group_by`, at the price of two releases.

        See `DerivedOptions`.

        Examples:
            >>> of_species = await penguins.mean_by_group("body_mass_g", "species", epsilon=2)
            >>> of_species.labels[:3]
            ['Adelie', 'Chinstrap', 'Gentoo']
        """
        derived = derived_statistics.mean_by_group(column, group_by, where, bounds, missing)
        return self._send(calls.derive(self.name, derived, **options))

    def proportion_by_group(
        self,
        column: str,
        group_by: str | Periods,
        category: str | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The share of each group's rows that are true, or of a category. See `DerivedOptions`.

        Examples:
            >>> adelie = await penguins.proportion_by_group("species", "species", "Adelie", epsilon=2)
            >>> all(0 <= least <= most <= 1 for _, least, most in adelie.estimates["proportion"].rows)
            True
        """
        derived = derived_statistics.proportion_by_group(column, group_by, category, where)
        return self._send(calls.derive(self.name, derived, **options))

    def weighted_mean(  # noqa: PLR0913, PLR0917 - a mean's, the weight and the rows
        self,
        column: str,
        weight: str,
        where: Where | None = None,
        group_by: str | Periods | None = None,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The mean of a column with the weights of another one, over all rows, some or groups. See `DerivedOptions`.

        Examples:
            >>> weighted = await penguins.weighted_mean("bill_length_mm", "body_mass_g", epsilon=2)
            >>> weighted.interval[0] <= weighted.value <= weighted.interval[1]
            True
        """
        derived = derived_statistics.weighted_mean(column, weight, where, group_by, bounds, missing)
        return self._send(calls.derive(self.name, derived, **options))

    def correlation(
        self,
        first: str,
        second: str,
        bounds: PairOfBounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """Pearson's correlation of two columns. See `DerivedOptions`.

        Examples:
            >>> -1 <= (await penguins.correlation("bill_length_mm", "body_mass_g", epsilon="0.3")).interval[0]
            True
        """
        derived = derived_statistics.correlation(first, second, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def regression(
        self,
        x: str,
        y: str,
        bounds: PairOfBounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The least-squares line of the column `y` on the column `x`. See `DerivedOptions`.

        Examples:
            >>> line = await penguins.regression("bill_length_mm", "body_mass_g", epsilon=4)
            >>> list(line.estimates)
            ['slope', 'intercept']
        """
        derived = derived_statistics.regression(x, y, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def cumulative(
        self,
        column: str,
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The number of rows below each edge of a histogram except the first. See `DerivedOptions`.

        Examples:
            >>> below = await penguins.cumulative("body_mass_g", edges=[2000, 4000, 7000], epsilon="0.1")
            >>> below.edges, below.value[0] <= below.value[1]
            ((4000.0, 7000.0), True)
        """
        statistic = derived_statistics.cumulative(column, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, statistic, **options))

    def quantile(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        column: str,
        probabilities: Number | Sequence[Number],
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        method: Literal["histogram", "search", "adaptive"] | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The value at each of the `probabilities`, or at a single one, as precisely as the bins allow.

        See `DerivedOptions`.

        Examples:
            >>> quartiles = await penguins.quantile("body_mass_g", [0.25, 0.5, 0.75], bins=10, epsilon="0.5")
            >>> list(quartiles.value) == sorted(quartiles.value)
            True
        """
        statistic = derived_statistics.quantile(column, probabilities, edges, bins, bounds, where, method)
        return self._send(calls.derive(self.name, statistic, **options))

    def median(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        column: str,
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        method: Literal["histogram", "search", "adaptive"] | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The median of a column: its `quantile` at the probability 0.5, the only item of `value`.

        See `DerivedOptions`.

        Examples:
            >>> middle = await penguins.median("body_mass_g", bins=10, epsilon="0.5")
            >>> 2000 <= middle.value[0] <= 7000
            True
        """
        statistic = derived_statistics.median(column, edges, bins, bounds, where, method)
        return self._send(calls.derive(self.name, statistic, **options))

    def margin(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        column: str,
        first: str,
        second: str,
        edges: Pair[Sequence[Value]] | None = None,
        bins: Pair[int | Period] | None = None,
        bounds: PairOfBounds | None = None,
        where: Where | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]:
        """The counts of one column's bins, added up from a two-way table. See `DerivedOptions`.

        Examples:
            >>> by_species = await penguins.margin("species", "species", "body_mass_g", bins=(None, 2), epsilon="0.5")
            >>> by_species.labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        statistic = derived_statistics.margin(column, first, second, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, statistic, **options))
