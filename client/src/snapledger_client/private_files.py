"""Files that only their owner can read, and the directory where they are."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover - on Windows, processes of one user that renew at once may have to sign in again
    fcntl = None  # type: ignore[assignment]


def find_directory() -> Path:
    """Return the directory of the user's settings for Snapledger."""
    from typer import get_app_dir  # noqa: PLC0415 - slow to import, and only needed with a file

    return Path(get_app_dir("snapledger"))


def write_private(path: Path, text: str) -> None:
    """Replace a file. Only its owner can read it, from the first byte on."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-")  # created with mode 0600
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


@contextmanager
def try_lock(path: Path) -> Iterator[bool]:
    """Lock a file of its own beside `path` against other processes, and yield whether it was free."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        is_free = True
        if fcntl is not None:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                is_free = False
        yield is_free
    finally:
        os.close(descriptor)
