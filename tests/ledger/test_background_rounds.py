"""A round of verification: a ledger that makes it fail hides nothing about the others."""

from types import SimpleNamespace
from typing import Any, cast

import pytest
from ledger_world import KEYRING, World, new_dataset
from sqlalchemy import delete

from app import metrics
from app.db.tables import verifications
from app.ledger.verification import latest_verification
from app.ledger.verification.results import Verification
from app.services.context import Services
from app.services.operations import full_verification, ledger_secrets
from app.services.operations.background_verification import BackgroundVerification


def test_a_ledger_that_cannot_be_verified_counts_as_invalid_and_others_are_verified(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    with world.database.write() as transaction:
        new_dataset(transaction, "whales", world.owner)  # its account is missing
        transaction.commit()
    told: dict[str, float] = {}
    monkeypatch.setattr(ledger_secrets, "load_keyring", lambda _: KEYRING)
    monkeypatch.setattr(metrics, "LEDGERS_INVALID", SimpleNamespace(set=lambda found: told.update(invalid=found)))
    monkeypatch.setattr(metrics, "LEDGERS_VERIFIED", SimpleNamespace(set=lambda at: told.update(at=at)))
    settings = SimpleNamespace(verify_seconds=0)
    services = cast("Services", SimpleNamespace(settings=settings, database=world.database, keyring=KEYRING))
    rounds = BackgroundVerification(services)
    rounds._round()
    before = told.copy()
    verify = full_verification.verify_dataset

    def verify_others(session: Any, keyring: Any, name: str, *, incremental: bool) -> Verification:
        if name == world.dataset.name:
            raise TypeError("a value that nobody expects")
        return verify(session, keyring, name, incremental=incremental)

    monkeypatch.setattr(full_verification, "verify_dataset", verify_others)
    with world.database.write() as transaction:
        transaction.change(delete(verifications))
        transaction.commit()
    rounds._round()
    assert told["invalid"] == before["invalid"] + 1
    assert told["at"] > before["at"]
    with world.database.read() as session:
        found = [
            latest_verification.find_latest(session, KEYRING, f"datasets/{name}") for name in ("penguins", "whales")
        ]
    assert [each and each.problems for each in found] == [None, 1]
