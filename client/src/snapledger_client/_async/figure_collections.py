"""Collections of figures: boards of several datasets, which everybody who may see them reads at no cost."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence

from snapledger_client import collection_calls
from snapledger_client._async.base_client import AsyncBaseClient
from snapledger_client._async.listing import AsyncListing
from snapledger_client.calls import Match
from snapledger_client.models.figures import Collection, Viewer


class AsyncCollections(AsyncBaseClient):
    """The methods of a client for collections of figures and their viewers."""

    def collections(self, search: str | None = None) -> AsyncListing[Collection]:
        """The collections of figures that the caller may see, by name, without their figures.

        Args:
            search: only those with this text in their name or title.

        Examples:
            >>> [each.name async for each in client.collections("no such")]
            []
        """
        return self._list(collection_calls.list_collections(search), "collections")

    def collection(self, name: str) -> Awaitable[Collection]:
        """A collection with those of its figures that the caller may see.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> _ = await owner.put_collection("shown", "Penguins", ["penguins/board-mass"])
            >>> (await owner.collection("shown")).figures[0]["title"]
            'Body mass'
        """
        return self._send(collection_calls.get_collection(name))

    def put_collection(
        self,
        name: str,
        title: str,
        figures: Sequence[str],
        *,
        note: str | None = None,
        public: bool = False,
        if_match: Match | None = None,
        only_new: bool = False,
    ) -> Awaitable[Collection]:
        """Make a collection of figures, or change it, for owners; the same again changes nothing.

        Args:
            name: the collection's name.
            title: what it shows.
            figures: the names of datasets and figures in order, such as penguins/body-mass.
            note: what readers should know.
            public: let everybody see it without a key, with its public figures.
            if_match: an answer of `collection` or its `etag`: change it only if nobody has since it was read.
            only_new: make it only if it does not exist; otherwise raise `AlreadyExists`.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> (await owner.put_collection("board", "Penguins", ["penguins/board-mass"])).title
            'Penguins'
        """
        return self._send(
            collection_calls.put_collection(name, title, figures, note, if_match, public=public, only_new=only_new)
        )

    def delete_collection(self, name: str, *, if_match: Match | None = None) -> Awaitable[None]:
        """Delete a collection, for its owner; its figures stay published. `if_match` is as in `put_collection`.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> _ = await owner.put_collection("for-now", "Penguins", ["penguins/board-mass"])
            >>> await owner.delete_collection("for-now", if_match=await owner.collection("for-now"))
        """
        return self._send(collection_calls.delete_collection(name, if_match))

    def collection_viewers(self, name: str) -> AsyncListing[Viewer]:
        """Who may see a collection, for its owner and auditors.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> _ = await owner.put_collection("listed", "Penguins", ["penguins/board-mass"])
            >>> [each.name async for each in owner.collection_viewers("listed")]
            []
        """
        return self._list(collection_calls.list_viewers(name), f"viewers of {name}")

    def collection_viewer(self, name: str, principal: str) -> Awaitable[Viewer]:
        """A viewer of a collection, for its owner and auditors.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> _ = await owner.put_collection("for-one", "Penguins", ["penguins/board-mass"])
            >>> await owner.grant_collection("for-one", "station")
            >>> (await owner.collection_viewer("for-one", "station")).name
            'station'
        """
        return self._send(collection_calls.get_viewer(name, principal))

    def grant_collection(self, name: str, principal: str) -> Awaitable[None]:
        """Let a principal see the figures that are in a collection and nothing else of their datasets, for its owner.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> _ = await owner.put_collection("for-ada", "Penguins", ["penguins/board-mass"])
            >>> await owner.grant_collection("for-ada", "ada")
            >>> await owner.revoke_collection("for-ada", "ada")
        """
        return self._send(collection_calls.grant_viewer(name, principal))

    def revoke_collection(self, name: str, principal: str) -> Awaitable[None]:
        """Revoke a principal's access to a collection, for its owner.

        Examples:
            >>> released = await penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
            >>> _ = await penguins.publish("board-mass", "Body mass", releases=[released.id])
            >>> _ = await owner.put_collection("not-for-ada", "Penguins", ["penguins/board-mass"])
            >>> await owner.grant_collection("not-for-ada", "ada")
            >>> await owner.revoke_collection("not-for-ada", "ada")
        """
        return self._send(collection_calls.revoke_viewer(name, principal))
