"""Answers about figures, which are published answers under a name, and about collections of them."""

from typing import Any

from snapledger_client.models.base import Answer, DisplayedAnswer, TaggedAnswer, Time


class Figure(DisplayedAnswer, TaggedAnswer):
    """A version of a figure: what it shows, and where its numbers come from.

    Only lists have its `audience`, and only a figure that is read has `rows`, one for each number. Only those who see
    the dataset are told who published it. As `if_match` of a change, a figure that was read says that the change is of
    this version alone.

    Examples:
        >>> released = penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
        >>> penguins.publish("mass", "Body mass", releases=[released.id]).title
        'Body mass'
        >>> penguins.figure("mass").rows[0]["measure"]
        'mean'
    """

    dataset: str
    figure: str
    version: int
    title: str
    note: str | None
    source: dict[str, Any]
    published_by: str | None
    published_at: Time
    audience: str | None = None
    rows: tuple[dict[str, Any], ...] | None = None


class FigureReader(Answer):
    """Who reads figures: the caller.

    Examples:
        >>> client.figure_reader().role
        'analyst'
    """

    name: str
    display_name: str | None = None
    role: str


class Collection(TaggedAnswer):
    """Figures of one or several datasets, in an order.

    Lists of collections have no `figures`. A withdrawn figure has no title, and for most readers no names. As
    `if_match` of a change, a collection that was read says that the change is of this state alone.

    Examples:
        >>> released = penguins.mean("body_mass_g", epsilon="0.5", reuse=False)
        >>> _ = penguins.publish("mass", "Body mass", releases=[released.id])
        >>> owner.put_collection("penguins-2009", "Penguins", ["penguins/mass"]).figures[0]["figure"]
        'mass'
    """

    name: str
    title: str
    note: str | None
    audience: str
    owner: str | None
    changed_at: Time
    figures: tuple[dict[str, Any], ...] | None = None


class Viewer(DisplayedAnswer):
    """A principal that may see a dataset's figures, or a collection.

    Examples:
        >>> list(owner.dataset("penguins").viewers())  # none
        []
    """

    name: str
    display_name: str | None = None
    granted_at: Time
