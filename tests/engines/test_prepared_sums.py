"""What is kept of each column: the same integers as those of a scan, whatever the values, and never decided by one."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from io import BytesIO
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cell_cases import CASES as CELL_CASES
from code_cases import CASES, WORST, allowed, bounds_of_reals, whole_or_not
from engine_world import (
    BOOLEAN,
    CATEGORY,
    COLUMNS,
    INT64_MAX,
    INT64_MIN,
    INTEGER,
    REAL,
    as_csv,
    as_parquet,
    documented_code,
    exact_bin,
    take_in,
    worst_rows,
)
from gmpy2 import mpq
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sources_world import all_needs

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_edges, bins_by_number
from app.dp.table.codes import Codes, codes_for
from app.dp.table.columns import Column, Kind
from app.dp.table.conditions import Between, Condition, Missing, NoneOf, NotBetween, OneOf, is_missing
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, ColumnTotal, Moments, Needs, PairSums, Total
from app.engines import prepared_sums
from app.engines.prepared_sums import PreparedTable, prepared_file
from app.engines.storage.prepared_answers import find_prepared_answer
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_code_name, encode_name
from app.engines.stored_file.code_arrays import sum_squares, to_codes, to_numbers

quick = settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
AGE = Column("age", Kind.INTEGER, (mpq(18), mpq(90)))


def prepared(tables: Tables, file_id: str) -> PreparedTable:
    found = tables._prepared.find(tables._path(file_id))
    assert found is not None
    return found


def forbid_scans(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables._engine, "compute", None)


def codes_in_arrays(values: Sequence[Any], codes: Codes) -> list[int]:
    kind = {Kind.REAL: pa.float64(), Kind.BOOLEAN: pa.bool_()}.get(codes.kind, pa.int64())
    return to_codes(*to_numbers(pa.array(values, kind)), codes).tolist()


@pytest.mark.parametrize(("declared", "bounds"), CASES, ids=lambda case: getattr(case, "name", None))
def test_codes_of_the_worst_values(declared: Column, bounds: Any) -> None:
    codes, values = codes_for(declared, bounds), WORST.get(declared.name, [True, False, None])
    assert codes_in_arrays(values, codes) == [documented_code(value, codes) for value in values]


@quick
@given(bounds_of_reals, st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=30), st.data())
def test_codes_of_any_reals(bounds: tuple[mpq, mpq], values: list[Any], data: st.DataObject) -> None:
    codes = allowed(REAL, bounds)
    values += data.draw(st.lists(st.floats(float(codes.lower), float(codes.upper)), max_size=30))
    assert codes_in_arrays(values, codes) == [documented_code(value, codes) for value in values]


@quick
@given(st.tuples(whole_or_not, whole_or_not), st.lists(st.integers(INT64_MIN, INT64_MAX), min_size=1, max_size=30))
def test_codes_of_any_whole_numbers(bounds: tuple[mpq, mpq], values: list[Any]) -> None:
    codes = allowed(INTEGER, bounds)
    ends = [int(min(max(bound, INT64_MIN), INT64_MAX)) for bound in bounds]
    near = [end + i for end in ends for i in (-1, 0, 1) if INT64_MIN <= end + i <= INT64_MAX]
    values = [None, *near, *values]
    assert codes_in_arrays(values, codes) == [documented_code(value, codes) for value in values]


@pytest.mark.parametrize("steps", [1, 2**22 - 1, 2**22, 2**31])
def test_squares_of_a_row_group_of_the_largest_codes_are_exact(steps: int) -> None:
    rows = 2**18 - 1
    assert sum_squares(np.full(rows, steps, np.uint32), steps) == rows * steps * steps


@pytest.mark.slow
def test_what_is_kept_and_what_is_stored_gives_what_a_scan_gives(shared_tables: Tables, worst: str) -> None:
    path, table = shared_tables._path(worst), prepared(shared_tables, worst)
    assert table.has_codes
    answered = 0
    for each in [*all_needs(), *CELL_CASES][::2]:
        (scanned,) = shared_tables._engine.compute(path, [each])  # from the values alone
        assert shared_tables._engine.compute(path, [each], table) == [scanned]
        found = find_prepared_answer(table, each)
        answered += found is not None
        assert found in {None, scanned}
        assert found is None or all(type(number) is int for number in found)
    assert answered > 10


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.name)
def test_a_first_question_at_the_declared_bounds_costs_no_scan(
    shared_tables: Tables, worst: str, column: Column, monkeypatch: pytest.MonkeyPatch
) -> None:
    forbid_scans(shared_tables, monkeypatch)
    values = worst_rows()[column.name]
    if column.kind is not Kind.CATEGORY:
        codes = codes_for(column, None)
        expected = [documented_code(value, codes) for value in values]
        answer = shared_tables.sums(worst, ColumnSums(column.name, codes))
        assert answer == Moments(len(expected), sum(expected), sum(q * q for q in expected))
        answer = shared_tables.sums(worst, ColumnTotal(column.name, codes))
        assert answer == Total(len(expected), sum(expected))
    bins = {Kind.CATEGORY: CategoryBins(CATEGORY.categories, missing=True), Kind.BOOLEAN: BooleanBins(missing=True)}
    if column.kind is Kind.INTEGER:
        bins[column.kind] = bins_by_number(column, 7, None)
    if (partition := bins.get(column.kind)) is not None:
        counts = [0] * partition.count
        for value in values:
            counts[exact_bin(value, partition)] += 1
        assert shared_tables.sums(worst, BinCounts(column.name, partition)) == tuple(counts)
    missing = sum(is_missing(value) for value in values)
    needs = CellSums((), (Missing(column.name, column.kind),))
    assert shared_tables.are_known(worst, needs)
    assert shared_tables.sums(worst, needs) == (missing, len(values) - missing)


def ages(data: st.DataObject) -> list[Any]:
    some = st.one_of(st.none(), st.integers(10, 100), st.sampled_from([INT64_MIN, INT64_MAX, 17, 18, 90, 91]))
    return data.draw(st.lists(some, min_size=2, max_size=40))


ENDS = st.one_of(st.integers(10, 100), st.sampled_from([INT64_MIN, INT64_MAX, 17, 18, 19, 89, 90, 91]))
RANGES = st.tuples(ENDS, ENDS).map(sorted)
LISTS = st.lists(ENDS, min_size=1, max_size=5, unique=True).map(lambda values: tuple(sorted(values)))
CONDITIONS: st.SearchStrategy[Condition] = st.one_of(
    RANGES.map(lambda ends: Between("age", Kind.INTEGER, 0, *ends)),
    RANGES.map(lambda ends: NotBetween("age", Kind.INTEGER, 0, *ends)),
    LISTS.map(lambda values: OneOf("age", Kind.INTEGER, 0, values)),
    LISTS.map(lambda values: NoneOf("age", Kind.INTEGER, 0, values)),
    st.just(Missing("age", Kind.INTEGER)),
)


@pytest.mark.slow
@quick
@given(st.data(), st.lists(CONDITIONS, max_size=2), st.lists(st.integers(5, 110), min_size=3, max_size=6, unique=True))
def test_any_question_about_one_column_of_few_values(
    shared_tables: Tables, data: st.DataObject, conditions: list[Condition], edges: list[int]
) -> None:
    """All that is answered from counts is what the engine counts; what is not is left to the engine."""
    values = ages(data)
    file_id = take_in(shared_tables, AGE, values)
    path, table = shared_tables._path(file_id), prepared(shared_tables, file_id)
    within = tuple(sorted(data.draw(st.tuples(st.integers(0, 60), st.integers(61, 120)))))
    codes = codes_for(AGE, (mpq(within[0]), mpq(within[1]) + mpq(data.draw(st.integers(0, 1)), 2)))
    bins = bins_by_edges(AGE, tuple(mpq(edge) for edge in sorted(edges)))
    asked: list[Needs] = [
        ColumnSums("age", codes),
        BinCounts("age", bins),
        CellSums((("age", bins),), tuple(conditions)),
        CellSums((("age", bins),), tuple(conditions), ("age", codes), ("age", codes_for(AGE, None))),
    ]
    if conditions:
        asked.append(CellSums((), tuple(conditions)))
    for each in asked:
        (scanned,) = shared_tables._engine.compute(path, [each])
        assert find_prepared_answer(table, each) in {None, scanned}
    if within[0] >= 18 and codes.upper <= 90:
        assert find_prepared_answer(table, asked[0]) is not None
    shared_tables.drop(file_id)


def test_what_is_answered_depends_on_no_value(tables: Tables) -> None:
    needs = [*all_needs(), *CELL_CASES]
    extreme = {"real": 1e308, "integer": INT64_MAX, "decimal": INT64_MIN, "boolean": True, "category": "\0"}
    told = []
    for rows in (
        worst_rows(),
        {name: [None] * 3 for name in extreme},
        {name: [value] * 2 for name, value in extreme.items()},
    ):
        table = prepared(tables, tables.intake.ingest(BytesIO(as_csv(rows)), COLUMNS, ["NA"]).file_id)
        told.append([find_prepared_answer(table, each) is not None for each in needs])
    assert told[0] == told[1] == told[2]


@pytest.mark.parametrize("number", [255, 256, pytest.param(3000, marks=pytest.mark.slow)])
def test_places_of_many_categories_and_of_texts_that_are_not_declared(tables: Tables, number: int) -> None:
    declared = Column("category", Kind.CATEGORY, categories=tuple(f"c{i}" for i in range(number)))
    values = [*declared.categories, None, "other", "c", "é", declared.categories[-1]]
    file_id = take_in(tables, declared, values)
    path, table = tables._path(file_id), prepared(tables, file_id)
    conditions: list[Condition] = [
        OneOf("category", Kind.CATEGORY, 0, ("c1", declared.categories[-1])),
        NoneOf("category", Kind.CATEGORY, 0, ("c1",)),
        NoneOf("category", Kind.CATEGORY, 0, ()),
        Missing("category", Kind.CATEGORY),
    ]
    axes = [("category", CategoryBins(declared.categories, missing=missing)) for missing in (True, False)]
    asked: list[Needs] = [
        *(CellSums((), (each,)) for each in conditions),
        *(BinCounts(*axis) for axis in axes),
        *(CellSums((axis,), (each,)) for axis, each in product(axes, conditions)),
        BinCounts("category", CategoryBins(declared.categories[1:], missing=True)),
    ]
    for each in asked:
        (scanned,) = tables._engine.compute(path, [each])
        assert tables._engine.compute(path, [each], table) == [scanned]
        assert find_prepared_answer(table, each) in {None, scanned}
    assert find_prepared_answer(table, asked[4])[-2:] == (3, 1)
    assert find_prepared_answer(table, asked[5])[-1] == 4
    assert find_prepared_answer(table, asked[-1]) is None


def test_dates_of_a_copy_and_many_row_groups(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    day = Column("day", Kind.DATE, (mpq(18_000), mpq(19_000)))
    second = Column("at", Kind.SECONDS, (mpq(0), mpq(2) ** 40), time_zone="UTC")
    n = 300_000
    days = [(i * 7919) % 3_000 + 17_000 for i in range(n)]
    seconds = [i % 3_000 * 10_472_901 for i in range(n)]
    table = pa.table(
        {"day": pa.array(days, pa.int32()).cast(pa.date32()), "at": pa.array(seconds).cast(pa.timestamp("s"))}
    )
    file_id = tables.intake.ingest(as_parquet(table), [day, second], []).file_id
    assert pq.read_metadata(tables._path(file_id)).num_row_groups > 2
    forbid_scans(tables, monkeypatch)
    for column, values in ((day, days), (second, seconds)):
        codes = codes_for(column, None)
        found = [(documented_code(value, codes), times) for value, times in Counter(values).items()]
        answer = tables.sums(file_id, ColumnSums(column.name, codes))
        assert answer == Moments(n, sum(q * times for q, times in found), sum(q * q * times for q, times in found))


def test_rows_that_are_left_out_of_a_unit_are_not_counted(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.engines.ingest import Units  # noqa: PLC0415

    rows = b"age,who\n" + b"".join(b"%d,%d\n" % (20 + i % 50, i % 7) for i in range(100))
    ingested = tables.intake.ingest(BytesIO(rows), [AGE], [], units=Units("who", 3, truncate=True))
    stored = pq.read_table(tables._path(ingested.file_id)).column(encode_name("age")).to_pylist()
    forbid_scans(tables, monkeypatch)
    codes = codes_for(AGE, None)
    found = [documented_code(value, codes) for value in stored]
    assert ingested.n == 21
    answer = tables.sums(ingested.file_id, ColumnSums("age", codes))
    assert answer == Moments(21, sum(found), sum(q * q for q in found))


def test_a_pair_at_declared_bounds_reads_the_codes(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    wide = replace(INTEGER, name="wide", bounds=(mpq(0), mpq(2) ** 40))
    table = pa.table({"real": [31.0, 64.5, None], "wide": [2000, 9000, 3000]})
    file_id = tables.intake.ingest(as_parquet(table), [REAL, wide], []).file_id
    asked: list[str] = []
    plain = tables._engine._rows
    monkeypatch.setattr(tables._engine, "_rows", lambda query, path: asked.append(query) or plain(query, path))
    tables.sums(file_id, PairSums("real", codes_for(REAL, None), "wide", codes_for(wide, None)))
    assert encode_code_name("real") in asked[0]
    assert "CASE" not in asked[0]
    tables.sums(file_id, PairSums("real", codes_for(REAL, (mpq(0), mpq(1))), "wide", codes_for(wide, None)))
    assert encode_name("real") in asked[1]
    assert encode_code_name("wide") in asked[1]


def test_codes_that_are_the_values_are_not_stored_again(tables: Tables) -> None:
    table = pa.table({"integer": [2000, 9000, 3000], "boolean": [True, False, None], "real": [31.0, 64.5, None]})
    file_id = tables.intake.ingest(as_parquet(table), [INTEGER, BOOLEAN, REAL], []).file_id
    stored = [encode_name("integer"), encode_name("boolean"), encode_name("real"), encode_code_name("real")]
    assert pq.read_schema(tables._path(file_id)).names == stored
    codes = codes_for(INTEGER, None)
    assert tables.sums(file_id, PairSums("integer", codes, "integer", codes)).total_x == 0 + 5000 + 1000


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b'{"grammar": "1"}', b'{"grammar": "1", "n": 2, "has_codes": true, "columns": [{}]}', b"\xff"],
)
def test_what_cannot_be_read_is_computed_from_the_values(tables: Tables, content: bytes) -> None:
    file_id = take_in(tables, AGE, [20, 30])
    prepared_file(tables._path(file_id)).write_bytes(content)
    assert tables.sums(file_id, ColumnSums("age", codes_for(AGE, None))) == Moments(2, 14, 148)


def test_sums_of_another_grammar_are_not_used(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    file_id = take_in(tables, AGE, [20, 30])
    monkeypatch.setattr(prepared_sums, "GRAMMAR", "another")
    assert tables._prepared.find(tables._path(file_id)) is None
    assert tables.sums(file_id, ColumnSums("age", codes_for(AGE, None))) == Moments(2, 14, 148)


def test_a_table_of_very_many_columns_is_not_prepared(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_sums, "MAX_COLUMNS", 2)
    declared = [Column(name, Kind.INTEGER, (mpq(0), mpq(9))) for name in "abc"]
    file_id = tables.intake.ingest(BytesIO(b"a,b,c\n1,2,3\n4,5,6\n"), declared, []).file_id
    assert prepared(tables, file_id).columns == {}
    assert tables.sums(file_id, ColumnSums("b", codes_for(declared[1], None))) == Moments(2, 7, 29)


def test_counts_of_values_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepared_sums, "MAX_COUNTS", 100)
    plans = prepared_sums.plan_columns([AGE, AGE, Column("b", Kind.BOOLEAN)])
    assert [plan.counts for plan in plans] == [75, 3, 2]


def test_the_file_has_what_was_declared_and_integers(tables: Tables) -> None:
    path = prepared_file(tables._path(take_in(tables, AGE, [20, None])))
    document = json.loads(path.read_bytes())
    assert (document["n"], document["columns"][0]["sums"]) == (2, [2 + 36, 4 + 36 * 36, 1])
    assert sum(document["columns"][0]["counts"]) == 1


@pytest.mark.parametrize("kept", [BOOLEAN, CATEGORY])
def test_they_go_with_the_table(tables: Tables, kept: Column) -> None:
    file_id = take_in(tables, kept, [None, None])
    path: Path = prepared_file(tables._path(file_id))
    assert path.exists()
    tables.drop(file_id)
    assert not path.exists()
    assert not tables._prepared._cache
