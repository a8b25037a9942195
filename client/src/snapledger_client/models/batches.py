"""Batches: many releases in one transaction, and plans of them."""

from typing import Any, Self

from pydantic import Field
from pydantic_core import from_json

from snapledger_client.models.base import DisplayedAnswer, Exact
from snapledger_client.models.plans import Outlook
from snapledger_client.models.releases import (
    Accuracy,
    Axis,
    Bin,
    Charge,
    ColumnTexts,
    Mechanism,
    Privacy,
    Release,
    Treatment,
    parse_release,
)


class Batch(DisplayedAnswer):
    """The releases of a batch, in the order of its items, and what they cost together.

    Examples:
        >>> batch = penguins.batch([item(mean("body_mass_g"), epsilon="0.2"), item(histogram("species"), accuracy=30)])
        >>> [type(release).__name__ for release in batch.items]
        ['Estimate', 'Histogram']
    """

    rehearsed: bool = False
    dataset: str
    items: tuple[Release, ...]
    summary: str
    budget: Charge

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Parse the body of a batch; each item becomes an `Estimate` or a `Histogram`."""
        document = from_json(content)
        if not isinstance(document, dict) or not isinstance(document.get("items"), list):
            raise ValueError("the answer is not a batch")  # noqa: TRY004 - ValueError, as for every other body
        return cls.model_validate(document | {"items": [parse_release(each) for each in document["items"]]})

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as the service sent it, with every ε as an exact string.

        Examples:
            >>> batch = penguins.batch([item(mean("body_mass_g"), epsilon="0.2")])
            >>> batch.to_dict()["items"][0]["id"] == batch.items[0].id
            True
        """
        return super().to_dict() | {"items": [each.to_dict() for each in self.items]}


class PlannedItem(DisplayedAnswer):
    """What one item of a batch would promise, and what it would cost now.

    Examples:
        >>> penguins.plan_batch([item(mean("body_mass_g"), epsilon="0.5")], reuse=False).items[0].accuracy.radius
        87.11362895505789
    """

    statistic: dict[str, Any]
    bins: tuple[Bin, ...] | None = None
    edges: tuple[float, ...] | None = None
    axes: tuple[Axis, Axis] | None = None
    accuracy: Accuracy
    privacy: Privacy
    mechanism: Mechanism
    treatment: dict[str, Treatment] = Field(default_factory=dict)
    unit: str = ""
    columns: dict[str, ColumnTexts] = Field(default_factory=dict)
    summary: str
    charged: Exact
    reused: bool
    reused_accuracy: Accuracy | None = None


class BatchPlan(DisplayedAnswer):
    """What each item of a batch would promise, in the order of the items, and what they would cost together.

    Examples:
        >>> plan = penguins.plan_batch([item(mean("body_mass_g"), weight=1), item(count(group_by="species"), weight=3)],
        ...                            epsilon="0.4", reuse=False)
        >>> [each.privacy.epsilon for each in plan.items]
        [Decimal('0.1'), Decimal('0.3')]
    """

    dataset: str
    items: tuple[PlannedItem, ...]
    summary: str
    budget: Outlook
