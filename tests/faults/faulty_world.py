"""A service in the test's own process, so that its database can fail where and how the test says."""

import os
import secrets
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
import uvicorn
from fastapi import FastAPI
from openapi_contract import service_contract
from pydantic import SecretStr
from service_world import X_COLUMNS, Service, Table, becomes, free_port, numbers_csv
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError

from app.config import Settings
from app.db import compiled_statements
from app.db.connection_limits import Limits
from app.db.database import Database
from app.main import create_app
from app.services.operations import databases, startup
from app.services.operations.report_worker import ReportWorker

MEAN = {"kind": "mean", "column": "x"}
SHORT = Limits(queue_seconds=0.3, lock_seconds=0.3)  # long enough for calls that come one by one, however slow


@dataclass
class Breakable:
    """A table on a service whose database is `database`."""

    table: Table
    database: Database
    database_url: str
    patch: pytest.MonkeyPatch
    application: FastAPI
    settings: Settings

    @property
    def on_sqlite(self) -> bool:
        return self.database.dialect == "sqlite"

    def restart(self) -> None:
        """What a new process would start from: the database and the files."""
        startup.close_services(self.application.state.services)
        self.application.state.services = services = startup.open_services(self.settings)
        self.database = services.database

    def ask(self, key: str) -> httpx.Response:
        return self.table.release(MEAN, key=key, epsilon="0.1", reuse=False)

    def spent(self) -> str:
        """What is spent, after a look at whether it adds up: a debit for each release, and a key for each."""
        budget, entries = self.table.budget(), self.table.entries()
        debits = {entry["release_id"] for entry in entries if entry["kind"] == "debit"}
        stored = {release["id"] for release in self.table.owner.get(f"{self.table.path}/releases").json()["releases"]}
        rows, _ = self.table.service.footprint()
        assert debits == stored
        assert len(debits) == rows["idempotency"]
        assert budget["epsilon_spent"] == entries[-1]["epsilon_spent"] == budget["allowances"][0]["epsilon_spent"]
        assert float(budget["epsilon_spent"]) == pytest.approx(len(debits) / 10)
        assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
        spent: str = budget["epsilon_spent"]
        return spent

    def failure(self) -> OperationalError:
        """What the driver says when the disk or the server fails."""
        error: Exception = psycopg.OperationalError("the server closed the connection unexpectedly")
        if self.on_sqlite:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR  # type: ignore[attr-defined]
        return OperationalError("", {}, error)

    @contextmanager
    def failing_statement(self, number: int, *, done: bool) -> Iterator[list[int]]:
        """The nth statement of the block fails, before or after the database has done it; how many were run."""
        run, count = compiled_statements._execute, [0]

        def counted(*asked: Any, **options: Any) -> Any:
            count[0] += 1
            if count[0] != number:
                return run(*asked, **options)
            if done:
                run(*asked, **options)
            raise self.failure()

        with self.patch.context() as patch:
            patch.setattr(compiled_statements, "_execute", counted)
            yield count

    @contextmanager
    def failing_commit(self, *, done: bool) -> Iterator[None]:
        """Commits fail in the block, before or after the database has done them."""
        commit = Connection.commit

        def failing(connection: Connection) -> None:
            if done:
                commit(connection)
            raise self.failure()

        with self.patch.context() as patch:
            patch.setattr(Connection, "commit", failing)
            yield


def refused(answer: httpx.Response) -> None:
    """503 with `Retry-After`, and nothing else in it."""
    assert (answer.status_code, answer.headers.get("Retry-After")) == (503, "1"), answer.text
    assert answer.json()["type"] == "/problems/unavailable"


@contextmanager
def running(folder: Path, database_url: str, patch: pytest.MonkeyPatch) -> Iterator[Breakable]:
    """A service on a thread of this process, from when it is ready until it is stopped."""
    opened: list[Database] = []

    def open_impatient(url: str, **options: Any) -> Database:
        opened.append(Database(url, SHORT, **options))
        return opened[-1]

    patch.setattr(databases, "Database", open_impatient)
    # What it asks by itself every few seconds is no statement of a call, and no call waits for it.
    patch.setattr(ReportWorker, "begin", lambda _: None)
    admin_key, port = secrets.token_urlsafe(32), free_port()
    settings = Settings(
        database_url=database_url,
        data_dir=folder / "data",
        admin_key=SecretStr(admin_key),
        rate_limit="off",
        verify_seconds=0,
    )
    application = create_app(settings)
    server = uvicorn.Server(uvicorn.Config(application, port=port, ws="none", log_config=None, access_log=False))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert becomes(lambda: server.started or not thread.is_alive())
        url = f"http://127.0.0.1:{port}"
        service = Service(
            url, admin_key, folder / "data", folder / "log", database_url, os.getpid(), service_contract()
        )
        table = service.table(X_COLUMNS, numbers_csv(20))
        yield Breakable(table, opened[0], database_url, patch, application, settings)
        for client in service.clients:
            client.close()
    finally:
        server.should_exit = True
        thread.join()
