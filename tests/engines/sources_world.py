"""The worst rows as every engine is given them, and what each must answer by Python's exact numbers."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import product
from typing import Any

import psycopg
from cell_cases import CASES
from cell_cases import expected as expected_cells
from engine_world import (
    BOOLEAN,
    CATEGORY,
    DECIMAL,
    DECIMAL_BOUNDS,
    INTEGER,
    INTEGER_BOUNDS,
    REAL,
    REAL_BOUNDS,
    decimal_text,
    documented_code,
    exact_bin,
    worst_rows,
)
from gmpy2 import mpq

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_edges, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.sums import (
    Answer,
    BinCounts,
    CellSums,
    ColumnSums,
    ColumnTotal,
    CrossMoments,
    Moments,
    Needs,
    PairSums,
    Total,
)

MAX_UNITS = 10**18 - 1
"""A decimal that may stay live has 18 digits."""

COLUMNS = [REAL, INTEGER, DECIMAL, BOOLEAN, CATEGORY]


@cache
def rows() -> dict[str, list[Any]]:
    """The worst rows, decimals within 18 digits."""
    worst = worst_rows()
    return {**worst, "decimal": [v and min(max(v, -MAX_UNITS), MAX_UNITS) for v in worst["decimal"]]}


def all_needs() -> Iterator[Needs]:
    """Every kind of question, within bounds of every size."""
    codes = {
        "real": [codes_for(REAL, bounds) for bounds in REAL_BOUNDS],
        "integer": [codes_for(INTEGER, bounds) for bounds in INTEGER_BOUNDS],
        "decimal": [codes_for(DECIMAL, bounds) for bounds in DECIMAL_BOUNDS],
        "boolean": [codes_for(BOOLEAN, None)],
    }
    for name, each in codes.items():
        yield from (ColumnSums(name, one) for one in each)
        yield from (ColumnTotal(name, one) for one in each)
    for (x, xs), (y, ys) in product(codes.items(), repeat=2):
        if x < y:
            yield from (PairSums(x, a, y, b) for a, b in list(product(xs, ys))[::11])
    yield from (BinCounts("real", bins_by_number(REAL, 40, b)) for b in REAL_BOUNDS if b[1] - b[0] > 2 or b[0] < 1)
    yield from (BinCounts("integer", bins_by_number(INTEGER, 7, bounds)) for bounds in INTEGER_BOUNDS)
    yield from (BinCounts("decimal", bins_by_number(DECIMAL, 9, bounds)) for bounds in DECIMAL_BOUNDS)
    yield BinCounts("real", bins_by_number(REAL, 5000, (mpq(-1), mpq(1))))
    yield BinCounts("integer", bins_by_number(INTEGER, 5000, INTEGER_BOUNDS[-1]))
    yield BinCounts("integer", bins_by_number(INTEGER, 300, (mpq(2000), mpq(2100))))
    yield BinCounts("decimal", bins_by_edges(DECIMAL, tuple(mpq(i, 7) for i in range(200))))
    yield BinCounts("boolean", BooleanBins(missing=True))
    yield BinCounts("category", CategoryBins(CATEGORY.categories, missing=True))
    yield from (needs for needs in CASES if "decimal" not in needs.columns)


@cache
def expected(needs: Needs) -> Answer:
    """The answer of the rows, by the definition."""
    of = rows()
    if isinstance(needs, CellSums):
        return expected_cells(needs)
    if isinstance(needs, BinCounts):
        counts = [0] * needs.bins.count
        for value in of[needs.column]:
            counts[exact_bin(value, needs.bins)] += 1
        return tuple(counts)
    if isinstance(needs, ColumnSums):
        codes = [documented_code(value, needs.codes) for value in of[needs.column]]
        return Moments(len(codes), sum(codes), sum(q * q for q in codes))
    if isinstance(needs, ColumnTotal):
        return Total(*expected(needs.with_squares)[:2])
    xs = [documented_code(value, needs.x_codes) for value in of[needs.x]]
    ys = [documented_code(value, needs.y_codes) for value in of[needs.y]]
    return CrossMoments(len(xs), sum(xs), sum(ys), sum(q * r for q, r in zip(xs, ys, strict=True)))


def fill_postgres(url: str, table: str, of: dict[str, list[Any]]) -> None:
    """The rows as a table of a Postgres database, in the types that fit them."""
    decimals: Sequence[str | None] = [None if v is None else decimal_text(v) for v in of["decimal"]]
    with psycopg.connect(url) as connection:
        connection.execute(
            f"CREATE TABLE {table} (real double precision, integer bigint, decimal numeric(18, 4), boolean boolean,"
            " category text, unused xml)".encode()
        )
        values = list(zip(of["real"], of["integer"], decimals, of["boolean"], of["category"], strict=True))
        with connection.cursor() as cursor:
            cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s, %s, %s, %s)".encode(), values)  # noqa: S608
