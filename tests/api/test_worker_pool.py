"""The threads that answer calls, and what they make durable together."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from contextlib import suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import Any

import ledger_world
import pytest
from ledger_world import World
from service_world import becomes
from sqlalchemy import bindparam, update
from sqlalchemy import insert as insert_into
from sqlalchemy.exc import IntegrityError, OperationalError

from app.api.server import worker_pool
from app.api.server.worker_pool import WorkerPool, mark_quick
from app.db import tables
from app.db.database import Database, WriteSession
from app.db.repositories import principals
from app.db.schema_migration import migrate
from app.errors import UnavailableError
from app.ledger import accounts
from app.ledger.answers import releases
from app.ledger.chain import entries
from app.ledger.verification import ledger_verification

SOON = 120
"""Seconds after which something will not happen any more."""

AT = "2026-01-01T00:00:00.000000Z"
_ADD = insert_into(tables.principals).inline()
_DISABLE = update(tables.principals).where(tables.principals.c.name == bindparam("called")).values(disabled_at="at")
spoken: ContextVar[str] = ContextVar("spoken", default="nothing")


@pytest.fixture
def database(tmp_path: Path) -> Database:
    made = Database(f"sqlite:///{tmp_path}/ledger.sqlite3")
    migrate(made)
    return made


@pytest.fixture
def world(database_url: str) -> Iterator[World]:
    """A dataset with an account, on a database of each kind."""
    made = Database(database_url)
    world = ledger_world.create(made)
    assert world.dataset.id == 1
    yield world
    made.close()


@pytest.fixture
def either(world: World) -> Database:
    """A database of each kind, with the account of a dataset."""
    return world.database


def release(world: World, key: str, then: Callable[[], object] = lambda: None) -> Callable[[], str | None]:
    """A transaction that releases, and does something else before it ends; the id, or None where the key is taken."""

    def work(transaction: WriteSession) -> str | None:
        released = world.release_of(transaction, 1, key)
        then()
        if released is not None:
            transaction.commit()
        return released

    return mark_quick(lambda: world.database.transact(work, world.dataset.id))


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(asyncio.wait_for(work, SOON))


def insert(name: str) -> Callable[[WriteSession], str]:
    """A transaction that adds a principal, and commits."""

    def work(transaction: WriteSession) -> str:
        principals.insert_principal(
            transaction, name, "analyst", name.upper().encode() * 32, "2026-01-01T00:00:00.000000Z"
        )
        transaction.commit()
        return name

    return work


def names(database: Database) -> set[str]:
    with database.read() as session:
        found = {each.name for each in principals.page_of_principals(session, None, 100)}
    return found - {"owner", "analyst"}


def held(pool: WorkerPool, release: threading.Event) -> Coroutine[Any, Any, Any]:
    """A call that takes until it is released, so that the next ones wait together."""
    return pool.run(mark_quick(lambda: release.wait(SOON)))


def slow_failing_commit() -> Callable[[WriteSession], None]:
    """As on a disk that fails after a while, in which the event loop tells whatever it was given to tell."""
    loop = asyncio.get_running_loop()

    def commit(self: WriteSession) -> None:
        told = threading.Event()
        loop.call_soon_threadsafe(loop.call_soon, told.set)
        assert told.wait(SOON)
        self._cursor.execute("ROLLBACK")
        driver_error = self.connection.dialect.loaded_dbapi.OperationalError("disk I/O error")
        driver_error.sqlite_errorcode = sqlite3.SQLITE_IOERR
        raise OperationalError("COMMIT", None, driver_error)

    return commit


async def together(pool: WorkerPool, *calls: Callable[[], object]) -> list[Any]:
    """What the calls return or raise, which one thread answers in a row."""
    release = threading.Event()
    first = asyncio.ensure_future(held(pool, release))
    await asyncio.sleep(0)  # it is taken before the others come
    others = [asyncio.ensure_future(pool.run(call)) for call in calls]
    await asyncio.sleep(0)
    release.set()
    await first
    return await asyncio.gather(*others, return_exceptions=True)


def test_calls_answer_and_raise_with_the_variables_of_who_awaits_them(database: Database) -> None:
    async def ask() -> None:
        pool = WorkerPool(database, 4)
        spoken.set("hello")
        assert await pool.run(lambda **given: (given, spoken.get()), name="ada") == ({"name": "ada"}, "hello")
        with pytest.raises(LookupError, match="gone"):
            await pool.run(lambda: (_ for _ in ()).throw(LookupError("gone")))
        assert await pool.run(threading.get_ident) != threading.get_ident()

    run(ask())


def test_a_call_that_is_held_up_holds_up_nobody(database: Database) -> None:
    async def ask() -> None:
        pool, release = WorkerPool(database, 3), threading.Event()
        slow = [asyncio.ensure_future(pool.run(lambda: release.wait(SOON))) for _ in range(2)]
        assert await pool.run(lambda: "answered") == "answered"
        release.set()
        assert await asyncio.gather(*slow) == [True, True]
        assert await asyncio.gather(*(pool.run(lambda: 1) for _ in range(50))) == [1] * 50

    run(ask())


def test_there_are_no_more_threads_than_may_be(database: Database) -> None:
    async def ask() -> None:
        pool, release, seen = WorkerPool(database, 2), threading.Event(), set[int]()

        def see() -> None:
            seen.add(threading.get_ident())
            release.wait(SOON)

        calls = [asyncio.ensure_future(pool.run(see)) for _ in range(6)]
        while len(seen) < 2:  # noqa: ASYNC110 - threads see, not the loop
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.05)  # in which a third would be there
        release.set()
        await asyncio.gather(*calls)
        assert len(seen) == 2

    run(ask())


def test_an_answer_does_not_wait_for_a_slow_call_behind_it(either: Database) -> None:
    """The call behind waits for the answer itself: together they would wait for ever."""

    async def ask(begin: Callable[[], object] | None) -> None:
        pool, told = WorkerPool(either, 1), threading.Event()

        def slow() -> bool:
            if begin is not None:
                begin()
            return told.wait(SOON)

        release = threading.Event()
        first = asyncio.ensure_future(held(pool, release))
        await asyncio.sleep(0)
        behind = asyncio.ensure_future(pool.run(slow if begin is None else mark_quick(slow)))
        await asyncio.sleep(0)
        release.set()
        await first
        told.set()
        assert await behind

    def write() -> None:
        with either.write():  # which may wait for a lock
            pass

    run(ask(None))
    run(ask(either.pause))
    run(ask(write))


async def until_at_once(reached: Callable[[int], bool], pool: WorkerPool, work: Callable[[], object]) -> None:
    """Run calls until it is true of the most of them that were at work at once."""
    at_work, most = set[int](), 0

    def call() -> None:
        nonlocal most
        at_work.add(threading.get_ident())
        most = max(most, len(at_work))
        work()
        at_work.discard(threading.get_ident())

    while not reached(most):
        most = 0
        await asyncio.gather(*(pool.run(call) for _ in range(30)))


def test_more_are_at_work_only_while_they_wait_more_than_they_work(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What they use of the processors is given here: on a busy machine calls that calculate get little of them."""
    busy = 0.0
    monkeypatch.setattr(worker_pool._LoadSample, "busy_since", lambda _self, _before: busy)

    async def ask() -> None:
        nonlocal busy
        pool = WorkerPool(database, 8, at_once=8)
        # That is progress soon enough for nobody to be replaced, and leaves the processor to another.
        await until_at_once(lambda most: most > 2, pool, partial(time.sleep, 0.002))
        busy = 1.0
        await until_at_once(lambda most: most == 1, pool, partial(time.sleep, 0.002))

    run(ask())


def test_transactions_that_follow_each_other_are_one_commit_and_told_after_it(
    either: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    events: list[str] = []
    commit = WriteSession.commit

    def watched(self: WriteSession) -> None:
        commit(self)
        events.append("commit")

    monkeypatch.setattr(WriteSession, "commit", watched)

    async def ask() -> None:
        pool = WorkerPool(either, 1)

        async def told(call: Callable[[], str]) -> None:
            events.append(await pool.run(call))

        release = threading.Event()
        first = asyncio.ensure_future(held(pool, release))
        await asyncio.sleep(0)
        calls = [mark_quick(lambda name=name: either.transact(insert(name), 1)) for name in "abc"]  # type: ignore[misc]
        calls.append(mark_quick(lambda: "read"))  # behind it nothing follows: the group is committed all the same
        others = [asyncio.ensure_future(told(call)) for call in calls]
        await asyncio.sleep(0)
        release.set()
        await asyncio.gather(first, *others)

    run(ask())
    assert events == ["commit", "a", "b", "c", "read"]
    assert names(either) == {"a", "b", "c"}


def test_where_no_connection_is_spare_each_transaction_is_a_commit(
    either: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Or threads that keep a transaction open could wait for each other's connections."""
    monkeypatch.setattr(either._home, "spare_sessions", threading.Semaphore(0))
    commits: list[WriteSession] = []
    commit = WriteSession.commit
    monkeypatch.setattr(WriteSession, "commit", lambda self: commits.append(commit(self)))
    calls = [mark_quick(lambda name=name: either.transact(insert(name), 1)) for name in "abc"]  # type: ignore[misc]
    assert run(together(WorkerPool(either, 1), *calls)) == ["a", "b", "c"]
    assert len(commits) == 3


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_a_group_does_not_hold_an_account_while_it_waits_for_another(either: Database) -> None:
    with either.write() as transaction:
        owner = principals.find_by_name(transaction, "owner")
        assert owner is not None
        other = ledger_world.new_dataset(transaction, "other", owner)
        accounts.open_account(transaction, ledger_world.SEAL, other, 10, "owner", "at")
        transaction.commit()
    taken = threading.Event()

    def hold_until_a_is_committed() -> None:
        with either.write() as transaction:
            accounts.lock_account(transaction, other.id)
            taken.set()
            assert becomes(lambda: "a" in names(either))

    holding = threading.Thread(target=hold_until_a_is_committed)
    holding.start()
    assert taken.wait(SOON)
    calls = [
        mark_quick(lambda: either.transact(insert("a"), 1)),
        mark_quick(lambda: either.transact(insert("b"), other.id)),
    ]
    assert run(together(WorkerPool(either, 1), *calls)) == ["a", "b"]
    holding.join()


def test_one_that_is_refused_undoes_itself_alone(either: Database) -> None:
    def refused(transaction: WriteSession) -> str:
        principals.insert_principal(transaction, "b", "analyst", b"B" * 32, AT)
        raise LookupError("refused")

    def abandoned(transaction: WriteSession) -> str:
        principals.insert_principal(transaction, "c", "analyst", b"C" * 32, AT)
        return "abandoned"

    works = [insert("a"), refused, abandoned, insert("d")]
    calls = [mark_quick(lambda work=work: either.transact(work, 1)) for work in works]  # type: ignore[misc]
    a, b, c, d = run(together(WorkerPool(either, 1), *calls))
    assert (a, c, d) == ("a", "abandoned", "d")
    assert isinstance(b, LookupError)
    assert names(either) == {"a", "d"}


def test_one_whose_last_statement_fails_undoes_itself_alone(either: Database) -> None:
    """On Postgres the error comes only when the results of all its statements are read."""

    def write_twice(transaction: WriteSession) -> str:
        for _ in range(2):
            transaction.change_one(_ADD, name="b", role="analyst", key_hash=b"B" * 32, created_at="at")
        transaction.commit()
        return "b"

    works = [insert("a"), write_twice, insert("c")]
    calls = [mark_quick(lambda work=work: either.transact(work, 1)) for work in works]  # type: ignore[misc]
    a, b, c = run(together(WorkerPool(either, 1), *calls))
    assert (a, c) == ("a", "c")
    assert isinstance(b, IntegrityError)
    assert names(either) == {"a", "c"}


def test_statements_behind_one_that_fails_can_be_used_again(either: Database) -> None:
    """On Postgres they are skipped, also where the driver was about to prepare them."""

    def fail_first(transaction: WriteSession) -> None:
        transaction.change_one(_ADD, name="owner", role="analyst", key_hash=b"B" * 32, created_at="at")
        transaction.change(_DISABLE, called="owner")
        transaction.commit()

    def disable(transaction: WriteSession) -> None:
        transaction.change_one(_DISABLE, called="owner")
        transaction.commit()

    for _ in range(10):  # the driver prepares what was used five times
        either.transact(disable, 1)
        with suppress(IntegrityError):
            either.transact(fail_first, 1)
    with either.read() as session:
        found = principals.find_by_name(session, "owner")
        assert found is not None
        assert found.disabled_at == "at"


def test_nobody_is_told_of_what_was_not_committed(either: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    commit = WriteSession.commit

    async def ask() -> None:
        pool = WorkerPool(either, 1)
        calls = [mark_quick(lambda name=name: either.transact(insert(name), 1)) for name in "abc"]  # type: ignore[misc]
        reads = mark_quick(lambda: "read")
        monkeypatch.setattr(WriteSession, "commit", slow_failing_commit())
        a, b, read, c = await together(pool, calls[0], calls[1], reads, calls[2])
        assert [type(each) for each in (a, b, c)] == [UnavailableError] * 3
        assert read == "read"
        assert names(either) == set()
        monkeypatch.setattr(WriteSession, "commit", commit)
        assert await together(pool, *calls) == ["a", "b", "c"]

    run(ask())
    assert names(either) == {"a", "b", "c"}


@pytest.mark.parametrize("begin", ["pause", "write"])
def test_nobody_is_told_before_the_commit_that_a_slow_call_behind_them_makes(
    either: Database, monkeypatch: pytest.MonkeyPatch, begin: str
) -> None:
    """The slow call has the others committed and told before it goes on: in this order."""

    def begin_slow_work() -> str:
        if begin == "pause":
            either.pause()
        else:
            with either.write():
                pass
        return "slow"

    async def ask() -> None:
        calls = [mark_quick(lambda name=name: either.transact(insert(name), 1)) for name in "ab"]  # type: ignore[misc]
        monkeypatch.setattr(WriteSession, "commit", slow_failing_commit())
        a, b, slow = await together(WorkerPool(either, 1), *calls, mark_quick(begin_slow_work))
        assert [type(each) for each in (a, b)] == [UnavailableError] * 2
        assert slow == "slow"

    run(ask())
    assert names(either) == set()


def test_where_sqlite_undoes_everything_nobody_before_is_told_either(database: Database) -> None:
    """As it does on a full disk, whatever savepoints there are."""

    def undone(transaction: WriteSession) -> str:
        transaction._cursor.execute("ROLLBACK")
        raise LookupError("full")

    works = [insert("a"), undone, insert("c")]
    calls = [mark_quick(lambda work=work: database.transact(work, 1)) for work in works]  # type: ignore[misc]
    a, b, c = run(together(WorkerPool(database, 1), *calls))
    assert isinstance(a, UnavailableError)
    assert isinstance(b, LookupError)
    assert c == "c"
    assert names(database) == {"c"}


def test_releases_of_a_group_are_written_once_and_each_is_whole(world: World) -> None:
    calls = [release(world, key) for key in "abcb"]
    a, b, c, again = run(together(WorkerPool(world.database, 1), *calls))
    assert again is None
    assert [entry.release_id for entry in world.entries()[2:]] == [a, b, c]
    assert [entry.spent_nano for entry in world.entries()[2:]] == [1, 2, 3]
    allowance = world.allowance()
    assert allowance is not None
    assert (world.account().spent_nano, allowance.spent_nano) == (3, 3)
    with world.database.read() as session:
        stored = [world.answered(session, key) for key in "abc"]
    assert [each and each.release_id for each in stored] == [a, b, c]


def test_one_of_a_group_reads_what_those_before_it_wrote_and_fails_alone(world: World) -> None:
    """Their rows are not written when it begins, and what it undoes is only its own."""

    def read_and_fail(transaction: WriteSession) -> None:
        (best,) = releases.list_candidates(transaction, 1, "mean of x")
        assert best.id == before_it[0]  # of equal scores the oldest
        released = world.release_of(transaction, 1, "undone")
        newest, before = entries.page_of_entries(transaction, 1, None, 2, newest=True)
        assert (newest.release_id, newest.previous_hash, newest.spent_nano) == (released, before.hash, 3)
        account = accounts.find_account(transaction, 1)
        assert (account.head, account.spent_nano) == (newest.hash, 3)
        raise LookupError("undone")

    def keep(key: str) -> Callable[[], str | None]:
        def call() -> str | None:
            before_it.append(made := release(world, key)())
            return made

        return mark_quick(call)

    before_it: list[str | None] = []
    undone = mark_quick(lambda: world.database.transact(read_and_fail, 1))
    a, b, error, c = run(together(WorkerPool(world.database, 1), keep("a"), keep("b"), undone, keep("undone")))
    assert isinstance(error, LookupError), error
    assert [entry.release_id for entry in world.entries()[2:]] == [a, b, c]
    with world.database.read() as session:
        assert ledger_verification.verify_ledger(session, ledger_world.KEYRING, 1).valid


@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_whose_key_another_process_has_taken_meanwhile_costs_the_others_nothing(
    world: World, database_url: str
) -> None:
    """That shows only when the rows of the whole group are written."""
    world.store("taken")
    other = Database(database_url)

    def take(key: str) -> None:
        with other.write() as transaction:
            if world.claim(transaction, key, "taken"):
                transaction.commit()

    calls = [release(world, "a"), release(world, "b"), release(world, "c", lambda: take("b"))]
    a, b, c = run(together(WorkerPool(world.database, 1), *calls))
    # The same of a group of one, which is committed only after the call behind it.
    last = release(world, "d", lambda: take("d"))
    assert run(together(WorkerPool(world.database, 1), last, mark_quick(lambda: "read"))) == [None, "read"]
    other.close()
    assert b is None
    assert [entry.release_id for entry in world.entries()[2:]] == [a, c]
    assert world.account().spent_nano == 2


def test_one_whose_row_cannot_be_written_fails_alone(world: World) -> None:
    """That too shows only when the rows of the whole group are written."""
    world.store("twice")

    def write_twice(transaction: WriteSession) -> None:
        row = world.row("twice")
        releases.insert_release(transaction, ledger_world.SEAL, row, b"h" * 32, [])
        transaction.commit()

    broken = mark_quick(lambda: world.database.transact(write_twice, world.dataset.id))
    a, error, c = run(together(WorkerPool(world.database, 1), release(world, "a"), broken, release(world, "c")))
    assert isinstance(error, IntegrityError)
    assert [entry.release_id for entry in world.entries()[2:]] == [a, c]


def test_a_transaction_of_its_own_does_not_wait_for_the_group_of_its_thread(either: Database) -> None:
    """As that of an administrator's call that comes between releases."""

    def alone() -> str:
        with either.write() as transaction:
            return insert("b")(transaction)

    calls = [
        mark_quick(lambda: either.transact(insert("a"), 1)),
        mark_quick(alone),
        mark_quick(lambda: either.transact(insert("c"), 1)),
    ]
    assert run(together(WorkerPool(either, 1), *calls)) == ["a", "b", "c"]
    assert names(either) == {"a", "b", "c"}


def test_a_refusal_that_saw_what_was_undone_is_no_refusal(either: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    """What remained when it was refused was what nobody had, in the end."""

    def refused(transaction: WriteSession) -> None:
        raise LookupError(principals.find_by_name(transaction, "a"))

    async def ask() -> None:
        pool = WorkerPool(either, 1)
        calls = [
            mark_quick(lambda: either.transact(insert("a"), 1)),
            mark_quick(lambda: either.transact(refused, 1)),
        ]
        assert [type(each) for each in await together(pool, *calls)] == [str, LookupError]
        monkeypatch.setattr(WriteSession, "commit", slow_failing_commit())
        calls[0] = mark_quick(lambda: either.transact(insert("b"), 1))
        assert [type(each) for each in await together(pool, *calls)] == [UnavailableError] * 2

    run(ask())


def test_what_is_done_once_it_is_durable_is_done_for_what_is(either: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[tuple[str, set[str]]] = []

    def writes(name: str) -> Callable[[], str]:
        def call() -> str:
            written = either.transact(insert(name), 1)
            either.when_durable(lambda: said.append((f"{name} {spoken.get()}", names(either))))
            return written

        return mark_quick(call)

    async def ask(*written: str, fail: bool = False) -> list[Any]:
        spoken.set("said")
        if fail:
            monkeypatch.setattr(WriteSession, "commit", slow_failing_commit())
        return await together(WorkerPool(either, 1), *map(writes, written), mark_quick(lambda: "read"))

    assert run(ask("a", "b")) == ["a", "b", "read"]
    assert said == [("a said", {"a", "b"}), ("b said", {"a", "b"})]
    assert [type(each) for each in run(ask("c", fail=True))] == [UnavailableError, str]
    assert len(said) == 2


def test_nobody_waits_for_another_process_who_need_not(database: Database) -> None:
    """The lock is taken by somebody who lets it go when the answer before has been told."""
    told = threading.Event()

    def take_and_wait() -> None:
        with database.write():
            taken.set()
            assert told.wait(SOON)

    taken = threading.Event()
    other = threading.Thread(target=take_and_wait)
    other.start()
    assert taken.wait(SOON)

    async def ask() -> None:
        pool, release = WorkerPool(database, 1), threading.Event()
        first = asyncio.ensure_future(held(pool, release))
        await asyncio.sleep(0)
        behind = asyncio.ensure_future(pool.run(mark_quick(lambda: database.transact(insert("a"), 1))))
        await asyncio.sleep(0)
        release.set()
        await first
        told.set()
        assert await behind == "a"

    run(ask())
    other.join()
