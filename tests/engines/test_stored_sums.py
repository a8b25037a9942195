"""Sums beside the data: no second scan after a restart, bounded, never for live tables, gone with the table."""

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from engine_world import BOOLEAN, CATEGORY, INTEGER, REAL, take_in
from gmpy2 import mpq

from app.dp.table.bins import BooleanBins, CategoryBins, bins_by_number
from app.dp.table.codes import codes_for
from app.dp.table.sums import BinCounts, ColumnSums, ColumnTotal, CrossMoments, Moments, Needs, PairSums, Total
from app.engines.storage import stored_sums
from app.engines.storage.stored_sums import StoredSums
from app.engines.storage.tables import Tables

SUMS = ColumnSums("integer", codes_for(INTEGER, (mpq(0), mpq(100))))


def files(tables: Tables) -> list[Path]:
    return sorted(tables._directory.glob("*.sums/*"))


def forbid_scans(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables._engine, "compute", None)


def test_another_process_does_not_scan_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = Tables(tmp_path)
    file_id = take_in(first, INTEGER, [1, 2, 2**62])
    needs: list[Needs] = [
        SUMS,
        ColumnSums("integer", codes_for(INTEGER, (mpq(0), mpq(2) ** 63))),
        ColumnTotal("integer", codes_for(INTEGER, (mpq(0), mpq(9)))),
        PairSums("integer", SUMS.codes, "integer", SUMS.codes),
        BinCounts("integer", bins_by_number(INTEGER, 1000, None)),
    ]
    answers = [first.sums(file_id, each) for each in needs]
    first.close()
    second = Tables(tmp_path)
    forbid_scans(second, monkeypatch)
    again = [second.sums(file_id, each) for each in needs]
    assert again == answers
    assert [type(answer) for answer in again] == [Moments, Moments, Total, CrossMoments, tuple]
    assert all(type(number) is int for answer in again for number in answer)
    second.close()


def test_a_total_is_taken_from_kept_squares(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    file_id = take_in(tables, INTEGER, [1, 2])
    tables.sums(file_id, SUMS)
    forbid_scans(tables, monkeypatch)
    assert tables.sums(file_id, ColumnTotal("integer", SUMS.codes)) == Total(2, 3)


def test_what_differs_in_anything_is_another_question(tables: Tables, tmp_path: Path) -> None:
    store = StoredSums(tmp_path)
    needs: list[Needs] = [
        *(ColumnSums(name, codes) for name in ("a", "b") for codes in (SUMS.codes, codes_for(REAL, None))),
        ColumnSums("a", codes_for(BOOLEAN, None)),
        ColumnTotal("a", codes_for(BOOLEAN, None)),
        *(BinCounts("a", bins_by_number(INTEGER, i, None)) for i in (2, 3)),
        *(BinCounts("a", bins) for bins in (BooleanBins(missing=False), BooleanBins(missing=True))),
        *(
            BinCounts("a", CategoryBins(names, missing=False))
            for names in (("x", "y"), ("y", "x"), CATEGORY.categories)
        ),
    ]
    assert len({store._path("f", each) for each in needs}) == len(needs)


def test_they_are_as_private_as_the_data_and_go_with_it(tables: Tables) -> None:
    file_id, other = take_in(tables, INTEGER, [1, 2]), take_in(tables, INTEGER, [3, 4])
    for each in (file_id, other):
        tables.sums(each, SUMS)
    path = files(tables)[0]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    tables.drop(file_id)
    assert [path.parent.name for path in files(tables)] == [f"{other}.sums"]


def test_sums_of_a_table_that_is_dropped_meanwhile_are_not_kept(tables: Tables, monkeypatch: Any) -> None:
    file_id = take_in(tables, INTEGER, [1, 2])
    compute = tables._engine.compute

    def dropped_meanwhile(path: Path, scan: Sequence[Needs], prepared: object) -> object:
        answer = compute(path, scan, prepared)
        tables.drop(file_id)
        return answer

    monkeypatch.setattr(tables._engine, "compute", dropped_meanwhile)
    assert tables.sums(file_id, SUMS) == Moments(2, 3, 5)
    assert files(tables) == []


@pytest.mark.parametrize("content", [b"", b"[1, 2", b"[1, 2]", b'{"n": 2}', b"[1, 2, 3.5]", b"[2, 3, true]", b"\xff"])
def test_what_cannot_be_read_is_computed_again(tmp_path: Path, content: bytes) -> None:
    first = Tables(tmp_path)
    file_id = take_in(first, INTEGER, [1, 2])
    answer = first.sums(file_id, SUMS)
    first.close()
    (path,) = files(first)
    path.write_bytes(content)
    second = Tables(tmp_path)
    assert second.sums(file_id, SUMS) == answer
    second.close()
    assert json.loads(path.read_bytes()) == list(answer)


def test_a_disk_that_keeps_nothing_is_no_failure(tables: Tables, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    file_id = take_in(tables, INTEGER, [1, 2])
    monkeypatch.setattr(os, "fsync", full)
    assert tables.sums(file_id, SUMS) == Moments(2, 3, 5)
    assert files(tables) == []


@pytest.mark.parametrize(("limit", "most"), [("MAX_ANSWERS", 3), ("MAX_BYTES", 3 * len("[2, 3, 5]"))])
def test_the_longest_unused_make_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, most: int) -> None:
    monkeypatch.setattr(stored_sums, limit, most)
    table = tmp_path / "f.parquet"
    table.touch()
    store = StoredSums(tmp_path)
    needs = [ColumnSums("x", codes_for(INTEGER, (mpq(0), mpq(10 + i)))) for i in range(4)]
    for i, each in enumerate(needs[:3]):
        store.keep("f", each, Moments(2, 3, 5), table)
        os.utime(store._path("f", each), ns=(i, i))
    assert store.find("f", needs[0]) == Moments(2, 3, 5)  # used again, so that the second is the longest unused
    store.keep("f", needs[3], Moments(2, 3, 5), table)
    assert [store.find("f", each) is not None for each in needs] == [True, False, True, True]


def test_a_process_that_was_killed_while_it_wrote_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "f.sums").mkdir()
    (tmp_path / "f.sums" / ".x.json.partial").write_bytes(b"half")
    Tables(tmp_path).close()
    assert list((tmp_path / "f.sums").iterdir()) == []
