"""Write-offs: debits for releases that a restored backup does not contain."""

from app.db.clock import now
from app.db.database import Database
from app.db.repositories import datasets, principals
from app.errors import NO_PRINCIPAL, NotFoundError
from app.ledger import accounts
from app.ledger.account import Account
from app.ledger.chain import facts
from app.ledger.chain.keyring import Keyring
from app.ledger.units import epsilon_text
from app.services import audit_records
from app.services.names import require_name


def write_off(  # noqa: PLR0913, PLR0917 - who, what, how much, why
    database: Database, keyring: Keyring, name: str, cost_nano: int, principal: str, reason: str
) -> Account:
    """Debit a dataset without a release and return the account after the debit.

    Raises:
        NotFoundError: the dataset does not exist, or the principal does not exist or is disabled.
        DatasetClosedError, DatasetStaleError: the dataset is closed or stale.
        BudgetExhaustedError: the remaining budget is smaller than the cost.
        SealBrokenError: the dataset's account does not match its seal.
    """
    with database.write() as transaction:
        dataset = datasets.find_dataset(transaction, require_name(name))
        if dataset is None:
            raise NotFoundError("no dataset has this name")
        decided_by = principals.find_by_name(transaction, require_name(principal))
        if decided_by is None or decided_by.disabled_at is not None:
            raise NotFoundError(NO_PRINCIPAL)
        facts.require_account_sealed(keyring, accounts.lock_open_account(transaction, dataset.id))
        account = accounts.write_off_spending(
            transaction, keyring.seal, dataset.id, cost_nano, decided_by.name, reason, now()
        )
        told = {"epsilon": epsilon_text(cost_nano), "principal": decided_by.name}
        target = audit_records.dataset_path(dataset.name)
        audit_records.record(
            transaction, keyring.seal, audit_records.command_actor(), "budget.write_off", target, **told
        )
        transaction.commit()
    return account
