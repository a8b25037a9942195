"""The reports of a dataset: batches that are released and published when a dataset succeeds this one."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import Any, Literal

from snapledger_client import report_calls
from snapledger_client._async.dataset_queries import AsyncDatasetQueries
from snapledger_client._async.listing import AsyncListing
from snapledger_client.arguments import require_released_items
from snapledger_client.calls import Match
from snapledger_client.models.reports import Report, ReportPlan, ReportRun
from snapledger_client.numbers import Number


class AsyncReports(AsyncDatasetQueries):
    """The methods of a dataset for its reports."""

    def reports(self) -> AsyncListing[Report]:
        """The reports at the dataset, by name: all for owners and auditors, otherwise the caller's own.

        Examples:
            >>> [each.report async for each in penguins.reports()]
            []
        """
        return self._list(report_calls.list_reports(self.name), f"reports of {self.name}")

    def report(self, name: str) -> Awaitable[Report]:
        """A report with its batch and figures.

        Examples:
            >>> items, figures = [item(mean("body_mass_g"), epsilon="0.2")], [report_figure("mass", "Mass")]
            >>> _ = await penguins.define_report("hourly", items, figures, epsilon_per_run="0.2", epsilon_total=2)
            >>> (await penguins.report("hourly")).figures
            ({'figure': 'mass', 'title': 'Mass'},)
            >>> await penguins.withdraw_report("hourly")
        """
        return self._send(report_calls.get_report(self.name, name))

    def define_report(
        self,
        name: str,
        items: Sequence[Mapping[str, Any]],
        figures: Sequence[Mapping[str, Any]],
        *,
        epsilon_per_run: Number,
        epsilon_total: Number,
        epsilon: Number | None = None,
        equalise: Literal["relative"] | None = None,
        alpha: Number | None = None,
        gamma: Number | None = None,
        grid_refinement: int | Literal["auto"] | None = None,
        reuse: bool = True,
        if_match: Match | None = None,
        only_new: bool = False,
    ) -> Awaitable[Report]:
        """Define or change a report: a batch for each next dataset that succeeds this one. Nothing is released now.

        Args:
            name: the report's name, such as monthly.
            items: each made by `item`; up to 100.
            figures: each made by `report_figure`.
            epsilon_per_run: the most that one run may cost.
            epsilon_total: the most that all runs may cost together.
            epsilon: what the items with a weight share; others have their own.
            equalise: "relative" shares it so that all have the same relative error.
            alpha: the probability that an error is larger; default 0.05.
            gamma: the probability that the mechanism's bound clamps; default 0.05.
            grid_refinement: how often the rounding grid is halved; default "auto".
            reuse: whether earlier releases that are accurate enough are answers.
            if_match: an answer of `report` or its `etag`: change it only if it is still as it was read.
            only_new: define it only if there is no such report; otherwise raise `AlreadyExists`.

        Examples:
            >>> items, figures = [item(mean("body_mass_g"), epsilon="0.2")], [report_figure("mass", "Mass")]
            >>> defined = await penguins.define_report("all", items, figures, epsilon_per_run="0.2", epsilon_total=2)
            >>> defined.epsilon_remaining
            Decimal('2')
            >>> await penguins.withdraw_report("all")
        """
        asked = {
            "epsilon": epsilon,
            "equalise": equalise,
            "alpha": alpha,
            "gamma": gamma,
            "grid_refinement": grid_refinement,
            "reuse": reuse,
        }
        require_released_items(items)
        return self._send(
            report_calls.define_report(
                *(self.name, name, items, asked, figures, epsilon_per_run, epsilon_total, if_match), only_new=only_new
            )
        )

    def plan_report(self, name: str) -> Awaitable[ReportPlan]:
        """What a run would cost and promise on a dataset with the public facts of this one: free.

        Examples:
            >>> items, figures = [item(mean("body_mass_g"), epsilon="0.2")], [report_figure("mass", "Mass")]
            >>> _ = await penguins.define_report("often", items, figures, epsilon_per_run="0.2", epsilon_total=2)
            >>> (await penguins.plan_report("often")).summary
            "Each run would cost ε = 0.2. The report's budget covers 10 more runs."
            >>> await penguins.withdraw_report("often")
        """
        return self._send(report_calls.plan_report(self.name, name))

    def report_runs(self, name: str, *, newest: bool = False) -> AsyncListing[ReportRun]:
        """The runs of a report on all datasets of its series, oldest first, or with `newest` the newest first.

        Examples:
            >>> items, figures = [item(mean("body_mass_g"), epsilon="0.2")], [report_figure("mass", "Mass")]
            >>> _ = await penguins.define_report("seldom", items, figures, epsilon_per_run="0.2", epsilon_total=2)
            >>> [run.state async for run in penguins.report_runs("seldom")]
            []
            >>> await penguins.withdraw_report("seldom")
        """
        return self._list(report_calls.list_report_runs(self.name, name, newest=newest), f"runs of {name}")

    def retry_report(self, name: str) -> Awaitable[ReportRun]:
        """Try the run on this dataset again, if it was refused or could not be published.

        Examples:
            >>> items, figures = [item(mean("body_mass_g"), epsilon="0.2")], [report_figure("mass", "Mass")]
            >>> _ = await penguins.define_report("never", items, figures, epsilon_per_run="0.2", epsilon_total=2)
            >>> try:
            ...     run = await penguins.retry_report("never")
            ... except NotFound:
            ...     print("it has no run on the dataset where it was defined")
            it has no run on the dataset where it was defined
            >>> await penguins.withdraw_report("never")
        """
        return self._send(report_calls.retry_report(self.name, name))

    def withdraw_report(self, name: str, *, if_match: Match | None = None) -> Awaitable[None]:
        """Withdraw a report: it has no further runs. What it has published stays. `if_match` is as in `define_report`.

        Examples:
            >>> items, figures = [item(mean("body_mass_g"), epsilon="0.2")], [report_figure("mass", "Mass")]
            >>> _ = await penguins.define_report("once", items, figures, epsilon_per_run="0.2", epsilon_total="0.2")
            >>> await penguins.withdraw_report("once", if_match=await penguins.report("once"))
        """
        return self._send(report_calls.withdraw_report(self.name, name, if_match))
