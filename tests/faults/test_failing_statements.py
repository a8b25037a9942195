"""Whatever statement fails: 503, never a 2xx without a committed entry, never a debit without a stored answer."""

import pytest
from faulty_world import Breakable, refused
from lengths import ON_POSTGRES_SLOWLY

MAX_STATEMENTS = 40
MIN_STATEMENTS = {True: 9, False: 4}  # on SQLite, and on Postgres, which gets several changes in one statement


@ON_POSTGRES_SLOWLY
@pytest.mark.parametrize("done", [False, True], ids=["not done", "done"])
def test_the_nth_statement_fails(breakable: Breakable, *, done: bool) -> None:
    """Every n, until a release needs no more statements than that."""
    breakable.ask("warm")  # what a process finds out once is not asked again
    for number in range(1, MAX_STATEMENTS):
        spent, key = breakable.spent(), f"key {number}"
        with breakable.failing_statement(number, done=done) as count:
            answer = breakable.ask(key)
        if count[0] < number:
            assert answer.status_code == 201
            assert number >= MIN_STATEMENTS[breakable.on_sqlite]
            return
        refused(answer)
        assert breakable.spent() == spent
        paid = breakable.ask(key)
        assert paid.status_code == 201
        assert breakable.ask(key).content == paid.content
        assert float(breakable.spent()) == pytest.approx(float(spent) + 0.1)
        if number % 3 == 0:  # the limit is there for the next ones
            raised = {"epsilon_limit": str(20 + number), "reason": "more faults"}
            assert breakable.table.owner.post(f"{breakable.table.path}/budget/adjustments", json=raised).is_success
            breakable.table.grant(breakable.table.analyst_name, str(20 + number))
    pytest.fail("a release has too many statements")


@ON_POSTGRES_SLOWLY
def test_a_commit_that_fails_charges_nothing(breakable: Breakable) -> None:
    with breakable.failing_commit(done=False):
        refused(breakable.ask("k"))
    assert breakable.spent() == "0"
    paid = breakable.ask("k")
    assert (paid.status_code, "Idempotency-Replayed" in paid.headers) == (201, False)
    assert breakable.spent() == "0.1"


@ON_POSTGRES_SLOWLY
def test_a_commit_of_unknown_outcome_is_answered_by_its_key(breakable: Breakable) -> None:
    """The debit is there with its answer, which was shown to nobody yet."""
    with breakable.failing_commit(done=True):
        refused(breakable.ask("k"))
    assert breakable.spent() == "0.1"
    paid = breakable.ask("k")
    assert (paid.status_code, paid.headers["Idempotency-Replayed"]) == (201, "true")
    assert breakable.ask("k").content == paid.content
    assert breakable.spent() == "0.1"


@ON_POSTGRES_SLOWLY
@pytest.mark.parametrize("done", [False, True], ids=["not done", "done"])
def test_a_commit_that_fails_closes_every_other_change_too(breakable: Breakable, *, done: bool) -> None:
    table = breakable.table
    with breakable.failing_commit(done=done):
        refused(table.owner.put(f"{table.path}/allowances/admin", json={"epsilon_limit": 1}))
        refused(table.owner.post(f"{table.path}/budget/adjustments", json={"epsilon_limit": 20, "reason": "more"}))
        refused(table.owner.delete(f"{table.path}/allowances/{table.analyst_name}"))
    changed = [entry["kind"] for entry in table.entries()[2:]]
    assert changed == (["allow", "adjust", "revoke"] if done else [])
