import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from ledger_world import KEYRING, SEAL, World, new_dataset

from app.db.clock import now
from app.db.database import Database
from app.db.repositories import principals
from app.errors import NotFoundError
from app.ledger import accounts, allowances
from app.ledger.answers import releases
from app.ledger.answers.releases import SMALLEST_BOUND, ReuseCandidate


def best(world: World, statistic: str = "mean of x") -> list[str]:
    with world.database.read() as session:
        return [candidate.id for candidate in releases.list_candidates(session, world.dataset.id, statistic)]


def test_a_release_is_read_as_it_was_stored(world: World) -> None:
    response = bytes(range(256)) * 100
    world.store("r", response=response, gamma="7/100", grid_refinement=3, epsilon_nano=10**15)
    with world.database.read() as session:
        found = releases.find_release(session, "r")
        assert releases.find_release(session, "s") is None
        assert releases.find_sealed(session, KEYRING, "r")[1].content() == response
        with pytest.raises(NotFoundError):
            releases.find_sealed(session, KEYRING, "s")
    assert found == releases.Release(
        "r",
        world.dataset.id,
        world.analyst.id,
        "mean of x",
        10**15,
        "7/100",
        3,
        "2026-01-01T00:00:00.000000Z",
        response,
        found.seal,
    )


def test_candidates_are_the_best_of_each_grid_and_of_the_bound_oldest_first(world: World) -> None:
    world.store("r1", [(-3, 0.5), (SMALLEST_BOUND, 9.0)])
    world.store("r2", [(-3, 0.25), (SMALLEST_BOUND, 8.0)])  # better than r1 in both
    world.store("r3", [(-4, 0.5), (SMALLEST_BOUND, 8.5)])  # the best of a finer grid
    world.store("r4", [(-3, 0.25), (SMALLEST_BOUND, 8.0)])  # equal to r2, and younger
    world.store("r5", [(-3, 0.5), (SMALLEST_BOUND, 7.0)])  # only the smallest bound
    world.store("r6", [(-3, 0.1), (SMALLEST_BOUND, 1.0)], statistic="mean of y")
    assert best(world) == ["r2", "r3", "r5"]
    assert best(world, "mean of y") == ["r6"]
    assert best(world, "mean of z") == []


def test_a_candidate_has_what_its_accuracy_follows_from(world: World) -> None:
    world.store("r", [(0, 1.0)], epsilon_nano=5, gamma="1/3", grid_refinement=2)
    with world.database.read() as session:
        found = releases.list_candidates(session, world.dataset.id, "mean of x")
    assert found == [ReuseCandidate("mean of x", "r", 5, "1/3", 2, "2026-01-01T00:00:00.000000Z")]


def test_candidates_are_a_dataset_s_own(world: World) -> None:
    world.store("r", [(0, 1.0)])
    with world.database.write() as transaction:
        other = new_dataset(transaction, "another", world.owner)
        accounts.open_account(transaction, SEAL, other, 1, "owner", now())
        transaction.commit()
    world.store("s", [(0, 0.5)], dataset_id=other.id)
    assert best(world) == ["r"]


@given(
    made=st.lists(
        st.tuples(st.integers(-4, -2), st.sampled_from([0.25, 0.5, 1.0]), st.sampled_from([1.0, 2.0])), max_size=8
    ),
    seed=st.integers(0, 2**32),
)
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_candidates_do_not_depend_on_the_order_of_commits(
    world: World, made: list[tuple[int, float, float]], seed: int
) -> None:
    statistic = f"{seed} {made}"
    scores: dict[int, tuple[float, str]] = {}
    order = list(enumerate(made))
    random.Random(seed).shuffle(order)
    for number, (exponent, scale, bound) in order:
        release_id = f"{statistic} {number}"
        with world.database.read() as session:
            if releases.find_release(session, release_id) is not None:
                return  # hypothesis asked the same again
        world.store(release_id, [(exponent, scale), (SMALLEST_BOUND, bound)], statistic=statistic)
        for slot, score in ((exponent, scale), (SMALLEST_BOUND, bound)):
            scores[slot] = min(scores.get(slot, (score, release_id)), (score, release_id))
    assert best(world, statistic) == sorted({release_id for _, release_id in scores.values()})


def pages(database: Database, **of: int | None) -> list[list[str]]:
    """All pages of two, in turn."""
    found, after = [], None
    while True:
        with database.read() as session:
            page = [release.id for release in releases.page_of_releases(session, after, 2, **of)]
        found.append(page)
        if len(page) < 2:
            return found
        after = page[-1]


def test_pages_of_releases_are_exclusive_oldest_first_and_filtered(world: World) -> None:
    with world.database.write() as transaction:
        other = new_dataset(transaction, "another", world.owner)
        accounts.open_account(transaction, SEAL, other, 1, "owner", now())
        beda = principals.insert_principal(transaction, "beda", "analyst", b"b" * 32, now())
        allowances.grant_allowance(transaction, SEAL, other.id, beda, 0, now())
        transaction.commit()
    for number, dataset, principal in (
        (5, world.dataset, world.analyst),
        (1, world.dataset, beda),
        (3, other, world.analyst),
        (2, other, beda),
        (4, world.dataset, world.analyst),
    ):
        world.store(f"r{number}", dataset_id=dataset.id, principal_id=principal.id)
    analyst, owner = world.analyst.id, world.owner.id
    assert pages(world.database) == [["r1", "r2"], ["r3", "r4"], ["r5"]]
    assert pages(world.database, dataset_id=other.id) == [["r2", "r3"], []]
    assert pages(world.database, principal_id=analyst) == [["r3", "r4"], ["r5"]]
    assert pages(world.database, principal_id=analyst, dataset_id=other.id) == [["r3"]]
    assert pages(world.database, visible_to=owner) == [["r1", "r2"], ["r3", "r4"], ["r5"]]
    assert pages(world.database, visible_to=analyst) == [["r1", "r4"], ["r5"]]
    assert pages(world.database, visible_to=beda.id) == [["r2", "r3"], []]
    assert pages(world.database, visible_to=analyst, principal_id=analyst) == [["r4", "r5"], []]
    with world.database.read() as session:
        assert releases.find_release(session, "r3", visible_to=beda.id) is not None
        assert releases.find_release(session, "r3", visible_to=analyst) is None
        assert releases.find_release(session, "r3", visible_to=owner) is not None


def test_revoked_access_hides_releases(world: World) -> None:
    world.store("r")
    with world.database.write() as transaction:
        allowances.revoke_allowance(transaction, SEAL, world.dataset.id, world.analyst, now())
        transaction.commit()
    assert pages(world.database, visible_to=world.analyst.id) == [[]]
    with world.database.read() as session:
        assert releases.find_release(session, "r", visible_to=world.analyst.id) is None
