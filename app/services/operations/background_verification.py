"""All ledgers verified again and again while the service runs, so that a ledger that was changed is found unasked.

One process does it of those that share a data directory; another takes over when it ends.
"""

import fcntl
import os
import threading
import time
from typing import Final

import structlog

from app import metrics
from app.errors import SnapledgerError
from app.ledger.chain import checkpoints
from app.ledger.verification import audit_log_verification, ledger_verification
from app.services.context import Services
from app.services.operations import full_verification, ledger_secrets

_FIRST_SECONDS: Final = 60
"""Until the first round, and until it is asked again whether the process that makes them is gone."""

log = structlog.stdlib.get_logger("snapledger.verification")


class BackgroundVerification:
    """The rounds of one process.

    Args:
        services: with the setting of how many seconds are between two rounds; none are made where it is 0.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="verification", daemon=True)

    def begin(self) -> None:
        """Make them from now on."""
        if self._services.settings.verify_seconds:
            self._thread.start()

    def end(self) -> None:
        """Make no more; a dataset's that is being verified is not waited for."""
        self._ended.set()

    def _run(self) -> None:
        every = self._services.settings.verify_seconds
        directory = os.open(self._services.settings.data_dir, os.O_RDONLY)
        ours, pause = False, min(every, _FIRST_SECONDS)
        try:
            while not self._ended.wait(pause):
                ours = ours or _try_lock(directory)
                if ours:
                    self._round()
                    pause = every
        finally:
            os.close(directory)

    def _round(self) -> None:
        """Verify all, each as of a moment of its own, so that no snapshot is held for long."""
        try:
            # Read anew, so that what others sealed under a secret that came since is no false alarm.
            keyring = ledger_secrets.load_keyring(self._services.settings)
            with self._services.database.read() as session:
                names = ledger_verification.list_dataset_names(session)
                found = {checkpoints.ACTS: audit_log_verification.verify_audit_log(session, keyring)}
            for name in names:
                if self._ended.is_set():
                    return
                with self._services.database.read() as session:
                    found[name] = full_verification.verify_dataset(session, keyring, name)
        except SnapledgerError:
            return  # the database is away, which others tell; what was known stays known
        except Exception as error:  # noqa: BLE001 - a defect here must not end the rounds
            log.error("fault", kind=type(error).__name__)  # noqa: TRY400 - its text could hold a value
            return
        wrong = [name for name, each in found.items() if not each.valid]
        for name in wrong:
            log.error("ledger is not valid", ledger=name, problems=len(found[name].problems))
        metrics.LEDGERS_INVALID.set(len(wrong))
        metrics.LEDGERS_VERIFIED.set(time.time())


def _try_lock(directory: int) -> bool:
    """Whether this process is the one; the lock ends with it, however it ends."""
    try:
        fcntl.flock(directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
