"""What an analyst asks of a dataset in an asynchronous program: the same calls, awaited."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Protocol, TypeVar, Unpack

from snapledger_client import calls, following, statistics
from snapledger_client.calls import Call
from snapledger_client.following import Following
from snapledger_client.numbers import Number
from snapledger_client.plans import BatchPlan, Plan
from snapledger_client.questions import Asked, PlanAsked, Shared, SharedAsked, Together, TogetherAsked
from snapledger_client.releases import Estimate, Histogram, Release
from snapledger_client.statistics import Bounds, PairOfBounds, Statistic, Where
from snapledger_client.together import Batch, Derived, DerivedPlan

T = TypeVar("T")
Pair = tuple[T | None, T | None]


class Send(Protocol):
    """Sends a call and reads its answer."""

    def __call__(self, call: Call[T], /) -> Awaitable[T]: ...  # noqa: D102 - the class says it


class AsyncAsking:
    """Plans, releases, batches and what follows from them."""

    name: str
    _send: Send

    def plan(self, statistic: Statistic, **asked: Unpack[PlanAsked]) -> Awaitable[Plan]:
        """What a release would cost and promise: free, and without reading any data. See `PlanAsked`.

        Examples:
            >>> (await penguins.plan(mean("body_mass_g"), accuracy=50)).privacy.epsilon
            Decimal('1.018956556')
            >>> (await penguins.plan(mean("body_mass_g"), epsilon="0.5", guess=4200)).bias.at_guess
            1.251023253988033
        """
        return self._send(calls.plan(self.name, statistic, **asked))

    def release(self, statistic: Statistic, **asked: Unpack[Asked]) -> Awaitable[Release]:
        """Release any statistic. See `Asked`.

        Examples:
            >>> (await penguins.release(mean("body_mass_g"), epsilon="0.5")).accuracy.radius < 117
            True
        """
        return self._send(calls.release(self.name, statistic, **asked))

    def mean(self, column: str, bounds: Bounds | None = None, **asked: Unpack[Asked]) -> Awaitable[Estimate]:
        """Release the mean of a column. See `Asked`.

        Examples:
            >>> (await penguins.mean("body_mass_g", accuracy=150)).accuracy.radius <= 150
            True
        """
        return self._send(calls.estimate(self.name, statistics.mean(column, bounds), **asked))

    def variance(self, column: str, bounds: Bounds | None = None, **asked: Unpack[Asked]) -> Awaitable[Estimate]:
        """Release the sample variance of a column. See `Asked`.

        Examples:
            >>> (await penguins.variance("bill_length_mm", accuracy=60)).accuracy.radius <= 60
            True
        """
        return self._send(calls.estimate(self.name, statistics.variance(column, bounds), **asked))

    def covariance(
        self, first: str, second: str, bounds: PairOfBounds | None = None, **asked: Unpack[Asked]
    ) -> Awaitable[Estimate]:
        """Release the sample covariance of two columns. See `Asked`.

        Examples:
            >>> both = await penguins.covariance("bill_length_mm", "body_mass_g", epsilon="0.1")
            >>> both.privacy.epsilon >= Decimal("0.1")
            True
        """
        return self._send(calls.estimate(self.name, statistics.covariance(first, second, bounds), **asked))

    def count(self, where: Where, **asked: Unpack[Asked]) -> Awaitable[Estimate]:
        """Release how many rows meet `where`. See `Asked`.

        Examples:
            >>> adelie = await penguins.count({"species": {"in": ["Adelie"]}}, epsilon="0.5")
            >>> 0 <= adelie.value_in_range <= 344
            True
        """
        return self._send(calls.estimate(self.name, statistics.count(where), **asked))

    def counts(self, group_by: str, where: Where | None = None, **asked: Unpack[Asked]) -> Awaitable[Histogram]:
        """Release how many rows of each category of a column meet `where`. See `Asked`.

        Examples:
            >>> heavy = await penguins.counts("species", {"body_mass_g": {"between": (5000, 7000)}}, epsilon="0.5")
            >>> heavy.labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        return self._send(calls.histogram(self.name, statistics.count(where, group_by), **asked))

    def sum(
        self, column: str, bounds: Bounds | None = None, where: Where | None = None, **asked: Unpack[Asked]
    ) -> Awaitable[Estimate]:
        """Release the sum of a column over the rows that meet `where`, or over all. See `Asked`.

        Examples:
            >>> gentoo = await penguins.sum("body_mass_g", where={"species": {"in": ["Gentoo"]}}, epsilon="0.5")
            >>> gentoo.mechanism.sensitivity
            7000.0
        """
        return self._send(calls.estimate(self.name, statistics.total(column, bounds, where), **asked))

    def sums(
        self,
        column: str,
        group_by: str,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **asked: Unpack[Asked],
    ) -> Awaitable[Histogram]:
        """Release the sum of a column for each category of another. See `Asked`.

        Examples:
            >>> len((await penguins.sums("body_mass_g", "species", epsilon="0.5")).value)
            4
        """
        return self._send(calls.histogram(self.name, statistics.total(column, bounds, where, group_by), **asked))

    def histogram(
        self,
        column: str,
        edges: Sequence[Number] | None = None,
        bins: int | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **asked: Unpack[Asked],
    ) -> Awaitable[Histogram]:
        """Release the counts of a column's bins. See `Asked`.

        Examples:
            >>> (await penguins.histogram("body_mass_g", edges=[2000, 4000, 7000], epsilon="0.1")).labels
            ['[2000, 4000)', '[4000, 7000]', 'missing']
        """
        return self._send(calls.histogram(self.name, statistics.histogram(column, edges, bins, bounds, where), **asked))

    def table(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        first: str,
        second: str,
        edges: Pair[Sequence[Number]] | None = None,
        bins: Pair[int] | None = None,
        bounds: PairOfBounds | None = None,
        where: Where | None = None,
        **asked: Unpack[Asked],
    ) -> Awaitable[Histogram]:
        """Release a two-way table: the counts of each pair of two columns' bins. See `Asked`.

        Examples:
            >>> (await penguins.table("species", "body_mass_g", bins=(None, 2), epsilon="0.5")).labels[:3]
            ['Adelie, [2000, 4500)', 'Adelie, [4500, 7000]', 'Adelie, missing']
        """
        of_two = statistics.table(first, second, edges, bins, bounds, where)
        return self._send(calls.histogram(self.name, of_two, **asked))

    def plan_batch(self, items: Sequence[Mapping[str, Any]], **asked: Unpack[Shared]) -> Awaitable[BatchPlan]:
        """What a batch would cost and promise, item by item: free. See `item` and `Shared`.

        Examples:
            >>> items = [item(mean("body_mass_g"), weight=1), item(variance("body_mass_g"), weight=3)]
            >>> [each.privacy.epsilon for each in (await penguins.plan_batch(items, epsilon="0.8")).items]
            [Decimal('0.2'), Decimal('0.6')]
        """
        return self._send(calls.plan_batch(self.name, items, **asked))

    def batch(self, items: Sequence[Mapping[str, Any]], **asked: Unpack[SharedAsked]) -> Awaitable[Batch]:
        """Release up to 1,000 statistics at once: all are paid, or none. See `item` and `SharedAsked`.

        Examples:
            >>> items = [item(mean("body_mass_g"), epsilon="0.2"), item(histogram("species"), accuracy=30)]
            >>> masses, species = (await penguins.batch(items)).items
            >>> masses.interval[0] < masses.interval[1], species.labels[0]
            (True, 'Adelie')
        """
        return self._send(calls.batch(self.name, items, **asked))

    def plan_derived(self, derived: Following, **asked: Unpack[Together]) -> Awaitable[DerivedPlan]:
        """Which components a derived statistic has, and what those cost that are not known: free. See `Together`.

        Examples:
            >>> plan = await penguins.plan_derived(regression("bill_length_mm", "body_mass_g"), epsilon=4)
            >>> [component.role for component in plan.components]
            ['covariance', 'variance_x', 'mean_x', 'mean_y']
        """
        return self._send(calls.plan_derived(self.name, derived, **asked))

    def derive(self, derived: Following, **asked: Unpack[TogetherAsked]) -> Awaitable[Derived]:
        """What follows from releases; only those that are not known yet are paid. See `TogetherAsked`.

        Examples:
            >>> masses = await penguins.derive({"kind": "sum", "column": "body_mass_g"}, epsilon="0.5")
            >>> masses.interval[0] < masses.value < masses.interval[1]
            True
        """
        return self._send(calls.derive(self.name, derived, **asked))

    def standard_deviation(
        self, column: str, bounds: Bounds | None = None, **asked: Unpack[TogetherAsked]
    ) -> Awaitable[Derived]:
        """The root of a column's sample variance. See `TogetherAsked`.

        Examples:
            >>> (await penguins.standard_deviation("body_mass_g", epsilon="0.2")).interval[0] >= 0
            True
        """
        return self._send(calls.derive(self.name, following.standard_deviation(column, bounds), **asked))

    def proportion(
        self,
        column: str | None = None,
        category: str | None = None,
        where: Where | None = None,
        **asked: Unpack[TogetherAsked],
    ) -> Awaitable[Derived]:
        """The share of rows that are true, of a category, or that meet `where`. See `TogetherAsked`.

        Examples:
            >>> 0 <= (await penguins.proportion("species", "Gentoo", epsilon="0.2")).value <= 1
            True
        """
        return self._send(calls.derive(self.name, following.proportion(column, category, where), **asked))

    def filtered_mean(
        self, column: str, where: Where, bounds: Bounds | None = None, **asked: Unpack[TogetherAsked]
    ) -> Awaitable[Derived]:
        """The mean of a column over the rows that meet `where`; no end of it is known where there may be none.

        See `TogetherAsked`.

        Examples:
            >>> of_gentoo = await penguins.filtered_mean("body_mass_g", {"species": {"in": ["Gentoo"]}}, epsilon=1)
            >>> 2000 <= of_gentoo.interval[0] <= of_gentoo.interval[1] <= 7000
            True
        """
        return self._send(calls.derive(self.name, following.filtered_mean(column, where, bounds), **asked))

    def correlation(
        self, first: str, second: str, bounds: PairOfBounds | None = None, **asked: Unpack[TogetherAsked]
    ) -> Awaitable[Derived]:
        """Pearson's correlation of two columns. See `TogetherAsked`.

        Examples:
            >>> -1 <= (await penguins.correlation("bill_length_mm", "body_mass_g", epsilon="0.3")).interval[0]
            True
        """
        return self._send(calls.derive(self.name, following.correlation(first, second, bounds), **asked))

    def regression(
        self, x: str, y: str, bounds: PairOfBounds | None = None, **asked: Unpack[TogetherAsked]
    ) -> Awaitable[Derived]:
        """The least-squares line of the column `y` on the column `x`. See `TogetherAsked`.

        Examples:
            >>> line = await penguins.regression("bill_length_mm", "body_mass_g", epsilon=4)
            >>> list(line.estimates)
            ['slope', 'intercept']
        """
        return self._send(calls.derive(self.name, following.regression(x, y, bounds), **asked))

    def cumulative(
        self,
        column: str,
        edges: Sequence[Number] | None = None,
        bins: int | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **asked: Unpack[TogetherAsked],
    ) -> Awaitable[Derived]:
        """How many rows are below each edge of a histogram but the first. See `TogetherAsked`.

        Examples:
            >>> below = await penguins.cumulative("body_mass_g", edges=[2000, 4000, 7000], epsilon="0.1")
            >>> below.edges, below.value[0] <= below.value[1]
            ((4000.0, 7000.0), True)
        """
        asked_for = following.cumulative(column, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, asked_for, **asked))

    def quantile(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        column: str,
        probabilities: Sequence[Number],
        edges: Sequence[Number] | None = None,
        bins: int | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        **asked: Unpack[TogetherAsked],
    ) -> Awaitable[Derived]:
        """The value at each of the `probabilities`, as exactly as a histogram's bins tell. See `TogetherAsked`.

        Examples:
            >>> quartiles = await penguins.quantile("body_mass_g", [0.25, 0.5, 0.75], bins=10, epsilon="0.5")
            >>> list(quartiles.value) == sorted(quartiles.value)
            True
        """
        asked_for = following.quantile(column, probabilities, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, asked_for, **asked))

    def margin(  # noqa: PLR0913, PLR0917 - as many as it has
        self,
        column: str,
        first: str,
        second: str,
        edges: Pair[Sequence[Number]] | None = None,
        bins: Pair[int] | None = None,
        bounds: PairOfBounds | None = None,
        where: Where | None = None,
        **asked: Unpack[TogetherAsked],
    ) -> Awaitable[Derived]:
        """The counts of one column's bins, from the two-way table of two. See `TogetherAsked`.

        Examples:
            >>> by_species = await penguins.margin("species", "species", "body_mass_g", bins=(None, 2), epsilon="0.5")
            >>> by_species.labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
        """
        asked_for = following.margin(column, first, second, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, asked_for, **asked))
