"""The heads of all chains, which a checkpoint stores and a ledger is later compared with."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import bindparam, select

from app.db.session import Session
from app.db.tables import accounts, datasets, entries
from app.ledger.chain import audit_log


@dataclass(frozen=True, slots=True)
class Head:
    """The last entry of a dataset's chain at some time: its number, its hash, and the total spending up to it."""

    dataset: str
    seq: int
    hash: bytes
    spent_nano: int


_ALL = select(datasets.c.name, accounts.c.last_seq, accounts.c.head, accounts.c.spent_nano).join_from(
    accounts, datasets, datasets.c.id == accounts.c.dataset_id
)
_ENTRY = (
    select(datasets.c.name, entries.c.seq, entries.c.hash, entries.c.spent_nano)
    .join_from(entries, datasets, datasets.c.id == entries.c.dataset_id)
    .join(accounts, accounts.c.dataset_id == entries.c.dataset_id)
    .where(
        datasets.c.name == bindparam("dataset"),
        entries.c.seq == bindparam("number"),
        accounts.c.last_seq >= entries.c.seq,
        accounts.c.spent_nano >= entries.c.spent_nano,
    )
)
_LAST_SECRETS = (
    select(entries.c.secret_id)
    .join_from(
        accounts,
        entries,
        (entries.c.dataset_id == accounts.c.dataset_id) & (entries.c.seq == accounts.c.last_seq),
    )
    .distinct()
)


def list_heads(session: Session) -> list[Head]:
    """The head of every chain, sorted by the datasets' names."""
    return sorted((Head(*row) for row in session.rows(_ALL)), key=lambda head: head.dataset)


def find_behind(session: Session, known: Sequence[Head]) -> list[str]:
    """The names of the datasets whose chain does not contain its known head: entries are missing or were replaced."""
    return [
        head.dataset
        for head in known
        if (row := session.row(_ENTRY, dataset=head.dataset, number=head.seq)) is None or Head(*row) != head
    ]


def list_secret_ids(session: Session) -> list[str | None]:
    """The ids of the secrets that sealed the last entry of each chain and the last record of the audit log."""
    of_record = audit_log.find_last_secret_id(session)
    return [row.secret_id for row in session.rows(_LAST_SECRETS)] + ([] if of_record is None else [of_record])
