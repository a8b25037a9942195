"""A service on each database, shared by all tests of a run."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import psycopg
import pytest
from service_world import Service, serving
from sqlalchemy import make_url


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--examples", action="store_true", help="record the answers in the OpenAPI document's examples anew"
    )


@pytest.fixture(scope="session")
def running(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Callable[[str], Service]]:
    """Starts the service on a database when it is first asked for."""
    started: dict[str, Service] = {}
    with ExitStack() as until_the_end:

        def on(dialect: str) -> Service:
            if dialect not in started:
                folder = tmp_path_factory.mktemp(f"service-{dialect}")
                url = f"sqlite:///{folder}/ledger.sqlite3"
                if dialect == "postgres":
                    server = request.getfixturevalue("postgres_server")
                    with psycopg.connect(server, autocommit=True) as connection:
                        connection.execute("CREATE DATABASE service")
                    url = make_url(server).set(database="service").render_as_string(hide_password=False)
                started[dialect] = until_the_end.enter_context(serving(folder, url))
            return started[dialect]

        yield on


@pytest.fixture(params=["sqlite", "postgres"])
def service(request: pytest.FixtureRequest, running: Callable[[str], Service]) -> Service:
    """The service, once on each database."""
    return running(request.param)


@pytest.fixture
def one_service(running: Callable[[str], Service]) -> Service:
    """The service on SQLite: for what no database has a part in."""
    return running("sqlite")
