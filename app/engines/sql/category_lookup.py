"""The index of a text in the list of declared categories, found by joining the rows with the list.

The join looks up each row's text once, whatever the text is. No statement groups rows by texts, so neither time nor
memory grows with the number of distinct texts that the owner did not declare.
"""

from sqlglot import exp

from app.dp.table.bins import CategoryBins
from app.engines.sql.bin_expressions import missing_bin
from app.engines.sql.expressions import Node, case, column, is_null, whole

_TEXT, _PLACE = "listed_text", "listed_place"


class CategoryLookup:
    """The category lists that one query joins its rows with; each pair of column and list is joined once.

    The query selects from a nested query whose columns have generated names, so that no name is ambiguous.
    """

    def __init__(self) -> None:
        self._names: dict[tuple[str, CategoryBins], str] = {}

    def bin_of(self, name: str, bins: CategoryBins) -> Node:
        """Return the bin of the text in the nested query's column `name`; a text that is not listed is `other`."""
        listed = self._names.setdefault((name, bins), f"list{len(self._names)}")
        place = column(_PLACE, listed)
        missing, other = whole(missing_bin(bins)), whole(len(bins.categories))
        return case([(is_null(column(name)), missing), (is_null(place), other)], place)

    def join(self, query: exp.Select) -> exp.Select:
        """Return the query with its rows joined with all lists that `bin_of` has used."""
        for (name, bins), listed in self._names.items():
            found = exp.EQ(this=column(name), expression=column(_TEXT, listed))
            query = query.join(_list(bins, listed), on=found, join_type="left", copy=False)
        return query


def _list(bins: CategoryBins, name: str) -> exp.Values:
    rows = [
        exp.Tuple(expressions=[exp.Literal.string(category), whole(place)])
        for place, category in enumerate(bins.categories)
    ]
    columns = [exp.to_identifier(each, quoted=True) for each in (_TEXT, _PLACE)]
    alias = exp.TableAlias(this=exp.to_identifier(name, quoted=True), columns=columns)
    return exp.Values(expressions=rows, alias=alias)
