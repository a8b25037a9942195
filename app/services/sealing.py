"""Adds seals to the ledgers of versions that had none, in the transaction of their migration.

First the dataset is compared with existing evidence: the chain, the owner, the state, the record of its registration,
and its stored answers. If they contradict the dataset, it gets no seal, and so requests for it are rejected. Everything
else is sealed in its state at the migration (docs/ledger.md).
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import structlog
from gmpy2 import mpq
from sqlalchemy import bindparam, func, select, type_coerce, update
from sqlalchemy.types import NullType

from app.db.clock import now
from app.db.repositories.datasets import Dataset
from app.db.session import WriteSession
from app.db.tables import audit, datasets, entries, reuse_candidates
from app.db.tables import idempotency as key_table
from app.db.tables import releases as release_table
from app.dp.numbers.exact import json_probability
from app.ledger import accounts
from app.ledger.account import Account
from app.ledger.answers import idempotency, releases
from app.ledger.answers.idempotency import VERSION as KEY_VERSION
from app.ledger.answers.idempotency import Claim, list_sealed_members
from app.ledger.answers.releases import CANDIDATE_VERSION, Release, candidate_members, seal_release
from app.ledger.chain import entries as ledger_entries
from app.ledger.chain import facts
from app.ledger.chain.keyring import Keyring, Seal
from app.ledger.figure_resealing import reseal_figures
from app.ledger.verification import ledger_verification
from app.services import audit_records

log = structlog.stdlib.get_logger("snapledger.sealing")

_DATASET = select(datasets).where(datasets.c.id == bindparam("dataset"))
_FIRST = select(entries.c.principal).where(entries.c.dataset_id == bindparam("dataset"), entries.c.seq == 1)
_CLOSES = select(func.count().label("found")).where(
    entries.c.dataset_id == bindparam("dataset"), entries.c.kind == "close"
)
_REGISTERED = select(audit.c.details).where(audit.c.action == "dataset.register", audit.c.target == bindparam("path"))
_NEXT = (
    select(release_table)
    .where(release_table.c.dataset_id == bindparam("dataset"), release_table.c.id > bindparam("after"))
    .order_by(release_table.c.id)
    .limit(1)
)
_SEAL_RELEASE = (
    update(release_table).where(release_table.c.id == bindparam("sealed")).values(seal=bindparam("new_seal"))
)
_CANDIDATES = (
    select(
        reuse_candidates.c.statistic,
        reuse_candidates.c.slot,
        type_coerce(reuse_candidates.c.score, NullType()).label("score"),  # as the driver has it: a float
        reuse_candidates.c.release_id,
    )
    .join(release_table, release_table.c.id == reuse_candidates.c.release_id)
    .where(
        reuse_candidates.c.dataset_id == bindparam("dataset"),
        release_table.c.dataset_id == reuse_candidates.c.dataset_id,
        release_table.c.statistic == reuse_candidates.c.statistic,
    )
)
_SEAL_CANDIDATE = (
    update(reuse_candidates)
    .where(
        reuse_candidates.c.dataset_id == bindparam("dataset"),
        reuse_candidates.c.statistic == bindparam("of_statistic"),
        reuse_candidates.c.slot == bindparam("in_slot"),
    )
    .values(seal=bindparam("new_seal"))
)
_KEYS = select(
    key_table.c.principal_id,
    key_table.c.key,
    key_table.c.fingerprint,
    key_table.c.status,
    key_table.c.created_at,
).where(key_table.c.release_id == bindparam("answering"))
_SEAL_KEY = (
    update(key_table)
    .where(key_table.c.principal_id == bindparam("principal"), key_table.c.key == bindparam("claimed"))
    .values(seal=bindparam("new_seal"))
)


def seal_ledgers(transaction: WriteSession, keyring: Keyring) -> None:
    """Seal every dataset that was never sealed, unless the evidence contradicts it. Sealed datasets are not changed.

    Replace the seals of figures from before it was stored which versions are shown.
    """
    for account in accounts.list_accounts(transaction):
        if account.facts_hash is None and account.seal is None:
            _seal_ledger(transaction, keyring, account)
    reseal_figures(transaction, keyring)


def _seal_ledger(transaction: WriteSession, keyring: Keyring, account: Account) -> None:
    dataset = Dataset(*transaction.row(_DATASET, dataset=account.dataset_id))
    found = ledger_verification.verify_ledger(transaction, keyring, dataset.id)
    if [problem.what for problem in found.problems] != [ledger_verification.UNSEALED] or not _is_as_recorded(
        transaction, dataset
    ):
        log.error("not sealed: its record contradicts it", dataset=dataset.name)
        return
    kind: ledger_entries.Kind = "stale" if dataset.stale else "seal"
    name, facts_hash = transaction.row(_FIRST, dataset=dataset.id).principal, facts.hash_facts(dataset)
    ledger_entries.append_entry(transaction, keyring.seal, account, kind, name, 0, now(), facts_hash=facts_hash)
    for release in _releases(transaction, dataset.id):
        body = releases.response_body(transaction, release.id)
        if _is_as_answered(release, json.loads(body.content()), dataset):
            answer_hash = body.sha256()
            new_seal = seal_release(keyring.seal, release, answer_hash)
            transaction.change(_SEAL_RELEASE, sealed=release.id, new_seal=new_seal)
            _seal_keys(transaction, keyring.seal, release)
        else:
            log.error("not sealed: its answer contradicts it", dataset=dataset.name, release=release.id)
    for row in transaction.rows(_CANDIDATES, dataset=dataset.id):
        members = candidate_members(dataset.id, row.statistic, row.slot, row.score, row.release_id)
        new_seal = keyring.seal.seal_row(CANDIDATE_VERSION, *members)
        where = {"dataset": dataset.id, "of_statistic": row.statistic, "in_slot": row.slot}
        transaction.change(_SEAL_CANDIDATE, **where, new_seal=new_seal)


def _is_as_recorded(transaction: WriteSession, dataset: Dataset) -> bool:
    """Whether the stored dataset agrees with its entries, its registration and its first answer."""
    if dataset.closed != (transaction.row(_CLOSES, dataset=dataset.id).found == 1):
        return False
    registered = transaction.row(_REGISTERED, path=audit_records.dataset_path(dataset.name))
    if registered is not None and json.loads(registered.details).get("rows_per_unit") != dataset.rows_per_unit:
        return False
    row = transaction.row(_NEXT, dataset=dataset.id, after="")
    return row is None or _says(json.loads(releases.response_body(transaction, row.id).content()), dataset)


def _says(answer: Mapping[str, Any], dataset: Dataset) -> bool:
    """Whether the answer's name, n and rows per unit are those of this dataset."""
    told = answer["dataset"], answer["privacy"]["n"], answer["privacy"]["rows_per_unit"]
    return told == (dataset.name, dataset.n, dataset.rows_per_unit)


def _is_as_answered(release: Release, answer: Mapping[str, Any], dataset: Dataset) -> bool:
    """Whether the stored release agrees with its answer, whose hash is in the chain."""
    mechanism, kind = answer["mechanism"], answer["statistic"]["kind"]
    return (
        _says(answer, dataset)
        and release.statistic.startswith((f'["{kind}"', f"{kind}:"))
        and (mechanism["gamma"], mechanism["grid_refinement"])
        == (json_probability(mpq(release.gamma)), release.grid_refinement)
    )


def _seal_keys(transaction: WriteSession, seal: Seal, release: Release) -> None:
    """Seal the keys of a release. A key without its own body must belong to the principal that made the release."""
    for row in transaction.rows(_KEYS, answering=release.id):
        body = idempotency.own_body(transaction, row.principal_id, row.key)
        if body is None and (row.principal_id, row.status) != (release.principal_id, 201):
            log.error("not sealed: a key of somebody else", release=release.id)
            continue
        claim = Claim(row.principal_id, row.key, row.fingerprint, row.created_at)
        new_seal = seal.seal_row(
            KEY_VERSION, *list_sealed_members(claim, release.id, row.status, None if body is None else body.sha256())
        )
        transaction.change(_SEAL_KEY, principal=row.principal_id, claimed=row.key, new_seal=new_seal)


def _releases(transaction: WriteSession, dataset_id: int) -> Iterator[Release]:
    """Yield all releases of a dataset one at a time, because an answer may be large."""
    after = ""
    while (row := transaction.row(_NEXT, dataset=dataset_id, after=after)) is not None:
        yield (release := Release(*row))
        after = release.id
