"""Locks that one of the processes that share a data directory holds."""

import fcntl


def try_lock(descriptor: int) -> bool:
    """Take the lock of an open file or directory, or return False if another process has it.

    The system releases the lock when the process ends.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
