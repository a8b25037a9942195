"""The figures of a dataset: published answers, which everybody who may see them reads at no cost."""

from __future__ import annotations

from collections.abc import Awaitable

from snapledger_client import figure_calls
from snapledger_client._async.dataset_queries import AsyncDatasetQueries
from snapledger_client._async.listing import AsyncListing
from snapledger_client.calls import Match
from snapledger_client.derived_statistics import DerivedStatistic
from snapledger_client.figure_calls import Releases
from snapledger_client.models.figures import Figure, Viewer
from snapledger_client.numbers import Number
from snapledger_client.statistics import Statistic


class AsyncFigures(AsyncDatasetQueries):
    """The methods of a dataset for its figures and their viewers."""

    def figures(self, search: str | None = None) -> AsyncListing[Figure]:
        """The dataset's figures that the caller may see, by name.

        Args:
            search: only those with this text in their name or title.

        Examples:
            >>> [each.figure async for each in penguins.figures("no such")]
            []
        """
        return self._list(figure_calls.list_figures(self.name, search), f"figures of {self.name}")

    def figure(self, name: str, version: int | None = None) -> Awaitable[Figure]:
        """A figure with its rows.

        Args:
            name: the figure's name.
            version: the number of an earlier version.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("mass-of-all", "Body mass", releases=[released.id])
            >>> (await penguins.figure("mass-of-all", 1)).rows[0]["label"]
            'mean'
        """
        return self._send(figure_calls.get_figure(self.name, name, version))

    def figure_versions(self, name: str) -> AsyncListing[Figure]:
        """The versions of a figure, oldest first, without their rows.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("mass-again", "Body mass", releases=[released.id])
            >>> [each.version async for each in penguins.figure_versions("mass-again")][:1]
            [1]
        """
        return self._list(figure_calls.list_figure_versions(self.name, name), f"versions of {name}")

    def publish(
        self,
        name: str,
        title: str,
        *,
        releases: Releases = (),
        statistic: Statistic | None = None,
        derived: DerivedStatistic | None = None,
        epsilon: Number | None = None,
        alpha: Number | None = None,
        note: str | None = None,
        public: bool = False,
        if_match: Match | None = None,
        only_new: bool = False,
    ) -> Awaitable[Figure]:
        """Publish an answer as a figure, or as a new version of one; it costs nothing.

        Args:
            name: the figure's name, such as body-mass.
            title: what it shows.
            releases: a release, a batch, or a list of releases or their ids; or give derived.
            statistic: beside one release, what you asked for, if one of another statistic answered it.
            derived: a derived statistic that follows from releases that exist.
            epsilon: that of the derived statistic.
            alpha: that of the derived statistic; default 0.05.
            note: what readers should know.
            public: let everybody read it who reaches the service, without a key; for owners.
            if_match: an answer of `figure` or its `etag`: publish only if that is still the latest version.
            only_new: publish only if there is no such figure; otherwise raise `AlreadyExists`.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> (await penguins.publish("mass-for-all", "Body mass", releases=released)).title
            'Body mass'
            >>> total = await penguins.sum("body_mass_g", epsilon="0.5", reuse=False)
            >>> asked = {"releases": [total.id], "statistic": mean("body_mass_g")}
            >>> (await penguins.publish("mass-as-mean", "Mean body mass", **asked)).source["statistic"]["kind"]
            'mean'
        """
        options = {name: each for name, each in {"epsilon": epsilon, "alpha": alpha}.items() if each is not None}
        return self._send(
            figure_calls.publish_figure(
                *(self.name, name, title, note, releases, statistic, derived, options, if_match),
                public=public,
                only_new=only_new,
            )
        )

    def withdraw(self, name: str, *, if_match: Match | None = None) -> Awaitable[None]:
        """Withdraw a figure in all its versions. `if_match` is as in `publish`.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("mass-for-now", "Body mass", releases=[released.id])
            >>> await penguins.withdraw("mass-for-now", if_match=await penguins.figure("mass-for-now"))
        """
        return self._send(figure_calls.withdraw_figure(self.name, name, if_match))

    def viewers(self) -> AsyncListing[Viewer]:
        """Who may see the dataset's figures besides those who see the dataset, for owners and auditors.

        Examples:
            >>> [each.name async for each in owner.dataset("penguins").viewers()]
            []
        """
        return self._list(figure_calls.list_viewers(self.name), f"viewers of {self.name}")

    def viewer(self, principal: str) -> Awaitable[Viewer]:
        """A viewer of the dataset's figures, for owners and auditors.

        Examples:
            >>> await owner.dataset("penguins").grant_viewer("station")
            >>> (await owner.dataset("penguins").viewer("station")).name
            'station'
            >>> await owner.dataset("penguins").revoke_viewer("station")
        """
        return self._send(figure_calls.get_viewer(self.name, principal))

    def grant_viewer(self, principal: str) -> Awaitable[None]:
        """Let a principal see the dataset's figures and nothing else of it, for owners.

        Examples:
            >>> await owner.dataset("penguins").grant_viewer("ada")
            >>> await owner.dataset("penguins").revoke_viewer("ada")
        """
        return self._send(figure_calls.grant_viewer(self.name, principal))

    def revoke_viewer(self, principal: str) -> Awaitable[None]:
        """Revoke a principal's access to the dataset's figures, for owners.

        Examples:
            >>> await owner.dataset("penguins").grant_viewer("ada")
            >>> await owner.dataset("penguins").revoke_viewer("ada")
        """
        return self._send(figure_calls.revoke_viewer(self.name, principal))
