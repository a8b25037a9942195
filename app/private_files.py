"""Files and directories that only the user of the service may read, whatever the umask."""

import logging
import os
from pathlib import Path

logger = logging.getLogger(__name__)

_FILE_MODE, _DIRECTORY_MODE, _OTHERS = 0o600, 0o700, 0o077


def make_private_directory(path: Path) -> None:
    """Create a directory with mode 0700 unless it exists.

    Raises:
        OSError: it cannot be created.
    """
    path.mkdir(mode=_DIRECTORY_MODE, parents=True, exist_ok=True)


def make_private_file(path: Path) -> None:
    """Create an empty file with mode 0600 unless it exists.

    Raises:
        OSError: it cannot be created.
    """
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, _FILE_MODE))


def narrow(path: Path) -> None:
    """Remove other users' permissions on an existing file or directory, and log a change or a failure."""
    try:
        mode = path.stat().st_mode
        if mode & _OTHERS:
            path.chmod(mode & 0o700)
            logger.warning("other users could access %s: its mode is now %o", path, mode & 0o700)
    except FileNotFoundError:
        pass
    except OSError:
        logger.warning("other users can access %s, and its mode cannot be changed", path)
