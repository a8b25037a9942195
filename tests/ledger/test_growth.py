"""A release costs the same in a ledger of thousands of entries as in an empty one: no statement walks a whole table."""

import itertools

import pytest
from ledger_world import World

_keys = itertools.count()


def _grow(world: World, releases: int) -> None:
    with world.database.write() as transaction:
        for _ in range(releases):
            world.release_of(transaction, 1, f"key {next(_keys)}")
        transaction.commit()


def _steps_of_a_release(world: World) -> int:
    """How many instructions of its machine SQLite runs for one; the look for open references at its end too."""
    steps = 0

    def step() -> int:
        nonlocal steps
        steps += 1
        return 0

    with world.database.write() as transaction:
        driver = transaction.connection.connection.driver_connection
        driver.set_progress_handler(step, 1)
        try:
            world.release_of(transaction, 1, f"key {next(_keys)}")
            transaction.commit()
        finally:
            driver.set_progress_handler(None, 1)
    return steps


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
def test_a_release_takes_as_many_steps_whatever_is_stored(world: World) -> None:
    _grow(world, 10)
    few = _steps_of_a_release(world)
    _grow(world, 3000)
    many = _steps_of_a_release(world)
    assert few > 100
    assert many <= 1.05 * few
