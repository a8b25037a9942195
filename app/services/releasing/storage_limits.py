"""Limits how many bytes of answers may be stored for a dataset, in total and by one principal.

The limit is compared with what is stored already, before the new answer. An answer that begins below the limit is
stored whatever its size.
"""

from app.config import Settings
from app.errors import StorageExhaustedError
from app.ledger.account import Account
from app.ledger.allowances import Allowance

ROW_BYTES = 1_024
"""The bytes that an answer takes besides its large part: its ending, its entry, its key and the indexes."""


def require_storage(settings: Settings, account: Account, allowance: Allowance | None, added_bytes: int = 0) -> None:
    """Refuse another answer if the storage limit is reached.

    Args:
        settings: the limits.
        account: the dataset's account.
        allowance: the caller's allowance.
        added_bytes: the bytes of this answer that the account and the allowance already count.

    Raises:
        StorageExhaustedError: names the limit that is reached, and how much is stored.
    """
    if allowance is not None:
        _require("allowance", allowance.stored_bytes - added_bytes, settings.max_stored_bytes_per_allowance)
    _require("dataset", account.stored_bytes - added_bytes, settings.max_stored_bytes_per_dataset)


def _require(scope: str, stored_bytes: int, limit_bytes: int) -> None:
    if stored_bytes >= limit_bytes:
        raise StorageExhaustedError(scope, stored_bytes, limit_bytes)
