"""Values that break engines, and their codes and bins by the definition, in Python's exact numbers."""

import io
import math
from bisect import bisect_right
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from gmpy2 import mpq

from app.dp.table.bins import BooleanBins, CategoryBins, IntervalBins
from app.dp.table.codes import Codes
from app.dp.table.columns import Column, Kind
from app.engines.storage.table_intake import Ingested
from app.engines.storage.tables import Tables

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1
SCALE = 4

REAL = Column("real", Kind.REAL, (mpq(30), mpq(65)))
INTEGER = Column("integer", Kind.INTEGER, (mpq(2000), mpq(7000)))
DECIMAL = Column("decimal", Kind.DECIMAL, (mpq("0.5"), mpq("12.75")), scale=SCALE)
BOOLEAN = Column("boolean", Kind.BOOLEAN)
CATEGORY = Column(
    "category", Kind.CATEGORY, categories=("Adelie", "", "o'k", '"', " x", "x ", "х", "🐧", "NULL", "a\nb")
)
COLUMNS = [REAL, INTEGER, DECIMAL, BOOLEAN, CATEGORY]

REAL_BOUNDS = [
    (mpq(30), mpq(65)),
    (mpq(-1), mpq(1)),
    (mpq("0.1"), mpq("0.3")),
    (mpq(1), mpq(1) + mpq(2) ** -52),
    (mpq(10) ** 100 * -1, mpq(10) ** 100),
    (mpq(-7, 3), mpq(10) ** -50),
    (mpq(2) ** 53, mpq(2) ** 53 + 2),
    (mpq(0), mpq(10) ** -99),
    (mpq(0), mpq(10) ** 12),
]
INTEGER_BOUNDS = [
    (mpq(2000), mpq(7000)),
    (mpq(-3), mpq(2)),
    (mpq("2.5"), mpq("9.25")),
    (mpq("0.1"), mpq("0.2")),
    (mpq(0), mpq(2) ** 31),
    (mpq(0), mpq(2) ** 31 + 1),
    (mpq(2) ** 62, mpq(2) ** 62 + mpq(2) ** 33),
    (mpq(2) ** 53, mpq(2) ** 53 + 4),
    (mpq(INT64_MIN), mpq(INT64_MIN + 1)),
    (mpq(INT64_MIN) - 5, mpq(INT64_MIN) + 5),
    (mpq(INT64_MAX) - 5, mpq(INT64_MAX) + 5),
    (mpq(INT64_MIN), mpq(INT64_MAX)),
    (mpq(INT64_MIN) - mpq(1, 2), mpq(INT64_MAX) + 2),
    (mpq(-(10**100)), mpq(10**100)),
    (mpq(10**50), mpq(10**50) + 5),
    (mpq(-(10**50)) - 5, mpq(-(10**50))),
    (mpq(-1, 3), mpq(2) ** 40),
]
DECIMAL_BOUNDS = [
    (mpq("0.5"), mpq("12.75")),
    (mpq("0.00005"), mpq("1.00005")),
    (mpq(1, 3), mpq(2, 3)),
    (mpq(-922337203685477), mpq(922337203685477)),
    (mpq(10) ** -30 * -1, mpq(10) ** -30),
]


def _around(values: Sequence[float]) -> list[float]:
    return [near for v in values for near in (math.nextafter(v, -math.inf), v, math.nextafter(v, math.inf))]


def worst_reals() -> list[float | None]:
    """Every sort of double, and those around the bounds and around some code edges of every pair of bounds."""
    values = _around([0.0, 5e-324, 2.2250738585072014e-308, 1e-100, 0.5, 1e12, 2.0**53, 1e100, 1e308, 2.0**63, math.pi])
    values += [-v for v in values] + [math.inf, -math.inf, math.nan, 1.7976931348623157e308, -0.0]
    for lower, upper in REAL_BOUNDS:
        a, b = Fraction(float(lower)), Fraction(float(upper))
        edges = [a + (b - a) * (2 * k + 1) / 2**32 for k in (0, 1, 2**30, 2**31 - 1)]
        tenths = [a + (b - a) * i / 10 for i in range(11)]
        values += _around([float(edge) for edge in edges + tenths])
    return [*values, None]


def worst_integers() -> list[int | None]:
    """Whole numbers at the ends of 64 bits, around 2⁵³, and around all bounds and some edges of bins."""
    anchors = {0, 3, 2**31, 2**53, 2**53 + 1, 2**62, 2**62 + 2**32, INT64_MIN, INT64_MAX}
    for lower, upper in INTEGER_BOUNDS:
        anchors |= {math.floor(lower + (upper - lower) * i / 8) for i in range(9)}
    near = {anchor + offset for anchor in anchors for offset in (-2, -1, 0, 1, 2)}
    return [*sorted(int(n) for n in near if INT64_MIN <= n <= INT64_MAX), None]


def worst_decimals() -> list[int | None]:
    """Whole numbers of units of 10⁻⁴, around all bounds."""
    anchors = {0, INT64_MIN, INT64_MAX, 2**53}
    for lower, upper in DECIMAL_BOUNDS:
        anchors |= {math.floor((lower + (upper - lower) * i / 8) * 10**SCALE) for i in range(9)}
    near = {anchor + offset for anchor in anchors for offset in (-1, 0, 1)}
    return [*sorted(int(n) for n in near if INT64_MIN <= n <= INT64_MAX), None]


@cache
def worst_rows() -> dict[str, list[Any]]:
    """The stored values of `COLUMNS`, shorter columns repeated."""
    columns: dict[str, list[Any]] = {
        "real": worst_reals(),
        "integer": worst_integers(),
        "decimal": worst_decimals(),
        "boolean": [True, False, None, True],
        "category": [*CATEGORY.categories, None, "adelie", "Adelie ", " ", "\u0445x", "o''k", "é", "e\u0301"],
    }
    n = max(map(len, columns.values()))
    return {name: [values[i % len(values)] for i in range(n)] for name, values in columns.items()}


def decimal_text(units: int) -> str:
    """Units of 10⁻⁴ as they would be written."""
    sign, size = "-" if units < 0 else "", abs(units)
    return f"{sign}{size // 10**SCALE}.{size % 10**SCALE:0{SCALE}d}"


def as_csv(rows: dict[str, list[Any]]) -> bytes:
    """The worst rows as a CSV file in which `NA` is the missing value; NaN is written out."""

    def cell(name: str, value: object) -> str:
        if value is None:
            return "NA"
        if name == "decimal":
            return decimal_text(int(str(value)))
        return '"' + str(value).replace('"', '""') + '"' if isinstance(value, str) else str(value)

    lines = [",".join(cell(name, values[i]) for name, values in rows.items()) for i in range(len(rows["real"]))]
    return "\r\n".join([",".join(rows), *lines, ""]).encode()


def as_parquet(table: pa.Table, **options: Any) -> io.BytesIO:
    """The table as a Parquet file."""
    file = io.BytesIO()
    pq.write_table(table, file, **options)
    file.seek(0)
    return file


def take_in(tables: Tables, column: Column, values: Sequence[Any]) -> str:
    """Store one column of stored values; its file id."""
    kinds = {Kind.REAL: pa.float64(), Kind.BOOLEAN: pa.bool_(), Kind.CATEGORY: pa.string()}
    stored = Column(column.name, Kind.INTEGER) if column.kind is Kind.DECIMAL else column
    array = pa.array(values, kinds.get(column.kind, pa.int64()))
    ingested: Ingested = tables.intake.ingest(as_parquet(pa.table({column.name: array})), [stored], [])
    tables.mark_registered(ingested.file_id)
    assert ingested.n == len(values)
    return ingested.file_id


def exact_value(value: Any, kind: Kind, scale: int) -> mpq | None:
    """A stored value in its column's units, infinities aside; None if it is missing."""
    if value is None or (kind is Kind.REAL and math.isnan(value)):
        return None
    if kind is Kind.REAL:
        return mpq(10) ** 400 * int(math.copysign(1, value)) if math.isinf(value) else mpq(value)
    return mpq(int(value), 10**scale)


def documented_code(value: Any, codes: Codes) -> int:
    """The code that engines compute: as in docs/engines, in Python's doubles where engines use doubles."""
    exact = exact_value(value, codes.kind, codes.scale)
    if exact is None or codes.exact:
        return codes.code(exact)
    if exact <= codes.lower or exact >= codes.upper:
        return 0 if exact <= codes.lower else codes.steps
    if codes.kind is Kind.REAL:
        a, b = float(codes.lower), float(codes.upper)
        if value - a < (b - a) / 2**33:
            return 0
        return min(codes.steps, math.floor((value - a) * (codes.steps / (b - a)) + 0.5))
    unit = 10**codes.scale
    lower = Fraction(int((codes.lower * unit).numerator), int((codes.lower * unit).denominator))
    upper = Fraction(int((codes.upper * unit).numerator), int((codes.upper * unit).denominator))
    first = max(math.ceil(lower), INT64_MIN)
    scale = codes.steps / (upper - lower)
    return min(codes.steps, math.floor(float(value - first) * float(scale) + float((first - lower) * scale) + 0.5))


@lru_cache(maxsize=8)
def exact_edges(bins: IntervalBins) -> tuple[mpq, ...]:
    """The edges as exact rationals."""
    return bins.edges.to_stored(bins.kind)


def exact_bin(value: Any, bins: IntervalBins | CategoryBins | BooleanBins) -> int:
    """The bin of a stored value by the definition: clamp to the edges, then [edge, next edge)."""
    kind = bins.kind if isinstance(bins, IntervalBins) else Kind.BOOLEAN
    if value is None or (kind is Kind.REAL and math.isnan(value)):
        return bins.count - 1 if bins.missing or isinstance(bins, CategoryBins) else 0
    if isinstance(bins, CategoryBins):
        return bins.categories.index(value) if value in bins.categories else len(bins.categories)
    if isinstance(bins, BooleanBins):
        return int(value)
    edges = exact_edges(bins)
    exact = min(max(exact_value(value, kind, bins.scale), edges[0]), edges[-1])
    return min(bisect_right(edges, exact) - 1, bins.edges.intervals - 1)
