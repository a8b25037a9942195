"""What Postgres has for a table and its columns, and whether it suits what is declared."""

from typing import NamedTuple

from app.dp.table.columns import Column, Kind
from app.engines.backends.table_draft import column_of_digits, real, texts, times
from app.engines.sql import date_units
from app.engines.sql.numeric_precision import Digits, unfit

UNREADABLE_RELATIONS = {
    "temporary": "is a temporary table, which only its own session can read: use a permanent one",
    "unpopulated": "is a materialized view without data: run REFRESH MATERIALIZED VIEW",
    "filtered": (
        "has a row security policy, which could hide rows from the connection: ask the operator for a role with "
        "BYPASSRLS, or register a table without a policy"
    ),
}
COMPUTED_RELATIONS = {
    "view": "is a view",
    "foreign table": "is a foreign table",
    "foreign part": "has a part that is a foreign table",
}
_WHOLE_DIGITS = {"int2": 5, "int4": 10, "int8": 19}
_FLOATS = {"float4", "float8"}
_TEXTS = {"text", "varchar", "bpchar", "name", "char", "enum", "uuid"}
_UNITS = (  # types of a unit column, in addition to texts: equal values have equal texts, and only they do
    {*_WHOLE_DIGITS, "numeric", "oid", "bool", "bytea", "bit", "varbit", "date", "time", "timestamp", "timestamptz"}
    | {"inet", "cidr", "macaddr", "macaddr8"}
)


class CatalogueColumn(NamedTuple):
    """A column in the catalogue.

    Attributes:
        modifier: the precision and scale of a `numeric`, as Postgres packs them.
        computed: whether its values are computed by an expression or cast of somebody's own when it is read.
        relation: the kind of table that it is in: `table`, or a key of `UNREADABLE_RELATIONS` or `COMPUTED_RELATIONS`.
    """

    name: str
    type: str
    modifier: int
    computed: bool
    relation: str

    @property
    def digits(self) -> Digits | None:
        """The most digits of a whole number or a `numeric(p, s)`; None for other types."""
        if self.type in _WHOLE_DIGITS:
            return Digits(_WHOLE_DIGITS[self.type], 0, whole=True)
        if self.type != "numeric" or self.modifier < 0:
            return None
        precision, scale = (self.modifier - 4) >> 16 & 0xFFFF, ((self.modifier - 4 & 0x7FF) ^ 1024) - 1024
        return Digits(precision - scale, max(scale, 0))


def choose_column(found: CatalogueColumn) -> Column | None:
    """Return the declaration that suits a column's type best, without bounds; None if none does."""
    if found.type in _TEXTS:
        return texts(found.name)
    if found.type in _FLOATS or found.type == "numeric":
        return real(found.name) if found.digits is None else column_of_digits(found.name, found.digits)
    if found.type in _WHOLE_DIGITS:
        return Column(found.name, Kind.INTEGER)
    if found.type in {"timestamp", "timestamptz"}:
        return times(found.name, has_zone=found.type == "timestamptz")
    return {"bool": Column(found.name, Kind.BOOLEAN), "date": Column(found.name, Kind.DATE)}.get(found.type)


def unsuitable_relation(relation: str, *, live: bool) -> str | None:
    """Return why a table cannot be read, or cannot stay live; None if it can."""
    if live and relation in COMPUTED_RELATIONS:
        return (
            f"{COMPUTED_RELATIONS[relation]}, so it cannot stay live, since what is computed when it is read may fail "
            'on a value: copy it (`"live": false`), or use a table or materialized view'
        )
    return UNREADABLE_RELATIONS.get(relation)


def unsuitable_type(found: CatalogueColumn, column: Column, *, live: bool) -> str | None:
    """Return what is wrong with a column's type, or None if the type is suitable."""
    if live and found.computed:
        return (
            'is computed when it is read, so it cannot stay live: copy the table (`"live": false`), or use a stored '
            "column whose type has no cast of its own"
        )
    if column.kind is Kind.CATEGORY:
        return _unsuitable_text(found.type, is_unit=not column.categories)
    if column.kind.temporal:
        return date_units.unsuitable(found.type, column)
    if column.kind is Kind.BOOLEAN:
        return None if found.type == "bool" else "must be of a boolean type"
    return _unsuitable_number(found, column, live=live)


def _unsuitable_text(found: str, *, is_unit: bool) -> str | None:
    if not is_unit:
        return None if found in _TEXTS else "must be of a text type"
    if found in _TEXTS | _UNITS:
        return None
    return "cannot identify units: use a column of texts, whole numbers, numeric, uuid, dates or timestamps"


def _unsuitable_number(found: CatalogueColumn, column: Column, *, live: bool) -> str | None:
    if found.type not in {*_WHOLE_DIGITS, *_FLOATS, "numeric"}:
        return "must be of a numeric type"
    if not live or (column.kind is Kind.REAL and found.type in _FLOATS):
        return None  # in a snapshot every value is checked
    digits = found.digits
    return "must be of an integer type or numeric(p, s) to stay live" if digits is None else unfit(digits, column)
