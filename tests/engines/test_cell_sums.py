"""Tables of cells, filters and groups over the worst values, against their definitions in Python's exact numbers."""

import math
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from cell_cases import CASES, DECIMALS, GROUPS, expected, where
from engine_world import (
    REAL,
    take_in,
    worst_rows,
)
from gmpy2 import mpq
from sql_words import TABLE, assert_common_words
from sqlglot import exp, parse_one

from app.dp.table.bins import bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.filters import parse_conditions
from app.dp.table.sums import CellSums
from app.engines.sql.cell_queries import cells_answer, cells_query
from app.engines.sql.queries import Dialect
from app.engines.storage.tables import Tables


@pytest.mark.parametrize("needs", [*CASES, *DECIMALS])
def test_cells_of_the_worst_rows(shared_tables: Tables, worst: str, needs: CellSums) -> None:
    assert shared_tables.sums(worst, needs) == expected(needs)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_only_words_that_every_engine_has(dialect: Dialect) -> None:
    for needs in [*CASES, *DECIMALS][::7]:
        assert_common_words(cells_query(needs, TABLE, dialect), dialect, also=frozenset({"In"}))


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


@pytest.mark.slow
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
