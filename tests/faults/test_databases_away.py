"""The database is away, busy past the timeout, or full: 503, and the same key is answered once it is back."""

import pytest
from database_troubles import Trouble, away, busy, full
from faulty_world import Breakable, refused

KEY = "k" * 64  # longer than those that filled the database: there is no room for it either


@pytest.mark.slow
@pytest.mark.parametrize(
    ("database_url", "trouble"),
    [("sqlite", busy), ("postgres", busy), ("postgres", away), ("sqlite", full)],
    indirect=["database_url"],
)
def test_a_release_is_refused_until_the_database_is_back(breakable: Breakable, trouble: Trouble) -> None:
    table = breakable.table
    raised = {"epsilon_limit": "1000", "reason": "room"}
    assert table.owner.post(f"{table.path}/budget/adjustments", json=raised).status_code == 201
    table.grant(table.analyst_name, "1000")
    first = breakable.ask("first")
    with trouble(breakable):
        refused(breakable.ask(KEY))
        refused(breakable.ask(KEY))
        if trouble is away:
            refused(breakable.ask("first"))
            refused(table.service.stranger.get("/readyz"))
            assert table.service.stranger.get("/healthz").status_code == 200
        else:
            assert breakable.ask("first").content == first.content  # readers wait for no writer
    spent = breakable.spent()
    paid = breakable.ask(KEY)
    assert paid.status_code == 201
    assert breakable.ask(KEY).content == paid.content
    assert float(breakable.spent()) == pytest.approx(float(spent) + 0.1)


@pytest.mark.slow
@pytest.mark.parametrize("database_url", ["postgres"], indirect=True)
def test_the_server_restarts_between_two_releases(breakable: Breakable) -> None:
    """A broken connection in the pool is nobody's error."""
    first = breakable.ask("first")
    with away(breakable):
        pass
    assert breakable.ask("first").content == first.content
    assert breakable.ask("second").status_code == 201
