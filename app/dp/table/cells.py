"""What the numbers of a release stand for if they are not one column's bins: cells, rows outside a filter, steps.

Like bins, they do not depend on the data.
"""

from dataclasses import dataclass
from typing import Any, TypeAlias

from app.dp.table.bins import Bins

OUTSIDE = {"kind": "outside", "label": "outside"}


@dataclass(frozen=True, slots=True)
class Cells:
    """A cell for each combination of two columns' bins: cell i·m + j has bin i of x and bin j of the m bins of y."""

    x: Bins
    y: Bins

    @property
    def count(self) -> int:
        """The number of cells."""
        return self.x.count * self.y.count


@dataclass(frozen=True, slots=True)
class WithOutside:
    """The bins or cells of the rows that meet a filter's conditions, then `outside` for all other rows."""

    inside: "Bins | Cells"

    @property
    def count(self) -> int:
        """The number of bins or cells."""
        return self.inside.count + 1

    def describe(self) -> list[dict[str, Any]]:
        """Return the bins in order, ready for JSON; for a two-way table only `outside`, without the cells."""
        return [*([] if isinstance(self.inside, Cells) else self.inside.describe()), OUTSIDE]


@dataclass(frozen=True, slots=True)
class Steps:
    """The counts of a quantile search, in their order."""

    labels: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of steps."""
        return len(self.labels)

    def describe(self) -> list[dict[str, Any]]:
        """Return the steps in order, ready for JSON: kind and label."""
        return [{"kind": "step", "label": label} for label in self.labels]


Partition: TypeAlias = Bins | Cells | WithOutside | Steps
