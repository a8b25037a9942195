"""The statistics of a dataset that are released, or derived if they leave out rows."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Literal, Unpack, overload

from snapledger_client import calls, statistics
from snapledger_client._async.dataset_queries import AsyncDatasetQueries
from snapledger_client.arguments import is_derived, require_missing
from snapledger_client.models.derived import Derived
from snapledger_client.models.releases import Estimate, Histogram
from snapledger_client.numbers import Number, Value
from snapledger_client.options import AnyOptions, DerivedOptions, ReleaseOptions
from snapledger_client.statistics import Bounds, Missing, Pair, PairOfBounds, Period, Periods, Statistic, Where


class AsyncReleaseQueries(AsyncDatasetQueries):
    """The statistics that are released."""

    @overload
    def mean(
        self,
        column: str,
        bounds: Bounds | None = None,
        *,
        where: None = None,
        group_by: None = None,
        weight: None = None,
        missing: None = None,
        **options: Unpack[ReleaseOptions],
    ) -> Awaitable[Estimate]: ...
    @overload
    def mean(
        self,
        column: str,
        bounds: Bounds | None = None,
        *,
        where: Where | None = None,
        group_by: str | Periods | None = None,
        weight: str | None = None,
        missing: Missing | None = None,
        **options: Unpack[DerivedOptions],
    ) -> Awaitable[Derived]: ...
    def mean(
        self,
        column: str,
        bounds: Bounds | None = None,
        *,
        where: Where | None = None,
        group_by: str | Periods | None = None,
        weight: str | None = None,
        missing: Missing | None = None,
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Estimate | Derived]:
        """Release the mean of a column over all rows, or derive that of some rows, with weights or by group.

        Args:
            column: the name of a column.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            group_by: a column of categories, or `periods` of a column of dates.
            weight: the column of the weights, which are at least 0.
            missing: "exclude" leaves out rows without a value.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, as far as you know without the data.
            guesses: if derived: guesses by name, such as {"mean": 4200, "count": 150}.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether an earlier release that is accurate enough is the answer.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> (await penguins.mean("body_mass_g", accuracy=150)).accuracy.radius <= 150
            True
            >>> of_gentoo = await penguins.mean("body_mass_g", where={"species": "Gentoo"}, epsilon=1)
            >>> 2000 <= of_gentoo.interval[0] <= of_gentoo.value <= of_gentoo.interval[1] <= 7000
            True
        """
        options = AnyOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            guesses=guesses,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        return self._answer(statistics.mean(column, bounds, missing, where, group_by, weight), options)

    @overload
    def variance(
        self,
        column: str,
        bounds: Bounds | None = None,
        *,
        missing: None = None,
        **options: Unpack[ReleaseOptions],
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
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Estimate | Derived]:
        """Release the sample variance of a column, or derive that of the known values, perhaps of some rows.

        Args:
            column: the name of a column.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            missing: "exclude" leaves out rows without a value.
            where: with missing: only rows that meet this filter.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, as far as you know without the data.
            guesses: with missing: such as {"standard_deviation": 800, "count": 300}.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether an earlier release that is accurate enough is the answer.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> (await penguins.variance("bill_length_mm", accuracy=60)).accuracy.radius <= 60
            True
        """
        options = AnyOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            guesses=guesses,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        require_missing(where, missing)
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
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Estimate | Derived]:
        """Release the sample covariance of two columns, or derive that of the rows with both values.

        Args:
            first: the name of the first column.
            second: the name of the second column.
            bounds: for each column, what its values are clamped to, or None.
            missing: "exclude" leaves out rows without a value.
            where: with missing: only rows that meet this filter.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, as far as you know without the data.
            guesses: with missing: numbers of the table by name, as `derive` takes.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether an earlier release that is accurate enough is the answer.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> both = await penguins.covariance("bill_length_mm", "body_mass_g", epsilon="0.1")
            >>> both.privacy.epsilon >= Decimal("0.1")
            True
        """
        options = AnyOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            guesses=guesses,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        require_missing(where, missing)
        return self._answer(statistics.covariance(first, second, bounds, missing, where), options)

    def _answer(self, statistic: Statistic, options: AnyOptions) -> Awaitable[Estimate | Derived]:
        """Release a statistic that is one number, or derive it if it leaves out rows."""
        if is_derived(statistic):
            return self._send(calls.derive(self.name, statistic, **calls.choose_derived_options(statistic, options)))
        return self._send(calls.release_estimate(self.name, statistic, **calls.choose_release_options(options)))

    def count(
        self,
        where: Where,
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
    ) -> Awaitable[Estimate]:
        """Release how many rows meet `where`.

        Args:
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> adelie = await penguins.count({"species": {"in": ["Adelie"]}}, epsilon="0.5")
            >>> 0 <= adelie.value_in_range <= 344
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
        return self._send(calls.release_estimate(self.name, statistics.count(where), **options))

    def counts(
        self,
        group_by: str | Periods,
        where: Where | None = None,
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
    ) -> Awaitable[Histogram]:
        """Release how many rows of each category of a column meet `where`.

        Args:
            group_by: a column of categories, or `periods` of a column of dates.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> heavy = await penguins.counts("species", {"body_mass_g": {"between": (5000, 7000)}}, epsilon="0.5")
            >>> heavy.labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
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
        return self._send(calls.release_histogram(self.name, statistics.count(where, group_by), **options))

    def missing(
        self,
        column: str,
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
    ) -> Awaitable[Estimate]:
        """Release how many rows have no value of a column; their share is in the `summary`.

        Args:
            column: the name of a column.
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
            >>> (await penguins.missing("body_mass_g", epsilon="0.5")).statistic
            {'kind': 'missing', 'column': 'body_mass_g'}
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
        epsilon: Number | None = None,
        accuracy: Number | None = None,
        relative_accuracy: Number | None = None,
        guess: Number | None = None,
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Estimate | Derived]:
        """Release the sum of a column over all rows or those that meet `where`, or derive that of the known values.

        Args:
            column: the name of a column.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            missing: "exclude" leaves out rows without a value.
            epsilon: what it may cost; or give accuracy, or relative_accuracy.
            accuracy: the largest error that you accept, in the unit of the value.
            relative_accuracy: the same as a part of the guess: 0.01 is 1 % of it.
            guess: what the value may be, as far as you know without the data.
            guesses: with missing: such as {"sum": 1000000}.
            alpha: the probability that the error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether an earlier release that is accurate enough is the answer.
            key: the idempotency key: asked again with it, you pay once.

        Examples:
            >>> gentoo = await penguins.sum("body_mass_g", where={"species": {"in": ["Gentoo"]}}, epsilon="0.5")
            >>> gentoo.mechanism.sensitivity
            7000.0
        """
        options = AnyOptions(
            epsilon=epsilon,
            accuracy=accuracy,
            relative_accuracy=relative_accuracy,
            guess=guess,
            guesses=guesses,
            alpha=alpha,
            gamma=gamma,
            grid_refinement=grid_refinement,
            reuse=reuse,
            key=key,
        )
        return self._answer(statistics.total(column, bounds, where, missing=missing), options)

    def sums(
        self,
        column: str,
        group_by: str | Periods,
        bounds: Bounds | None = None,
        where: Where | None = None,
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
    ) -> Awaitable[Histogram]:
        """Release the sum of a column for each category of another.

        Args:
            column: the name of a column.
            group_by: a column of categories, or `periods` of a column of dates.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> len((await penguins.sums("body_mass_g", "species", epsilon="0.5")).value)
            4
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
        statistic = statistics.total(column, bounds, where, group_by)
        return self._send(calls.release_histogram(self.name, statistic, **options))

    def histogram(
        self,
        column: str,
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
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
    ) -> Awaitable[Histogram]:
        """Release the counts of a column's bins.

        Args:
            column: the name of a column.
            edges: the edges of the bins; or give bins.
            bins: how many bins of equal width, or a period such as "month".
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> (await penguins.histogram("body_mass_g", edges=[2000, 4000, 7000], epsilon="0.1")).labels
            ['[2000, 4000)', '[4000, 7000]', 'missing']
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
        statistic = statistics.histogram(column, edges, bins, bounds, where)
        return self._send(calls.release_histogram(self.name, statistic, **options))

    def table(
        self,
        first: str,
        second: str,
        edges: Pair[Sequence[Value]] | None = None,
        bins: Pair[int | Period] | None = None,
        bounds: PairOfBounds | None = None,
        where: Where | None = None,
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
    ) -> Awaitable[Histogram]:
        """Release a two-way table: the counts of each pair of two columns' bins.

        Args:
            first: the name of the first column.
            second: the name of the second column.
            edges: for each column, the edges of its bins, or None.
            bins: for each column, how many bins, or None for categories.
            bounds: for each column, what its values are clamped to, or None.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> (await penguins.table("species", "body_mass_g", bins=(None, 2), epsilon="0.5")).labels[:3]
            ['Adelie, [2000, 4500)', 'Adelie, [4500, 7000]', 'Adelie, missing']
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
        statistic = statistics.table(first, second, edges, bins, bounds, where)
        return self._send(calls.release_histogram(self.name, statistic, **options))
