"""Closes datasets, and deletes their data for good."""

from app.db.clock import now
from app.ledger import dataset_states
from app.services import audit_records
from app.services.access import Access
from app.services.context import Services


def close_dataset(services: Services, entered: Access) -> None:
    """Close a dataset and delete its data and sums. The ledger and the releases stay, and the name stays taken.

    Raises:
        DatasetClosedError: the dataset is closed already.
    """
    entered.require_manager()
    with services.database.write() as transaction:
        principal, seal = entered.principal, services.keyring.seal
        dataset_states.close(transaction, services.keyring, entered.dataset.id, principal.name, now())
        audit_records.record(
            transaction, seal, principal, "dataset.close", audit_records.dataset_path(entered.dataset.name)
        )
        transaction.commit()
    if entered.dataset.file_id is not None:
        services.tables.drop(entered.dataset.file_id)
