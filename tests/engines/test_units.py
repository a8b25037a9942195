"""Whose rows they are: nobody has more than was declared, or as many are kept as were."""

import random
from collections import Counter
from collections.abc import Callable
from datetime import date
from io import BytesIO
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from engine_world import as_parquet
from gmpy2 import mpq
from workbooks import Cell, workbook

from app.dp.table.columns import Column, Kind
from app.engines.errors import InvalidFile
from app.engines.ingest import Units
from app.engines.ingest.file_format import FileFormat
from app.engines.storage.tables import Tables
from app.engines.stored_columns import encode_name

X = Column("x", Kind.INTEGER, (mpq(0), mpq(10**6)))
PEOPLE = [f"p{i % 100}" for i in range(250)]  # 50 have three rows, 50 two


def as_csv(who: list[Any], values: list[Any]) -> BytesIO:
    return BytesIO("\n".join(["who,x", *(f"{w},{x}" for w, x in zip(who, values, strict=True)), ""]).encode())


def as_table(who: list[Any], values: list[Any]) -> BytesIO:
    return as_parquet(pa.table({"who": pa.array(who), "x": pa.array(values)}))


def stored(tables: Tables, file_id: str) -> list[int]:
    found: list[int] = pq.read_table(tables._path(file_id)).column(encode_name("x")).to_pylist()
    return found


@pytest.mark.parametrize("write", [as_csv, as_table])
def test_nobody_has_more_rows_than_declared(tables: Tables, write: Callable[..., BytesIO]) -> None:
    values = list(range(250))
    assert tables.intake.ingest(write(PEOPLE, values), [X], [], units=Units("who", 3)).n == 250
    for most, over in ((2, "50 units have"), (1, "100 units have")):
        with pytest.raises(InvalidFile) as caught:
            tables.intake.ingest(write(PEOPLE, values), [X], [], units=Units("who", most))
        assert f"column who: {over} more than {most} rows" in str(caught.value)
    assert not list(tables._engine.scratch.iterdir())


@pytest.mark.parametrize("write", [as_csv, as_table])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_as_many_are_kept_as_were_declared(tables: Tables, write: Callable[..., BytesIO], most: int) -> None:
    values = list(range(250))
    ingested = tables.intake.ingest(write(PEOPLE, values), [X], [], units=Units("who", most, truncate=True))
    kept = stored(tables, ingested.file_id)
    rows = Counter(PEOPLE[x] for x in kept)
    assert rows == {person: min(count, most) for person, count in Counter(PEOPLE).items()}
    assert (len(kept), len(set(kept))) == (ingested.n, ingested.n)
    assert pq.read_schema(tables._path(ingested.file_id)).names == [encode_name("x")]


def test_which_are_kept_is_a_matter_of_a_key(tables: Tables) -> None:
    # The same file twice: that both keep the same row of each of 100 people has a probability of 3⁻¹⁰⁰.
    who, values = [str(i // 3) for i in range(300)], list(range(300))
    chosen = [
        sorted(
            stored(
                tables, tables.intake.ingest(as_csv(who, values), [X], [], units=Units("who", 1, truncate=True)).file_id
            )
        )
        for _ in range(2)
    ]
    assert chosen[0] != chosen[1]
    assert all(len({x // 3 for x in kept}) == 100 for kept in chosen)


def test_the_order_of_the_rows_does_not_matter(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.engines.backends.duckdb_engine.secrets.token_hex", lambda _: "key")
    rows = [(str(i // 5), i) for i in range(500)]
    found = []
    for seed in range(2):
        random.Random(seed).shuffle(rows)
        upload = as_csv(*map(list, zip(*rows, strict=True)))
        found.append(
            sorted(stored(tables, tables.intake.ingest(upload, [X], [], units=Units("who", 2, truncate=True)).file_id))
        )
    assert found[0] == found[1]


def test_a_unit_may_be_a_declared_column_too(tables: Tables) -> None:
    who = Column("who", Kind.INTEGER, (mpq(0), mpq(9)))
    for write in (as_csv, as_table):
        ingested = tables.intake.ingest(write([1, 1, 2], [7, 8, 9]), [who, X], [], units=Units("who", 1, truncate=True))
        table = pq.read_table(tables._path(ingested.file_id))
        assert sorted(table.column(encode_name("who")).to_pylist()) == [1, 2]


def test_texts_are_compared_as_they_are(tables: Tables) -> None:
    who = ["7", "07", " 7", "7 ", "a", "A", "é", "e\u0301"]
    assert tables.intake.ingest(as_csv(who, [1] * 8), [X], [], units=Units("who", 1)).n == 8


@pytest.mark.parametrize(
    "who", [["1", "2"], ["1.50", "1.5"], ["9e2f0c1a-0000-4000-8000-000000000000", "A"], ["2024-01-31", "31.01.2024"]]
)
def test_a_unit_of_a_text_file_is_its_text_whatever_it_means(tables: Tables, who: list[str]) -> None:
    form = FileFormat(decimal=",", date_order="day-month-year")
    assert tables.intake.ingest(as_csv(who, [1, 2]), [X], [], form, units=Units("who", 1)).n == 2
    with pytest.raises(InvalidFile, match="the largest has 2"):
        tables.intake.ingest(as_csv([*who, f" {who[0]} "], [1, 2, 3]), [X], [], FileFormat(strip=True), Units("who", 1))


@pytest.mark.parametrize("cells", [[7, 7.0], ["7", 7], [True, "true"], [date(2020, 2, 9), "2020-02-09"]])
def test_cells_of_a_workbook_with_the_same_text_are_one_unit(tables: Tables, cells: list[Cell]) -> None:
    rows: list[list[Cell]] = [["who", "x"], *([cell, 1] for cell in cells)]
    with pytest.raises(InvalidFile, match="the largest has 2"):
        tables.intake.ingest(BytesIO(workbook({"S": rows})), [X], [], units=Units("who", 1))


@pytest.mark.parametrize("missing", ["", "NA"])
def test_a_row_without_a_unit_is_refused(tables: Tables, missing: str) -> None:
    with pytest.raises(InvalidFile, match="line 3, column who: is missing"):
        tables.intake.ingest(as_csv(["a", missing], [1, 2]), [X], ["", "NA"], units=Units("who", 1))
    with pytest.raises(InvalidFile, match="row 2, column who: is missing"):
        tables.intake.ingest(as_table(["a", None], [1, 2]), [X], [], units=Units("who", 1))


def test_what_cannot_be_a_unit(tables: Tables) -> None:
    with pytest.raises(InvalidFile, match="column who: is missing from the header"):
        tables.intake.ingest(BytesIO(b"x\n1\n2\n"), [X], [], units=Units("who", 1))
    for who in ([1.5, 2.5], [True, False], [[1], [2]]):
        with pytest.raises(
            InvalidFile, match="column who: must be of a text, whole-number, decimal, date or binary type"
        ):
            tables.intake.ingest(as_table(who, [1, 2]), [X], [], units=Units("who", 1))


@pytest.mark.slow
def test_many_units_fit_into_little_memory(tmp_path: Any) -> None:
    opened = Tables(tmp_path, threads=2, memory_limit="200MB")
    n = 600_000
    table = pa.table({"who": pa.array([f"person {i * 7919 % n}" for i in range(n)]), "x": pa.array(range(n))})
    ingested = opened.intake.ingest(as_parquet(table), [X], [], units=Units("who", 1, truncate=True))
    assert ingested.n == n
    opened.close()
