"""How many bytes of answers may be stored on a dataset, by all and by one principal.

Decided by what is stored already, which follows from answers that were given: an answer that is begun below the limit
is stored whatever its size.
"""

from app.config import Settings
from app.errors import StorageExhaustedError
from app.ledger.account import Account
from app.ledger.allowances import Allowance

ROW_BYTES = 1_024
"""What an answer takes beyond its large part: its ending, its entry, its key and the indexes."""


def require_storage(settings: Settings, account: Account, allowance: Allowance | None, added_bytes: int = 0) -> None:
    """Refuse another answer where as much is stored as may be.

    Args:
        settings: the limits.
        account: the dataset's.
        allowance: the caller's.
        added_bytes: what both count of this very answer already.

    Raises:
        StorageExhaustedError: which of both it is, and how much there is.
    """
    if allowance is not None:
        _require("allowance", allowance.stored_bytes - added_bytes, settings.max_stored_bytes_per_allowance)
    _require("dataset", account.stored_bytes - added_bytes, settings.max_stored_bytes_per_dataset)


def _require(scope: str, stored_bytes: int, limit_bytes: int) -> None:
    if stored_bytes >= limit_bytes:
        raise StorageExhaustedError(scope, stored_bytes, limit_bytes)
