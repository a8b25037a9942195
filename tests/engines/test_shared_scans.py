"""Several questions at once: the same integers as one by one, by few scans."""

import threading
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from cell_cases import CASES
from engine_world import CATEGORY, INTEGER, REAL, as_parquet, take_in
from gmpy2 import mpq
from sources_world import all_needs, expected
from sql_words import TABLE, assert_common_words
from sqlglot import exp

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.columns import Kind
from app.dp.table.conditions import Between, OneOf
from app.dp.table.sums import BinCounts, CellSums, ColumnSums, Moments, Needs, PairSums
from app.engines.errors import EngineFailure
from app.engines.prepared_sums import PreparedTable
from app.engines.sql.queries import Dialect
from app.engines.sql.scan_sharing import MAX_LITERALS, MAX_NEEDS, axes_of, scans_of
from app.engines.sql.shared_queries import build_shared_query
from app.engines.storage.shared_scans import SharedScans
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_name

CODES = codes_for(INTEGER, (mpq(0), mpq(100)))


def means(number: int) -> list[Needs]:
    return [ColumnSums("integer", codes_for(INTEGER, (mpq(0), mpq(1 + i)))) for i in range(number)]


@pytest.fixture
def statements(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the engine is asked."""
    asked: list[str] = []
    plain = tables._engine._rows
    monkeypatch.setattr(tables._engine, "_rows", lambda query, path: asked.append(query) or plain(query, path))
    return asked


@pytest.mark.slow
def test_the_worst_rows_give_the_same_integers_together(worst: str, shared_tables: Tables) -> None:
    needs = list(all_needs())
    scans = scans_of(needs)
    assert len(scans) < len(needs) * 2 / 5
    path = shared_tables._path(worst)
    for scan in scans[::2]:  # all of them are held against the rows in test_sources.py
        together = shared_tables._engine.compute(path, scan)
        assert together == [shared_tables._engine.compute(path, [each])[0] for each in scan]
        assert all(type(number) is int for answer in together for number in answer)


def test_the_worst_rows_give_the_same_integers_by_the_same_groups(worst: str, shared_tables: Tables) -> None:
    groups = ("category", CategoryBins(CATEGORY.categories, missing=True)), ("boolean", BooleanBins(missing=True))
    cells: list[Needs] = [CellSums(axes) for axes in (groups[:1], groups)]
    cells += [replace(each, axes=axes) for each in CASES[::5] for axes in (groups[:1], groups)]
    scans = scans_of([*CASES, *cells, BinCounts(*groups[0])], keyed=False)
    path = shared_tables._path(worst)
    together = [scan for scan in scans if len(scan) > 1 and axes_of(scan[0])]
    assert sum(map(len, together)) > 50
    assert any(isinstance(each, BinCounts) for scan in together for each in scan)
    for scan in together:
        for prepared in (None, shared_tables._prepared.find(path)):
            for needs, answer in zip(scan, shared_tables._engine.compute(path, scan, prepared), strict=True):
                assert answer == expected(needs)
                assert all(type(number) is int for number in answer)


def test_new_questions_by_the_same_groups_are_one_scan(tables: Tables, statements: list[str]) -> None:
    file_id = take_in(tables, INTEGER, [1, 2, 5])
    groups = (("integer", bins_by_number(INTEGER, 3, (mpq(0), mpq(6)))),)
    filters = [(Between("integer", Kind.INTEGER, 0, i, 9),) for i in range(4)]
    counts = [CellSums(groups, conditions) for conditions in filters]
    sums = [CellSums(groups, conditions, ("integer", CODES)) for conditions in [(), *filters]]
    answers = tables.all_sums(file_id, [*counts, *sums, *means(1)])
    assert [answers[each] for each in counts] == [
        (1, 1, 1, 0, 0),  # the last are those without a value, and those outside
        (1, 1, 1, 0, 0),
        (0, 1, 1, 0, 1),
        (0, 0, 1, 0, 2),
    ]
    assert answers[sums[0]] == (1, 1, 1, 0, 0, 1, 2, 5, 0)
    assert answers[sums[3]] == (0, 1, 1, 0, 1, 0, 2, 5, 0)
    assert len(statements) == 2  # by the groups, and over all rows


def test_fifty_new_questions_are_few_scans(tables: Tables, statements: list[str]) -> None:
    file_id = take_in(tables, INTEGER, [1, 2, 5])
    filters = [CellSums((), (Between("integer", Kind.INTEGER, 0, i, 9),)) for i in range(10)]
    asked: list[Needs] = [*means(40), *filters]
    answers = tables.all_sums(file_id, asked)
    assert list(answers) == asked
    assert answers[asked[9]] == Moments(3, 8, 30)
    assert len(statements) == 4  # 50 by 16
    assert all(statement.count("READ_PARQUET") == 1 for statement in statements)
    assert tables.all_sums(file_id, asked) == answers
    assert [tables.sums(file_id, each) for each in asked] == list(answers.values())
    assert len(statements) == 4


def test_what_is_known_is_not_asked_again(tables: Tables, tmp_path: Path, statements: list[str]) -> None:
    file_id = take_in(tables, INTEGER, [1, 2])
    old, new = means(40)[:20], means(40)[20:]
    tables.all_sums(file_id, old)
    statements.clear()
    tables.all_sums(file_id, [*old, *new, *new])
    assert len(statements) == 2
    assert sum(statement.count("SUM(") for statement in statements) == 2 * len(new)


def test_what_was_computed_before_a_failure_is_kept(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    file_id = take_in(tables, INTEGER, [1, 2])
    plain, calls = tables._engine.compute, []

    def second_fails(path: Path, scan: Sequence[Needs], prepared: object) -> object:
        calls.append(scan)
        if len(calls) == 2:
            raise EngineFailure
        return plain(path, scan, prepared)

    monkeypatch.setattr(tables._engine, "compute", second_fails)
    asked = means(3 * MAX_NEEDS)
    with pytest.raises(EngineFailure):
        tables.all_sums(file_id, asked)
    answered = [True] * MAX_NEEDS
    assert [tables.are_known(file_id, each) for each in asked] == [*answered, *[False] * MAX_NEEDS, *answered]
    assert set(tables.all_sums(file_id, asked)) == set(asked)
    assert sum(map(len, calls)) == 4 * MAX_NEEDS


def test_a_failure_tells_nothing(tables: Tables, caplog: pytest.LogCaptureFixture) -> None:
    # A column of another type than declared: DuckDB's own message has the value in it.
    tables._path("texts").write_bytes(as_parquet(pa.table({encode_name("real"): ["secret", "secret"]})).getvalue())
    asked: list[Needs] = [ColumnSums("real", codes_for(REAL, (mpq(0), mpq(1 + i)))) for i in range(3)]
    with pytest.raises(EngineFailure) as caught:
        tables.all_sums("texts", asked)
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert "ConversionException" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "spark"])
def test_only_words_that_every_engine_has(dialect: Dialect) -> None:
    scans = [*scans_of(all_needs()), *scans_of(CASES, keyed=False)]
    for scan in [each for each in scans if len(each) > 1][::4]:
        text = build_shared_query(scan, TABLE, dialect)
        assert_common_words(text, dialect, also=frozenset({"GroupingSets", "Tuple", "In", "Neg"}))
        assert dialect != "spark" or text.count("SUM(") == text.count("SUM(CAST(")


def listed(number: int) -> CellSums:
    return CellSums((), (OneOf("integer", Kind.INTEGER, 0, tuple(range(number))),))


@pytest.mark.parametrize(
    "alone",
    [
        BinCounts("integer", bins_by_number(INTEGER, 1000, None)),
        BinCounts("category", CategoryBins(tuple(map(str, range(17))), missing=False)),
        CellSums((("boolean", BooleanBins(missing=False)),), (), ("integer", CODES)),
        listed(300),
    ],
)
def test_what_is_large_has_a_scan_to_itself(alone: Needs) -> None:
    assert (alone,) in scans_of([*means(2), alone, *means(3)])


def test_statements_are_bounded() -> None:
    scans = scans_of([*means(100), *(listed(200 + i) for i in range(40))])
    assert sum(map(len, scans)) == 140
    assert max(map(len, scans)) == MAX_NEEDS
    assert all(
        sum(len(each.conditions[0].values) for each in scan if isinstance(each, CellSums)) < MAX_LITERALS
        for scan in scans
    )


def test_what_questions_have_in_common_is_worked_out_once() -> None:
    x, y = codes_for(REAL, None), CODES
    inside = (OneOf("category", CATEGORY.kind, 0, ("",)),)
    asked = (
        ColumnSums("real", x),
        PairSums("real", x, "integer", y),
        CellSums((), inside),
        CellSums((), inside, ("real", x)),
    )
    (scan,) = scans_of([*asked, *asked])
    text = build_shared_query(scan, exp.to_table("t"), "duckdb")
    assert text.count(' AS "v') == 4  # two codes, and the condition as a truth value and as a number


def test_separate_calls_at_the_same_time_share_scans(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    file_id = take_in(tables, INTEGER, [1, 2, 5])
    plain, scans, first_runs = tables._engine.compute, [], threading.Event()
    others_wait = threading.Event()

    def slow(path: Path, scan: Sequence[Needs], prepared: PreparedTable | None) -> object:
        scans.append(scan)
        if len(scans) == 1:
            first_runs.set()
            assert others_wait.wait(60)
        return plain(path, scan, prepared)

    monkeypatch.setattr(tables._engine, "compute", slow)
    asked = means(50)
    with ThreadPoolExecutor(50) as pool:
        answers = [pool.submit(tables.sums, file_id, asked[0])]
        assert first_runs.wait(60)
        answers += [pool.submit(tables.sums, file_id, each) for each in asked[1:]]
        while len(tables._shared_scans._waiting.get(file_id, ())) < 49:
            time.sleep(0.001)
        others_wait.set()
        found = [each.result() for each in answers]
    assert [len(scan) for scan in scans] == [1, 16, 16, 16, 1]
    assert found == [tables._engine.compute(tables._path(file_id), [each], None)[0] for each in asked]


def one_by_one(needs: Iterable[Needs]) -> list[tuple[Needs, ...]]:
    return [(each,) for each in needs]


def test_a_statement_that_fails_is_an_error_of_its_own_calls_alone() -> None:
    shared = SharedScans()
    good, bad = means(2)
    entered = threading.Barrier(2)

    def scan(together: Sequence[Needs]) -> list[Moments]:
        if together == (bad,):
            raise EngineFailure
        return [Moments(1, 2, 4)]

    def ask(needs: Needs) -> object:
        entered.wait(60)
        try:
            return dict(shared.compute("table", [needs], one_by_one, scan))
        except EngineFailure:
            return "failed"

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(ask, (good, bad))) == [{good: Moments(1, 2, 4)}, "failed"]
    assert dict(shared.compute("table", [good], one_by_one, scan)) == {good: Moments(1, 2, 4)}
    assert (shared._waiting, shared._in_round) == ({}, set())


def test_a_call_that_is_interrupted_leaves_nobody_waiting() -> None:
    shared, (first, second) = SharedScans(), means(2)

    def interrupt(_: Sequence[Needs]) -> list[Moments]:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        dict(shared.compute("table", [first], scans_of, interrupt))
    assert dict(shared.compute("table", [second], scans_of, lambda _: [Moments(1, 2, 4)])) == {second: Moments(1, 2, 4)}
