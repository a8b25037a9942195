"""Whatever is done in whatever order, the ledger is what an exact model says, after every step."""

import itertools
from functools import partial
from typing import Any

import hypothesis.strategies as st
import ledger_model
import pytest
from faulty_world import Breakable
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from ledger_model import ONE, text
from lengths import LONGER
from service_world import X_COLUMNS, a_name, numbers_csv

from app.db.clock import days_after, now
from app.db.repositories import datasets
from app.db.session import Session
from app.errors import ConflictError
from app.ledger import accounts

START = "2026-01-01T00:00:00.000000Z"
LIMITS = st.sampled_from([3, 20, 10, 5, 0, 1]).map(lambda tenths: tenths * ONE // 10)
COSTS = st.sampled_from([3, 1, 2]).map(lambda tenths: tenths * ONE // 10)
PRINCIPALS = st.sampled_from(["first", "second"])
STATISTIC = st.sampled_from(["wide", "narrow"])
MAX_SHARED_KEYS = 6
STATISTICS = {"wide": [0, 100], "narrow": [0, 50]}


class Ledger(RuleBasedStateMachine):
    """One dataset of the service under test, and its model."""

    world: Breakable

    @initialize(limit=st.sampled_from([20 * ONE, ONE]), days=st.sampled_from([None, 7]))
    def open(self, limit: int, days: int | None) -> None:
        table, self.name = self.world.table, a_name("table")
        service = table.service
        columns = X_COLUMNS
        metadata = {"name": self.name, "epsilon_limit": text(limit), "columns": columns}
        assert service.upload(table.owner, metadata, numbers_csv(20).encode()).status_code == 201
        self.path = f"/v1/datasets/{self.name}"
        self.owner = table.owner
        analysts = [service.principal("analyst") for _ in range(2)]
        self.clients = dict(zip(("first", "second"), analysts, strict=True))
        self.model = ledger_model.Budget(limit)
        self.world.patch.setattr(Session, "time", lambda _: days_after(START, self.model.day))
        self.fresh_keys = itertools.count(MAX_SHARED_KEYS)
        self.allow("first", ONE, days)
        self.allow("second", 2 * ONE, None)

    @rule(principal=PRINCIPALS, limit=LIMITS, days=st.sampled_from([None, 1, 7]))
    def allow(self, principal: str, limit: int, days: int | None) -> None:
        path = f"{self.path}/allowances/{self.clients[principal][0]}"
        answer = self.owner.put(path, json={"epsilon_limit": text(limit), "window_days": days})
        assert answer.status_code == self.model.allow(principal, limit, days)

    @precondition(lambda self: any(map(self.model.sees, self.clients)))
    @rule(principal=PRINCIPALS)
    def revoke(self, principal: str) -> None:
        answer = self.owner.delete(f"{self.path}/allowances/{self.clients[principal][0]}")
        assert answer.status_code == self.model.revoke(principal)

    @rule(change=st.sampled_from([-ONE // 10, ONE, 0, 10 * ONE]), cost=COSTS)
    def adjust(self, change: int, cost: int) -> None:
        """To a limit around what is spent."""
        self.debit("second", "narrow", [cost])
        limit = max(0, self.model.spent + change)
        body = {"epsilon_limit": text(limit), "reason": "the model says so"}
        answer = self.owner.post(f"{self.path}/budget/adjustments", json=body)
        assert answer.status_code == self.model.adjust(limit)

    @rule(principal=PRINCIPALS, statistic=STATISTIC, costs=st.lists(COSTS, min_size=1, max_size=4))
    def debit(self, principal: str, statistic: str, costs: list[int]) -> None:
        for cost in costs:
            self.release(principal, statistic, cost, next(self.fresh_keys), reuse=False)

    @rule(principal=PRINCIPALS, statistic=STATISTIC, costs=st.lists(COSTS, min_size=2, max_size=4))
    def ask(self, principal: str, statistic: str, costs: list[int]) -> None:
        for cost in costs:
            self.release(principal, statistic, cost, next(self.fresh_keys), reuse=True)

    @rule(
        principal=PRINCIPALS,
        statistic=STATISTIC,
        cost=COSTS,
        reuse=st.booleans(),
        key=st.integers(0, MAX_SHARED_KEYS - 1),
    )
    def release(self, principal: str, statistic: str, cost: int, key: int, *, reuse: bool) -> None:
        """A debit, a replay, a reuse, or a refusal: the model knows which."""
        asked = {"kind": "mean", "column": "x", "bounds": STATISTICS[statistic]}
        body: dict[str, Any] = {"statistic": asked, "epsilon": text(cost), "reuse": reuse}
        client, model = self.clients[principal][1], self.model
        answer = client.post(f"{self.path}/releases", json=body, headers={"Idempotency-Key": f"{self.name} {key}"})
        if not model.sees(principal):
            assert answer.status_code == 404
            return
        if (principal, key) in model.keys:
            request, content = model.keys[principal, key]
            assert (answer.content == content) if request == body else (answer.status_code == 422)
            return
        refusal, earlier = model.refusal(principal, statistic, cost, reuse=reuse), model.earlier(statistic, cost)
        if refusal is not None:
            assert answer.status_code == refusal
            return
        model.keys[principal, key] = body, answer.content
        if reuse and earlier is not None:
            assert (answer.status_code, answer.json()["id"], answer.json()["budget"]["charged"]) == (200, earlier, "0")
            return
        assert answer.status_code == 201, answer.text
        model.debit(principal, statistic, cost, answer.json()["id"])

    @rule(days=st.sampled_from([7, 1, 3, 40]), principal=PRINCIPALS, costs=st.lists(COSTS, max_size=4))
    def pass_days(self, days: int, principal: str, costs: list[int]) -> None:
        self.model.pass_days(days)
        self.debit(principal, "wide", costs)

    @rule(cost=COSTS)
    def write_off(self, cost: int) -> None:
        """As the operator's command does it."""
        seal = self.world.application.state.services.keyring.seal
        refusal = self.model.write_off(cost)
        with self.world.database.write() as transaction:
            dataset = datasets.find_dataset(transaction, self.name)
            doing = partial(
                accounts.write_off_spending, transaction, seal, dataset.id, cost, "admin", "in doubt", now()
            )
            if refusal == 409:
                with pytest.raises(ConflictError):
                    doing()
                return
            doing()
            transaction.commit()

    @precondition(lambda self: len(self.model.kinds) > 8)
    @rule()
    def close(self) -> None:
        assert self.owner.delete(self.path).status_code == self.model.close()

    @rule()
    def restart(self) -> None:
        self.world.restart()

    @invariant()
    def the_ledger_is_what_the_model_says(self) -> None:
        if not hasattr(self, "model"):
            return
        model = self.model
        budget = self.owner.get(f"{self.path}/budget").json()
        entries = self.owner.get(f"{self.path}/ledger", params={"limit": 1000}).json()["entries"]
        assert 0 <= model.spent <= model.limit
        assert (budget["epsilon_limit"], budget["epsilon_spent"]) == (text(model.limit), text(model.spent))
        assert [entry["kind"] for entry in entries] == model.kinds
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
        debits = [(entry["epsilon"], entry["release_id"]) for entry in entries if entry["kind"] == "debit"]
        assert debits == [(text(cost), release_id) for _, cost, release_id in model.releases]
        assert sum(cost for _, cost, _ in model.releases) + model.written_off == model.spent
        assert entries[-1]["epsilon_spent"] == text(model.spent)
        shown = {allowance["principal"]: allowance for allowance in budget["allowances"]}
        assert len(shown) == len(model.allowances)
        for principal, allowance in model.allowances.items():
            seen = shown[self.clients[principal][0]]
            assert (seen["epsilon_limit"], seen["epsilon_spent"]) == (text(allowance.limit), text(allowance.spent))
            window = allowance.days and {
                "days": allowance.days,
                "started_at": days_after(START, allowance.started),
                "ends_at": days_after(START, allowance.started + allowance.days),
            }
            assert seen["window"] == window
        assert self.owner.get(f"{self.path}/ledger/verification").json()["valid"] is True


def _explore(breakable: Breakable, examples: int, steps: int) -> None:
    machine = type("Explored", (Ledger,), {"world": breakable})
    chosen = settings(
        max_examples=examples,
        stateful_step_count=steps,
        derandomize=True,
        database=None,
        phases=[Phase.generate],  # a shorter way to a failure is not worth its minutes
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(machine, settings=chosen)


@pytest.mark.slow
@pytest.mark.timeout(1200 * LONGER)
def test_the_ledger_is_what_an_exact_model_says(breakable: Breakable) -> None:
    _explore(breakable, 8 * LONGER, 50)
