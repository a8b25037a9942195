"""The JSON of a histogram's bins, of groups and of a table's cells: the members `bins`, `edges` and `axes`."""

from collections.abc import Mapping
from typing import Final

from app.dp.mechanism.mechanism import Mechanism
from app.dp.table.bins import Bins, IntervalBins
from app.dp.table.cells import Cells, Steps, WithOutside
from app.json_text import encode_json, join_array, join_object, number_texts

MAX_LISTED_INTERVALS: Final = 1_000


def encode_bins(mechanism: Mechanism) -> Mapping[str, bytes]:
    """Return the members that describe the components, as JSON; nothing for a single number.

    More than `MAX_LISTED_INTERVALS` intervals are described by their edges alone. A two-way table has its columns'
    bins in `axes`, and in `bins` only what is not a cell.
    """
    described = mechanism.statistic.bins
    if described is None:
        return {}
    inside = described.inside if isinstance(described, WithOutside) else described
    if isinstance(inside, Cells):
        axes = (join_object(_encode_bins_of(axis)) for axis in (inside.x, inside.y))
        listed = described.describe() if isinstance(described, WithOutside) else None
        return {"bins": encode_json(listed), "axes": b"[%b]" % b",".join(axes)}
    return _encode_bins_of(described if isinstance(described, WithOutside) else inside)


def _encode_bins_of(described: Bins | WithOutside | Steps) -> Mapping[str, bytes]:
    inside = described.inside if isinstance(described, WithOutside) else described
    if isinstance(inside, IntervalBins) and inside.edges.intervals > MAX_LISTED_INTERVALS:
        if inside.kind.temporal:
            return {"bins": encode_json(None), "edges": encode_json(inside.edge_values())}
        return {"bins": encode_json(None), "edges": join_array(number_texts(inside.edges.doubles()))}
    return {"bins": encode_json(described.describe())}
