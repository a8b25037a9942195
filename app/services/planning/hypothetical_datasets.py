"""Plans without a registered dataset: the columns are declared in the request or implied by the statistic."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from gmpy2 import mpq

from app.dp.errors import InvalidStatistic
from app.dp.statistics import Statistic, build
from app.dp.statistics.treatment import Treatment, list_treatments
from app.dp.table.columns import Column, Kind
from app.errors import InvalidRequestError
from app.services.planning import columns
from app.services.planning.columns import DeclaredColumns
from app.services.planning.presentation import Presentation, Texts, present

MAX_CATEGORIES = 10_001
"""The maximum number of bins of categories: 10,000 declared categories and `other`."""


@dataclass(frozen=True, slots=True)
class HypotheticalDataset:
    """The public facts of a dataset that need not exist; if `columns` is None, the statistic implies its columns."""

    n: int
    rows_per_unit: int
    columns: DeclaredColumns | None


@dataclass(frozen=True, slots=True)
class HypotheticalStatistic:
    """A statistic of a hypothetical dataset, its treatment of columns that are declared, and how it is shown."""

    statistic: Statistic
    treatments: tuple[Treatment, ...]
    presentation: Presentation


def build_statistic(asked: Mapping[str, Any], dataset: HypotheticalDataset) -> HypotheticalStatistic:
    """Return the requested statistic of a hypothetical dataset.

    Raises:
        InvalidRequestError: the statistic does not fit the columns, or bounds are missing.
    """
    texts: Texts = {}
    if dataset.columns is None:
        spec, found = _imply_columns(asked)
    else:
        declared = columns.encode_columns(dataset.columns)
        columns.check_columns(declared)
        spec, found, texts = asked, columns.decode_columns(declared), columns.decode_texts(declared)
    try:
        statistic = build(spec, found, dataset.n, dataset.rows_per_unit)
    except InvalidStatistic as error:
        what = error.what
        if dataset.columns is None and error.where.partition(".")[0] in {"where", "group_by", "weight"}:
            what = "is about a column that neither bounds nor edges define: declare all columns in `columns`"
        raise InvalidRequestError((f"statistic.{error.where}", what)) from None
    treatments = () if dataset.columns is None else list_treatments(statistic, found)
    return HypotheticalStatistic(statistic, treatments, present(statistic.describe(), found, texts))


def _imply_columns(asked: Mapping[str, Any]) -> tuple[Mapping[str, Any], Mapping[str, Column]]:
    """Return the request without `bins` of categories, and the columns that its bounds, edges and bins imply."""
    members = ("bounds", "edges", "bins")
    pair = asked.get("columns")
    if pair is None:
        name = asked.get("column")
        if name is None:  # a count needs no column of its own
            return asked, {}
        column = _imply_column(name, asked["kind"], *(asked.get(member) for member in members))
        categories = column.kind is Kind.CATEGORY
        return ({**asked, "bins": None} if categories else asked), {name: column}
    parts = [[None if (given := asked.get(member)) is None else given[i] for member in members] for i in (0, 1)]
    found = [_imply_column(name, asked["kind"], *part) for name, part in zip(pair, parts, strict=True)]
    bins = asked.get("bins")
    if bins is not None:
        bins = [None if column.kind is Kind.CATEGORY else each for column, each in zip(found, bins, strict=True)]
        asked = {**asked, "bins": None if bins == [None, None] else bins}
    return asked, {column.name: column for column in found}


def _imply_column(
    name: str,
    kind: str,
    bounds: Sequence[mpq | date] | None,
    edges: Sequence[mpq | date] | None,
    bins: int | str | None,
) -> Column:
    """Return a numeric column if there are bounds or edges, integer if they are whole, else `bins` categories.

    Bounds or edges that are dates imply a column of dates.
    """
    written = edges or bounds
    if written is None and kind == "histogram":
        if not isinstance(bins, int) or not 2 <= bins <= MAX_CATEGORIES:
            what = f"needs `bounds` or `edges`; for categories, give `bins` from 2 to {MAX_CATEGORIES:,}"
            raise InvalidRequestError(("statistic.bins", what))
        categories = tuple(str(i) for i in range(1, bins))  # the last bin is `other`
        return Column(name, Kind.CATEGORY, categories=categories, nullable=False)
    numbers = [each for each in written or () if not isinstance(each, date)]
    if written is not None and len(numbers) < len(written):
        return Column(name, Kind.DATE)
    whole = written is not None and all(number.denominator == 1 for number in numbers)
    return Column(name, Kind.INTEGER if whole else Kind.REAL)
