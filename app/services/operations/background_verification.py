"""Verifies all ledgers periodically while the service runs, so that a manipulated ledger is found automatically.

Of the processes that share a data directory, one does it. Another takes over when that process ends.
"""

import os
import threading
import time
from typing import Final

import structlog

from app import metrics
from app.db.clock import days_after
from app.db.session import Session
from app.errors import SnapledgerError
from app.ledger.chain import checkpoints
from app.ledger.chain.keyring import Keyring
from app.ledger.verification import audit_log_verification, latest_verification, ledger_verification
from app.ledger.verification.results import Verification
from app.services import audit_records, verification_records
from app.services.context import Services
from app.services.operations import full_verification, ledger_secrets
from app.services.operations.process_locks import try_lock

_FIRST_SECONDS: Final = 60
"""The time before the first round, and between two attempts to take over from another process."""

_MAX_FULL_ENTRIES: Final = 100_000
"""Up to so many entries, which take a few seconds, every round verifies a ledger in full."""

_FULL_DAYS: Final = 1
"""The time between two full verifications of a longer ledger."""

log = structlog.stdlib.get_logger("snapledger.verification")


class BackgroundVerification:
    """The verification thread of one process.

    Args:
        services: the services; their setting `verify_seconds` is the time between two rounds, and 0 means no rounds.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="verification", daemon=True)

    def begin(self) -> None:
        """Start the thread, unless the setting is 0."""
        if self._services.settings.verify_seconds:
            self._thread.start()

    def end(self) -> None:
        """Stop the rounds without waiting for a verification that is running."""
        self._ended.set()

    def _run(self) -> None:
        every = self._services.settings.verify_seconds
        directory = os.open(self._services.settings.data_dir, os.O_RDONLY)
        ours, pause = False, min(every, _FIRST_SECONDS)
        try:
            while not self._ended.wait(pause):
                ours = ours or try_lock(directory)
                if ours:
                    self._round()
                    pause = every
        finally:
            os.close(directory)

    def _round(self) -> None:
        """Verify all ledgers, each in its own snapshot, so that no snapshot is held for long."""
        try:
            # Load the secrets again, so that entries sealed under a new secret cause no false alarm.
            keyring = ledger_secrets.load_keyring(self._services.settings)
            with self._services.database.read() as session:
                names = ledger_verification.list_dataset_names(session)
                found = {checkpoints.ACTS: audit_log_verification.verify_audit_log(session, keyring)}
            unknown = 0
            for name in names:
                if self._ended.is_set():
                    return
                if (each := self._verify(keyring, name)) is None:
                    unknown += 1
                else:
                    found[name] = each
        except SnapledgerError:
            return  # the database does not answer, which is reported elsewhere; keep the old result
        except Exception as error:  # noqa: BLE001 - a defect here must not end the rounds
            log.error("internal error", kind=type(error).__name__)  # noqa: TRY400 - its message could contain a value
            return
        for name, each in found.items():
            ledger = audit_records.AUDIT_LOG if name == checkpoints.ACTS else audit_records.dataset_path(name)
            verification_records.store(self._services, ledger, audit_records.SERVICE, each)
        wrong = [name for name, each in found.items() if not each.valid]
        for name in wrong:
            log.error("ledger is not valid", ledger=name, problems=len(found[name].problems))
        metrics.LEDGERS_INVALID.set(len(wrong) + unknown)
        metrics.LEDGERS_VERIFIED.set(time.time())

    def _verify(self, keyring: Keyring, name: str) -> Verification | None:
        """Verify one ledger; None if that fails, which must not hide what is wrong with the others."""
        try:
            with self._services.database.read() as session:
                incremental = _may_be_incremental(session, keyring, name)
                return full_verification.verify_dataset(session, keyring, name, incremental=incremental)
        except SnapledgerError:
            raise
        except Exception as error:  # noqa: BLE001 - it may hold a value that nobody expects
            # Its message could contain a value.
            log.error("ledger cannot be verified", ledger=name, kind=type(error).__name__)  # noqa: TRY400
            return None


def _may_be_incremental(session: Session, keyring: Keyring, name: str) -> bool:
    """Whether a ledger is so long that it is verified in full only once a day."""
    latest = latest_verification.find_latest(session, keyring, audit_records.dataset_path(name))
    if latest is None or latest.state is None or latest.state.seq <= _MAX_FULL_ENTRIES:
        return False
    return session.time() < days_after(latest.state.full_at, _FULL_DAYS)
