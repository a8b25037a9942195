"""Tables of cells, filters and groups over the worst values, against their definitions in Python's exact numbers."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from engine_world import (
    BOOLEAN,
    CATEGORY,
    COLUMNS,
    DECIMAL,
    DECIMAL_BOUNDS,
    INT64_LEAST,
    INT64_MOST,
    INTEGER,
    INTEGER_BOUNDS,
    REAL,
    REAL_BOUNDS,
    documented_code,
    exact_bin,
    take_in,
    worst_rows,
)
from gmpy2 import mpq
from sqlglot import exp, parse_one
from test_queries import TABLE, WORDS

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Condition, OneOf, parse_conditions
from app.dp.table.sums import CellSums
from app.engines.sql.cell_queries import cells_answer, cells_query
from app.engines.sql.queries import Dialect
from app.engines.storage.tables import Tables

BY_NAME = {column.name: column for column in COLUMNS}
GROUPS = ("category", CategoryBins(CATEGORY.categories, missing=True))
BOOLEANS = ("boolean", BooleanBins(missing=True))


def where(**conditions: Any) -> tuple[Condition, ...]:
    return parse_conditions(conditions, BY_NAME)


REALS = [mpq(0), mpq(1), mpq(2) ** 53, mpq(2) ** 53 + 2, mpq("0.1"), mpq(30), mpq(65), mpq("5e-324")]
WHERES: list[tuple[Condition, ...]] = [
    where(category={"one_of": ["Adelie"]}),
    where(category={"one_of": list(CATEGORY.categories)}),
    where(category={"one_of": ["o'k", '"', "", "х", "a\nb", "NULL"]}),
    where(boolean={"one_of": [True]}),
    where(boolean={"one_of": [False]}),
    where(boolean={"one_of": [False, True]}),
    where(real={"one_of": REALS}),
    where(real={"between": (mpq(0), mpq(0))}),
    where(real={"between": (-(mpq(10) ** 100), mpq(10) ** 100)}),
    where(integer={"one_of": [mpq(2) ** 53 + 1, mpq(INT64_LEAST), mpq(INT64_MOST), mpq(0)]}),
    where(integer={"one_of": [mpq(i) for i in range(-500, 500)]}),
    where(decimal={"one_of": [mpq("0.5"), mpq("12.7499"), mpq(-922337203685477), mpq("922337203685477.5807")]}),
    *(where(real={"between": bounds}) for bounds in REAL_BOUNDS),
    *(where(integer={"between": bounds}) for bounds in INTEGER_BOUNDS[:3] + INTEGER_BOUNDS[4:-3]),
    *(where(decimal={"between": bounds}) for bounds in DECIMAL_BOUNDS[:4]),
    where(
        category={"one_of": ["Adelie", "o'k"]},
        boolean={"one_of": [True]},
        integer={"between": (mpq(INT64_LEAST), mpq(7000))},
        real={"between": (mpq(-1), mpq(10) ** 30)},
    ),
]
CASES: list[CellSums] = [
    *(CellSums((), conditions) for conditions in WHERES),
    *(CellSums((GROUPS,), conditions, ("real", codes_for(REAL, None))) for conditions in WHERES),
    *(CellSums((), WHERES[i % 3], ("real", codes_for(REAL, bounds))) for i, bounds in enumerate(REAL_BOUNDS)),
    *(CellSums((GROUPS,), (), ("integer", codes_for(INTEGER, bounds))) for bounds in INTEGER_BOUNDS),
    CellSums((), (), ("boolean", codes_for(BOOLEAN, None))),
    CellSums((GROUPS, BOOLEANS)),
    CellSums((BOOLEANS, ("real", bins_by_number(REAL, 5, None))), WHERES[0]),
    CellSums((("integer", bins_by_number(INTEGER, 7, INTEGER_BOUNDS[-6])), ("real", bins_by_number(REAL, 9, None)))),
]
DECIMALS: list[CellSums] = [
    CellSums((("decimal", bins_by_number(DECIMAL, 300, None)), GROUPS), WHERES[3]),
    *(CellSums((BOOLEANS,), WHERES[0], ("decimal", codes_for(DECIMAL, bounds))) for bounds in DECIMAL_BOUNDS),
]


def holds(condition: Condition, value: Any) -> bool:
    """Whether a stored value meets a condition, by the definition."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return False
    if isinstance(condition, OneOf):
        return value in condition.values
    return condition.least <= value <= condition.most


def expected(needs: CellSums) -> tuple[int, ...]:
    rows = worst_rows()
    counts, totals = Counter[int](), Counter[int]()
    for i in range(len(rows["real"])):
        cell = needs.count
        if all(holds(each, rows[each.column][i]) for each in needs.conditions):
            cell = 0
            for name, bins in needs.axes:
                cell = cell * bins.count + exact_bin(rows[name][i], bins)
        counts[cell] += 1
        if needs.summed is not None:
            totals[cell] += documented_code(rows[needs.summed[0]][i], needs.summed[1])
    found = [counts[cell] for cell in range(needs.count + 1)]
    return (*found, *(totals[cell] for cell in range(needs.count) if needs.summed))


@pytest.mark.parametrize("needs", [*CASES, *DECIMALS])
def test_cells_of_the_worst_rows(shared_tables: Tables, worst: str, needs: CellSums) -> None:
    assert shared_tables.sums(worst, needs) == expected(needs)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_only_words_that_every_engine_has(dialect: Dialect) -> None:
    for needs in [*CASES, *DECIMALS]:
        text = cells_query(needs, TABLE, dialect)
        words = {type(node).__name__ for node in parse_one(text, dialect=dialect).walk()}
        if dialect == "spark":  # whose CAST sqlglot reads as one that tries
            words.discard("TryCast")
        assert words <= WORDS | {"In"}
        assert "TRY_CAST" not in text


def test_spark_is_given_sums_that_cannot_overflow() -> None:
    text = cells_query(CellSums((GROUPS,), (), ("real", codes_for(REAL, None))), TABLE, "spark")
    assert "SUM(CAST(`q` AS DECIMAL(38, 0)))" in text


def test_spark_is_given_both_zeros() -> None:
    assert "CAST('-0.0' AS DOUBLE)" in cells_query(CellSums((), where(real={"one_of": [mpq(0)]})), TABLE, "spark")


@pytest.fixture(scope="module")
def on_postgres(postgres_server: str) -> Iterator[psycopg.Cursor[Any]]:
    rows = worst_rows()
    with psycopg.connect(postgres_server) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE worst (real double precision, integer bigint, decimal bigint, boolean boolean,"
            ' category text COLLATE "C")'
        )
        values = zip(*(rows[name] for name in ("real", "integer", "decimal", "boolean", "category")), strict=True)
        cursor.executemany("INSERT INTO worst VALUES (%s, %s, %s, %s, %s)", list(values))
        yield cursor


def test_postgres_has_the_same_cells(on_postgres: psycopg.Cursor[Any]) -> None:
    for needs in [*CASES, *DECIMALS]:
        on_postgres.execute(cells_query(needs, TABLE, "postgres").encode())
        assert cells_answer(needs, on_postgres.fetchall()) == expected(needs)


def test_two_columns_of_many_intervals(tables: Tables) -> None:
    values = [float(i % 1000) for i in range(2000)] + [math.nan, math.inf, -math.inf]
    file_id = take_in(tables, REAL, values)
    bins = bins_by_number(REAL, 1000, (mpq(0), mpq(1000)))
    answer = tables.sums(file_id, CellSums((("real", bins), ("real", bins))))
    assert len(answer) == 1001 * 1001 + 1
    diagonal = [answer[i * 1001 + i] for i in range(1001)]
    assert diagonal == [3, *[2] * 998, 3, 1]
    assert sum(answer) == len(values)


def test_zeros_of_both_signs_meet_the_same_conditions(tables: Tables) -> None:
    file_id = take_in(tables, REAL, [0.0, -0.0, math.nan, None, 5e-324])
    for conditions in (where(real={"one_of": [mpq(0)]}), where(real={"between": (mpq(0), mpq(0))})):
        assert tables.sums(file_id, CellSums((), conditions)) == (2, 3)


def test_a_column_named_like_the_query_s_own(tables: Tables) -> None:
    for name in ("inside", "a0", "q", "cell", "listed_text", "listed_place"):
        column = Column(name, Kind.INTEGER, (mpq(0), mpq(10)))
        file_id = take_in(tables, column, [1, 2, 3, None])
        conditions = parse_conditions({name: {"between": (mpq(2), mpq(9))}}, {name: column})
        needs = CellSums(((name, bins_by_number(column, 2, None)),), conditions, (name, codes_for(column, None)))
        assert tables.sums(file_id, needs) == (2, 0, 0, 2, 5, 0, 0)
        parsed = parse_one(cells_query(needs, exp.to_table("t"), "spark"), dialect="spark")
        assert parsed.find(exp.Table)
