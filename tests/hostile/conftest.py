"""Everything here is hostile: floods and bombs against a service that has 1 GiB of memory."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
import pytest
from hostile_world import Target, start_target
from sqlalchemy import make_url

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder."""
    for item in items:
        if _HERE in item.path.parents:
            item.add_marker(pytest.mark.hostile)


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """On the disk: the files of a target in memory would be part of its GiB."""
    with tempfile.TemporaryDirectory(prefix="snapledger-hostile-") as directory:
        yield Path(directory)


@pytest.fixture
def start(
    tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> Callable[..., AbstractContextManager[Target]]:
    """Starts a target: `with start(dialect, *options, **settings) as target`; its end asserts that all went well."""

    @contextmanager
    def starting(dialect: str = "sqlite", *options: str, **settings: str) -> Iterator[Target]:
        url = f"sqlite:///{tmp_path}/ledger.sqlite3"
        if dialect == "postgres":
            server = request.getfixturevalue("postgres_server")
            with psycopg.connect(server, autocommit=True) as connection:
                connection.execute("DROP DATABASE IF EXISTS hostile WITH (FORCE)")
                connection.execute("CREATE DATABASE hostile")
            url = make_url(server).set(database="hostile").render_as_string(hide_password=False)
        with start_target(tmp_path, url, *options, **settings) as target:
            yield target
            with capsys.disabled():
                print(f"\n{request.node.name}: {target.summary()}")  # noqa: T201 - a figure to read
            if faults := target.faults():
                raise AssertionError("\n".join(faults))

    return starting


@pytest.fixture
def target(request: pytest.FixtureRequest, start: Callable[..., AbstractContextManager[Target]]) -> Iterator[Target]:
    """A target on SQLite, or on the database that an indirect parameter names.

    Whatever the test did: the service lives, none of its processes was killed, and `/healthz` and the bystander's
    budget answered 200 in time (`watcher.MAX_SECONDS`), from the beginning to the end.
    """
    with start(getattr(request, "param", "sqlite")) as target:
        yield target
