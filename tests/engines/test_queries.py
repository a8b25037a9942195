"""The grammar itself: the words it uses, and that another engine answers the same."""

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from engine_world import (
    BOOLEAN,
    CATEGORY,
    INTEGER,
    INTEGER_BOUNDS,
    REAL,
    REAL_BOUNDS,
    documented_code,
    exact_bin,
    worst_rows,
)
from sql_words import TABLE, assert_common_words
from sqlglot import exp
from sqlglot.errors import UnsupportedError

from app.dp.table.bins import BooleanBins, CategoryBins, IntervalBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, Needs, PairSums
from app.engines.sql import queries
from app.engines.sql.cell_queries import cells_query
from app.engines.sql.queries import Dialect, counts_query, render, sums_query
from app.engines.sql.shared_queries import build_shared_query

BINS: list[tuple[str, IntervalBins | CategoryBins | BooleanBins]] = [
    ("real", bins_by_number(REAL, 40, None)),
    ("integer", bins_by_number(INTEGER, 7, INTEGER_BOUNDS[-6])),
    ("category", CategoryBins(CATEGORY.categories, missing=True)),
    ("boolean", BooleanBins(missing=False)),
]


def all_sums() -> list[ColumnSums | PairSums]:
    reals = [codes_for(REAL, bounds) for bounds in REAL_BOUNDS]
    integers = [codes_for(INTEGER, bounds) for bounds in INTEGER_BOUNDS]
    sums: list[ColumnSums | PairSums] = [ColumnSums("real", codes) for codes in reals]
    sums += [ColumnSums("integer", codes) for codes in integers]
    sums += [PairSums("real", x, "integer", y) for x, y in zip(reals, integers, strict=False)]
    return [*sums, PairSums("boolean", codes_for(BOOLEAN, None), "real", reals[0])]


def text_of(needs: Needs, dialect: Dialect) -> str:
    return (
        counts_query(needs, TABLE, dialect).text if isinstance(needs, BinCounts) else sums_query(needs, TABLE, dialect)
    )


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_only_words_that_every_engine_has(dialect: Dialect) -> None:
    for needs in [*all_sums(), *(BinCounts(name, bins) for name, bins in BINS)]:
        assert_common_words(text_of(needs, dialect), dialect)


def test_what_a_dialect_lacks_is_an_error() -> None:
    with pytest.raises(UnsupportedError):
        render(exp.select(exp.Pivot()), "postgres")


def test_spark_is_given_sums_that_cannot_overflow() -> None:
    assert "SUM(CAST(`q` AS DECIMAL(38, 0)))" in text_of(all_sums()[0], "spark")


def test_texts_are_kept() -> None:
    queries.sums_query.cache_clear()
    assert text_of(all_sums()[0], "duckdb") is text_of(all_sums()[0], "duckdb")


@pytest.fixture(scope="module")
def on_postgres(postgres_server: str) -> Iterator[psycopg.Cursor[Any]]:
    rows = worst_rows()
    with psycopg.connect(postgres_server) as connection, connection.cursor() as cursor:
        cursor.execute(
            "CREATE TEMPORARY TABLE worst (real double precision, integer bigint, boolean boolean, category text)"
        )
        values = zip(*(rows[name] for name in ("real", "integer", "boolean", "category")), strict=True)
        cursor.executemany("INSERT INTO worst VALUES (%s, %s, %s, %s)", list(values))
        yield cursor


def test_postgres_has_the_same_sums(on_postgres: psycopg.Cursor[Any]) -> None:
    rows = worst_rows()
    for needs in all_sums():
        on_postgres.execute(text_of(needs, "postgres").encode())
        found = list(map(int, on_postgres.fetchall()[0]))
        if isinstance(needs, ColumnSums):
            codes = [documented_code(value, needs.codes) for value in rows[needs.column]]
            assert found == [len(codes), sum(codes), sum(q * q for q in codes)]
        else:
            xs = [documented_code(value, needs.x_codes) for value in rows[needs.x]]
            ys = [documented_code(value, needs.y_codes) for value in rows[needs.y]]
            assert found == [len(xs), sum(xs), sum(ys), sum(q * r for q, r in zip(xs, ys, strict=True))]


@pytest.mark.parametrize(("name", "bins"), BINS)
def test_postgres_has_the_same_counts(on_postgres: psycopg.Cursor[Any], name: str, bins: Any) -> None:
    on_postgres.execute(text_of(BinCounts(name, bins), "postgres").encode())
    counts = [0] * bins.count
    for value in worst_rows()[name]:
        counts[exact_bin(value, bins)] += 1
    found = dict(on_postgres.fetchall())
    assert [found.get(i, 0) for i in range(bins.count)] == counts


def largest_groups(plan: Any) -> list[int]:
    """How many groups each aggregation of a plan of Postgres made."""
    found = [plan["Actual Rows"]] if plan["Node Type"] == "Aggregate" else []
    return found + [groups for child in plan.get("Plans", ()) for groups in largest_groups(child)]


@pytest.mark.parametrize(
    "needs",
    [
        BinCounts("category", CategoryBins(("a", "b"), missing=True)),
        CellSums((("category", CategoryBins(("a", "b"), missing=True)),), (), ("integer", codes_for(INTEGER, None))),
        CellSums((("category", CategoryBins(("a",), missing=True)), ("category", CategoryBins(("b",), missing=True)))),
    ],
    ids=["histogram", "sums by group", "two-way table"],
)
def test_undeclared_texts_never_become_groups(postgres_server: str, needs: BinCounts | CellSums) -> None:
    """Neither in a statement of its own nor in a shared one: else the time would tell how many of them differ."""
    table = exp.to_table("texts")
    statements = [build_shared_query((needs, BinCounts("integer", BINS[1][1])), table, "postgres")]
    if isinstance(needs, BinCounts):
        statements.append(counts_query(needs, table, "postgres").text)
    else:
        statements.append(cells_query(needs, table, "postgres"))
    with psycopg.connect(postgres_server) as connection, connection.cursor() as cursor:
        cursor.execute(
            'CREATE TEMPORARY TABLE texts AS SELECT i::bigint AS integer, (i::text COLLATE "C") AS category'
            " FROM generate_series(1, 500) AS i"
        )
        for statement in statements:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}".encode())
            ((plans,),) = cursor.fetchall()
            assert 1 <= max(largest_groups(plans[0]["Plan"])) <= 20
