"""Tables whose process was killed before they were registered: only what belongs to nothing is deleted."""

import multiprocessing
import os
import signal
from io import BytesIO
from pathlib import Path

import pytest
from engine_world import INTEGER

from app.engines.storage.tables import Tables

ROWS = b"integer\n1\n2\n"


def visible(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir() if not path.name.endswith(".partial"))


def take_in_and_die(directory: Path, count: int) -> None:
    tables = Tables(directory)
    for _ in range(count):
        tables.intake.ingest(BytesIO(ROWS), [INTEGER], [])
    os.kill(os.getpid(), signal.SIGKILL)


def killed(directory: Path, count: int = 1) -> list[str]:
    """The tables of a process that was killed before it registered them."""
    process = multiprocessing.get_context("spawn").Process(target=take_in_and_die, args=(directory, count))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    return sorted(path.stem for path in directory.glob("*.parquet"))


@pytest.mark.slow
def test_of_a_killed_process_a_table_that_was_not_registered_is_deleted_and_one_that_was_stays(tmp_path: Path) -> None:
    one, other = killed(tmp_path, 2)
    tables = Tables(tmp_path)
    assert len(visible(tmp_path)) == 6  # nothing is decided yet
    tables.drop_unregistered(lambda file_id: file_id == one)
    assert visible(tmp_path) == [f"{one}.parquet", f"{one}.prepared"]
    tables.drop_unregistered(lambda _: pytest.fail("there is nothing left to decide"))
    tables.close()
    assert other != one


def test_what_a_living_process_takes_in_is_its_own(tmp_path: Path) -> None:
    living, starting = Tables(tmp_path), Tables(tmp_path)
    file_id = living.intake.ingest(BytesIO(ROWS), [INTEGER], []).file_id
    starting.drop_unregistered(lambda _: False)
    assert f"{file_id}.parquet" in visible(tmp_path)
    living.mark_registered(file_id)
    starting.drop_unregistered(lambda _: False)
    assert visible(tmp_path) == [f"{file_id}.parquet", f"{file_id}.prepared"]
    living.close()
    starting.close()


def test_a_table_without_a_mark_is_never_deleted(tmp_path: Path) -> None:
    # As with another database, or an old backup of it, than the tables were registered in.
    (tmp_path / "0123.parquet").write_bytes(b"somebody's")
    tables = Tables(tmp_path)
    tables.drop_unregistered(lambda _: False)
    assert visible(tmp_path) == ["0123.parquet"]
    tables.close()


def test_whoever_does_not_know_leaves_it_to_be_decided(tmp_path: Path) -> None:
    tables = Tables(tmp_path)
    file_id = tables.intake.ingest(BytesIO(ROWS), [INTEGER], []).file_id
    tables.leave_undecided(file_id)
    tables.drop_unregistered(lambda _: True)
    assert visible(tmp_path) == [f"{file_id}.parquet", f"{file_id}.prepared"]
    again = tables.intake.ingest(BytesIO(ROWS), [INTEGER], []).file_id
    tables.leave_undecided(again)
    tables.drop_unregistered(lambda each: each == file_id)
    assert visible(tmp_path) == [f"{file_id}.parquet", f"{file_id}.prepared"]
    tables.close()
