"""A dataset with an account of 10^9 units (ε = 1), its owner, and an analyst who may spend all of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from app.db.clock import now
from app.db.database import Database, WriteSession
from app.db.repositories import datasets, principals
from app.db.repositories.datasets import Dataset
from app.db.repositories.principals import Principal
from app.db.session import Session
from app.db.time_ordered_ids import time_ordered_id
from app.ledger import accounts, allowances, dataset_states
from app.ledger.account import Account
from app.ledger.answers import idempotency, releases
from app.ledger.answers.idempotency import Claim, ReplayableAnswer
from app.ledger.answers.releases import SMALLEST_BOUND, Release
from app.ledger.chain import audit_log, entries, facts
from app.ledger.chain.audit_log import Actor
from app.ledger.chain.keyring import Keyring

LIMIT_NANO = 10**9
FINGERPRINT = b"f" * 32
SECRET = "the secret of the ledger of these tests"  # noqa: S105 - no secret
KEYRING = Keyring([SECRET])
SEAL = KEYRING.seal


@dataclass(frozen=True)
class World:
    database: Database
    owner: Principal
    analyst: Principal
    dataset: Dataset

    def account(self) -> accounts.Account:
        with self.database.read() as session:
            return accounts.find_account(session, self.dataset.id)

    def account_seal(self) -> tuple[bytes | None, bytes | None]:
        account = self.account()
        return account.facts_hash, account.seal

    def allowance(self) -> allowances.Allowance | None:
        with self.database.read() as session:
            return allowances.find_allowance(session, self.dataset.id, self.analyst.id)

    def entries(self) -> list[entries.Entry]:
        with self.database.read() as session:
            return entries.page_of_entries(session, self.dataset.id, 0, 1000)

    def release_of(self, transaction: WriteSession, cost_nano: int, key: str | None = None) -> str | None:
        """A release as the service commits it, up to the commit; its id, or None where the key is taken."""
        release_id, at = time_ordered_id(), now()
        if key is not None and not self.claim(transaction, key, release_id, at):
            return None
        account = self.debit(transaction, cost_nano)
        allowance = allowances.debit(transaction, self.dataset.id, self.analyst.id, cost_nano)
        if allowance.window is not None:
            at = transaction.time()
        row = self.row(release_id, cost_nano, at)
        answer_hash = sha256(row.response).digest()
        entries.append_entry(
            *(transaction, SEAL, account, "debit", self.analyst.name, cost_nano, at),
            release_id=release_id,
            answer_hash=answer_hash,
        )
        slots = [(row.statistic, -3, 0.5), (row.statistic, SMALLEST_BOUND, 0.25)]
        releases.insert_release(transaction, SEAL, row, answer_hash, slots)
        return release_id

    def claim(self, transaction: WriteSession, key: str, release_id: str, at: str = "at") -> bool:
        claimed = Claim(self.analyst.id, key, FINGERPRINT, at)
        return idempotency.claim_key(transaction, SEAL, claimed, release_id, 201)

    def debit(self, transaction: WriteSession, cost_nano: int) -> Account:
        return accounts.debit(transaction, self.dataset.id, facts.hash_facts(self.dataset), cost_nano)

    def answered(self, session: Session, key: str, principal_id: int | None = None) -> ReplayableAnswer | None:
        return idempotency.find_answer(session, session, KEYRING, principal_id or self.analyst.id, key)

    def close(self) -> None:
        with self.database.write() as transaction:
            dataset_states.close(transaction, KEYRING, self.dataset.id, self.owner.name, now())
            transaction.commit()

    def release(self, cost_nano: int, key: str | None = None) -> str | None:
        with self.database.write() as transaction:
            release_id = self.release_of(transaction, cost_nano, key)
            if release_id is not None:
                transaction.commit()
            return release_id

    def row(self, release_id: str, cost_nano: int = 1, at: str = "2026-01-01T00:00:00.000000Z") -> Release:
        return Release(
            id=release_id,
            dataset_id=self.dataset.id,
            principal_id=self.analyst.id,
            statistic="mean of x",
            epsilon_nano=cost_nano,
            gamma="1/20",
            grid_refinement=0,
            created_at=at,
            response=f'{{"id":"{release_id}"}}'.encode(),
        )

    def store(self, release_id: str, candidacies: Sequence[tuple[int, float]] = (), **changed: object) -> None:
        """A release that nobody paid for, where only its storing matters."""
        release = Release(**{name: getattr(self.row(release_id), name) for name in Release.__slots__} | changed)
        with self.database.write() as transaction:
            slots = [(release.statistic, *candidacy) for candidacy in candidacies]
            releases.insert_release(transaction, SEAL, release, sha256(release.response).digest(), slots)
            transaction.commit()


def recorded(transaction: WriteSession, name: str, role: str, digest: bytes) -> Principal:
    """A principal with the record that the service would have written of it."""
    made = principals.insert_principal(transaction, name, role, digest, now())
    details = {"role": role, "key_seal": audit_log.key_seal(SEAL, digest), "key_expires_at": None}
    audit_log.append_record(
        transaction, SEAL, Actor("service"), "principal.create", f"principals/{name}", details, None
    )
    return made


def create(database: Database) -> World:
    with database.write() as transaction:
        owner = recorded(transaction, "owner", "owner", b"o" * 32)
        analyst = recorded(transaction, "analyst", "analyst", b"a" * 32)
        dataset = new_dataset(transaction, "penguins", owner)
        accounts.open_account(transaction, SEAL, dataset, LIMIT_NANO, owner.name, now())
        allowances.grant_allowance(transaction, SEAL, dataset.id, analyst, LIMIT_NANO, now())
        transaction.commit()
    return World(database, owner, analyst, dataset)


def new_dataset(transaction: WriteSession, name: str, owner: Principal) -> Dataset:
    return datasets.insert_dataset(
        transaction,
        name=name,
        description="",
        owner_id=owner.id,
        columns="{}",
        n=344,
        rows_per_unit=1,
        created_at=now(),
        file_id="file",
    )
