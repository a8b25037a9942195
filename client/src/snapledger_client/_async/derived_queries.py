"""The statistics of a dataset that are derived from releases."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Literal

from snapledger_client import calls, derived_statistics
from snapledger_client._async.dataset_queries import AsyncDatasetQueries
from snapledger_client.arguments import require_missing
from snapledger_client.models.derived import Derived
from snapledger_client.numbers import Number, Value
from snapledger_client.options import DerivedOptions
from snapledger_client.statistics import Bounds, Missing, Pair, PairOfBounds, Period, Periods, Where


class AsyncDerivedQueries(AsyncDatasetQueries):
    """The statistics that are derived."""

    def standard_deviation(
        self,
        column: str,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
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
        """The root of a column's sample variance.

        Args:
            column: the name of a column.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            missing: "exclude" leaves out rows without a value.
            where: with missing: only rows that meet this filter.
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
            >>> (await penguins.standard_deviation("body_mass_g", epsilon="0.2")).interval[0] >= 0
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
        require_missing(where, missing)
        derived = derived_statistics.standard_deviation(column, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def std(
        self,
        column: str,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
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
        """The standard deviation of a column, by its short name: the root of its sample variance.

        Args:
            column: the name of a column.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            missing: "exclude" leaves out rows without a value.
            where: with missing: only rows that meet this filter.
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
            >>> spread = await penguins.std("body_mass_g", epsilon="0.2")
            >>> spread.interval[0] <= float(spread) <= spread.interval[1]
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
        require_missing(where, missing)
        derived = derived_statistics.standard_deviation(column, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def proportion(
        self,
        column: str | None = None,
        category: str | None = None,
        where: Where | None = None,
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
        """The share of rows that are true, of a category, or that meet `where`.

        Args:
            column: a column of categories or booleans, or None with `where`.
            category: the category that is counted; None for a boolean column.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> 0 <= (await penguins.proportion("species", "Gentoo", epsilon="0.2")).value <= 1
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
        derived = derived_statistics.proportion(column, category, where)
        return self._send(calls.derive(self.name, derived, **options))

    def filtered_mean(
        self,
        column: str,
        where: Where,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
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
        """The mean of a column over the rows that meet `where`: the same as `mean` with `where`.

        Args:
            column: the name of a column.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            missing: "exclude" leaves out rows without a value.
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
            >>> of_gentoo = await penguins.filtered_mean("body_mass_g", {"species": {"in": ["Gentoo"]}}, epsilon=1)
            >>> 2000 <= of_gentoo.interval[0] <= of_gentoo.interval[1] <= 7000
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
        derived = derived_statistics.filtered_mean(column, where, bounds, missing)
        return self._send(calls.derive(self.name, derived, **options))

    def mean_by_group(
        self,
        column: str,
        group_by: str | Periods,
        where: Where | None = None,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
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
        """The mean of a column in each declared category of `group_by`, at the price of two releases.

        Args:
            column: the name of a column.
            group_by: a column of categories, or `periods` of a column of dates.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            missing: "exclude" leaves out rows without a value.
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
            >>> of_species = await penguins.mean_by_group("body_mass_g", "species", epsilon=2)
            >>> of_species.labels[:3]
            ['Adelie', 'Chinstrap', 'Gentoo']
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
        derived = derived_statistics.mean_by_group(column, group_by, where, bounds, missing)
        return self._send(calls.derive(self.name, derived, **options))

    def proportion_by_group(
        self,
        column: str,
        group_by: str | Periods,
        category: str | None = None,
        where: Where | None = None,
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
        """The share of each group's rows that are true, or of a category.

        Args:
            column: the name of a column.
            group_by: a column of categories, or `periods` of a column of dates.
            category: the category that is counted; None for a boolean column.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> adelie = await penguins.proportion_by_group("species", "species", "Adelie", epsilon=2)
            >>> all(0 <= least <= most <= 1 for _, least, most in adelie.estimates["proportion"].rows)
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
        derived = derived_statistics.proportion_by_group(column, group_by, category, where)
        return self._send(calls.derive(self.name, derived, **options))

    def weighted_mean(
        self,
        column: str,
        weight: str,
        where: Where | None = None,
        group_by: str | Periods | None = None,
        bounds: Bounds | None = None,
        missing: Missing | None = None,
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
        """The mean of a column with the weights of another one, over all rows, some or groups.

        Args:
            column: the name of a column.
            weight: the column of the weights, which are at least 0.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            group_by: a column of categories, or `periods` of a column of dates.
            bounds: what values are clamped to, (lower, upper); default: as declared.
            missing: "exclude" leaves out rows without a value.
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
            >>> weighted = await penguins.weighted_mean("bill_length_mm", "body_mass_g", epsilon=2)
            >>> weighted.interval[0] <= weighted.value <= weighted.interval[1]
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
        derived = derived_statistics.weighted_mean(column, weight, where, group_by, bounds, missing)
        return self._send(calls.derive(self.name, derived, **options))

    def correlation(
        self,
        first: str,
        second: str,
        bounds: PairOfBounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
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
        """Pearson's correlation of two columns.

        Args:
            first: the name of the first column.
            second: the name of the second column.
            bounds: for each column, what its values are clamped to, or None.
            missing: "exclude" leaves out rows without a value.
            where: with missing: only rows that meet this filter.
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
            >>> -1 <= (await penguins.correlation("bill_length_mm", "body_mass_g", epsilon="0.3")).interval[0]
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
        require_missing(where, missing)
        derived = derived_statistics.correlation(first, second, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def regression(
        self,
        x: str,
        y: str,
        bounds: PairOfBounds | None = None,
        missing: Missing | None = None,
        where: Where | None = None,
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
        """The least-squares line of the column `y` on the column `x`: its slope and its intercept.

        Args:
            x: the column that explains.
            y: the column that is explained.
            bounds: for each column, what its values are clamped to, or None.
            missing: "exclude" leaves out rows without a value.
            where: with missing: only rows that meet this filter.
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
            >>> line = await penguins.regression("bill_length_mm", "body_mass_g", epsilon=4)
            >>> list(line.estimates)
            ['slope', 'intercept']
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
        require_missing(where, missing)
        derived = derived_statistics.regression(x, y, bounds, missing, where)
        return self._send(calls.derive(self.name, derived, **options))

    def cumulative(
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
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Derived]:
        """The number of rows below each edge of a histogram except the first.

        Args:
            column: the name of a column.
            edges: the edges of the bins; or give bins.
            bins: how many bins of equal width, or a period such as "month".
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> below = await penguins.cumulative("body_mass_g", edges=[2000, 4000, 7000], epsilon="0.1")
            >>> below.edges, below.value[0] <= below.value[1]
            ((4000.0, 7000.0), True)
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
        derived = derived_statistics.cumulative(column, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, derived, **options))

    def quantile(
        self,
        column: str,
        probabilities: Number | Sequence[Number],
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        method: Literal["histogram", "search", "adaptive"] | None = None,
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
        """The value at each of the `probabilities`, or at a single one, as precisely as the bins allow.

        Args:
            column: the name of a column.
            probabilities: such as 0.5 for the median, or a list such as [0.25, 0.75].
            edges: the edges of the bins; or give bins.
            bins: how many bins of equal width, or a period such as "month".
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            method: "histogram", "search" or "adaptive"; default: the best for the ε.
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
            >>> quartiles = await penguins.quantile("body_mass_g", [0.25, 0.5, 0.75], bins=10, epsilon="0.5")
            >>> list(quartiles.value) == sorted(quartiles.value)
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
        derived = derived_statistics.quantile(column, probabilities, edges, bins, bounds, where, method)
        return self._send(calls.derive(self.name, derived, **options))

    def median(
        self,
        column: str,
        edges: Sequence[Value] | None = None,
        bins: int | Period | None = None,
        bounds: Bounds | None = None,
        where: Where | None = None,
        method: Literal["histogram", "search", "adaptive"] | None = None,
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
        """The median of a column: its `quantile` at the probability 0.5, the only item of `value`.

        Args:
            column: the name of a column.
            edges: the edges of the bins; or give bins.
            bins: how many bins of equal width, or a period such as "month".
            bounds: what values are clamped to, (lower, upper); default: as declared.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
            method: "histogram", "search" or "adaptive"; default: the best for the ε.
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
            >>> middle = await penguins.median("body_mass_g", bins=10, epsilon="0.5")
            >>> 2000 <= float(middle) <= 7000
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
        derived = derived_statistics.median(column, edges, bins, bounds, where, method)
        return self._send(calls.derive(self.name, derived, **options))

    def margin(
        self,
        column: str,
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
        guesses: Mapping[str, Value] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        key: str | None = None,
    ) -> Awaitable[Derived]:
        """The counts of one column's bins, added up from a two-way table.

        Args:
            column: the name of a column.
            first: the name of the first column.
            second: the name of the second column.
            edges: for each column, the edges of its bins, or None.
            bins: for each column, how many bins, or None for categories.
            bounds: for each column, what its values are clamped to, or None.
            where: only rows that meet this filter, such as {"species": "Gentoo"}.
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
            >>> by_species = await penguins.margin("species", "species", "body_mass_g", bins=(None, 2), epsilon="0.5")
            >>> by_species.labels
            ['Adelie', 'Chinstrap', 'Gentoo', 'other']
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
        derived = derived_statistics.margin(column, first, second, edges, bins, bounds, where)
        return self._send(calls.derive(self.name, derived, **options))
