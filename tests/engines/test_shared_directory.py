"""Several processes on one data directory: what one writes at this moment is never swept away by another."""

import fcntl
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from engine_world import INTEGER

from app.dp.table.bins import bins_by_number
from app.dp.table.sums import BinCounts
from app.engines import atomic_files
from app.engines.storage.stored_sums import StoredSums
from app.engines.storage.unregistered_tables import UnregisteredTables

NEEDS = BinCounts("integer", bins_by_number(INTEGER, 2, None))
ANSWER = (1, 2, 3)  # and of missing values


@pytest.fixture
def swept(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Lets another process look for what was left behind just before the first lock is taken."""

    def before_the_lock(sweep: Callable[[], None]) -> None:
        flock, begun = fcntl.flock, []

        def late(descriptor: int, operation: int) -> None:
            if not begun:
                begun.append(True)
                sweep()
            flock(descriptor, operation)

        monkeypatch.setattr(fcntl, "flock", late)

    return before_the_lock


def test_a_file_that_is_begun_outlives_a_sweep(tmp_path: Path, swept: Callable[[Callable[[], None]], None]) -> None:
    swept(lambda: atomic_files.remove_abandoned(tmp_path))
    with atomic_files.write_atomically(tmp_path / "table") as file:
        file.write(b"all of it")
    assert (tmp_path / "table").read_bytes() == b"all of it"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_scratch_directory_outlives_a_sweep(tmp_path: Path, swept: Callable[[Callable[[], None]], None]) -> None:
    swept(lambda: atomic_files.remove_abandoned(tmp_path))
    scratch, _ = atomic_files.scratch_directory(tmp_path)
    atomic_files.remove_abandoned(tmp_path)
    assert scratch.is_dir()


def test_a_mark_outlives_a_sweep(tmp_path: Path, swept: Callable[[Callable[[], None]], None]) -> None:
    dropped: list[str] = []
    swept(lambda: UnregisteredTables(tmp_path).drop_unregistered(lambda _: False, dropped.append))
    mine = UnregisteredTables(tmp_path)
    mine.mark("0123")
    UnregisteredTables(tmp_path).drop_unregistered(lambda _: pytest.fail("its process lives"), dropped.append)
    assert len(list(tmp_path.iterdir())) == 1
    mine.close()
    UnregisteredTables(tmp_path).drop_unregistered(lambda _: False, dropped.append)
    assert dropped[-1] == "0123"
    assert list(tmp_path.iterdir()) == []


def test_two_keep_the_same_sums_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    table = tmp_path / "0123.parquet"
    table.touch()
    one, other, begun = StoredSums(tmp_path), StoredSums(tmp_path), []
    dumps = json.dumps

    def meanwhile(answer: object) -> str:
        if not begun:
            begun.append(True)
            other.keep("0123", NEEDS, ANSWER, table)
        return str(dumps(answer))

    monkeypatch.setattr("app.engines.storage.stored_sums.json.dumps", meanwhile)
    one.keep("0123", NEEDS, ANSWER, table)
    assert caplog.records == []
    assert one.find("0123", NEEDS) == other.find("0123", NEEDS) == ANSWER
    assert len(list((tmp_path / "0123.sums").iterdir())) == 1
